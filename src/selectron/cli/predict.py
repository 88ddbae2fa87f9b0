"""`selectron predict`: the class of every item, its probability, and which are most in doubt."""

import json
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from selectron import load
from selectron.arrays import Matrix
from selectron.cli.desks import columns_of, desk_of, images_beside, is_address, reading
from selectron.cli.output import check_outputs, progress, write_json
from selectron.features import Features
from selectron.files import write_whole
from selectron.labelling.items import images_of, read_items

BATCH = 1000
SQLITE = b"SQLite format 3\0"
Items = list[dict[str, Any]]
Judge = Callable[[Items], Matrix]  # from items to the probability of each class


def predict(options: Namespace) -> int:
    check_outputs(options)
    classes, several, judge = _judge(options)
    entries = read_items(options.items, columns_of(options), several)
    found: list[tuple[str, Any, float]] = []
    with progress(None, "items") as bar:
        while items := [entry.item for entry in islice(entries, BATCH)]:
            for item, chances in zip(items, judge(items), strict=True):
                found.append((item["id"], *_best(classes, chances, several)))
            bar.update(len(items))
    content = "".join(_lines(found))
    if options.output in (None, "-"):
        sys.stdout.write(content)
    else:
        write_whole(Path(options.output), content.encode())
        print(f"{options.output}: {len(found):,} items", file=sys.stderr)
    counts = {"items": len(found), "classes": classes}
    write_json(counts, options.json)
    return 0


def _judge(options: Namespace) -> tuple[list[str], bool, Judge]:
    """Return the classes, whether an item may have several, and what judges items."""
    if is_address(options.model) or _is_store(Path(options.model)):
        with reading(options.model) as store:
            desk = desk_of(store, options.images or images_beside(options.model))
            if not desk.books.knows_two_classes:
                raise ValueError(f"{options.model} has labels of fewer than two classes")
            learner = desk.learn()
        return desk.books.classes, bool(desk.books.settings["multilabel"]), learner.forecast
    model = load(options.model)
    features: list[Features] = []

    def judge(items: Items) -> Matrix:
        if not features:  # the first items say what a row is made of
            features.append(Features(items, images_of(options.items)))
        chances: Matrix = model.predict_proba(features[0].rows(items))
        return chances

    return [str(name) for name in model.classes_.tolist()], False, judge


def _is_store(path: Path) -> bool:
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file")
    with path.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE


def _best(classes: list[str], chances: Matrix, several: bool) -> tuple[Any, float]:
    """Return the likeliest class; of several labels all that are likely, and the least sure one."""
    if several:
        likely = [name for name, chance in zip(classes, chances, strict=True) if chance >= 0.5]
        return likely, float(np.maximum(chances, 1 - chances).min())
    return classes[int(chances.argmax())], float(chances.max())


def _lines(found: list[tuple[str, Any, float]]) -> Iterator[str]:
    """Write a line for each item; rank 1 of doubt is the item that one should look at first."""
    order = np.argsort([probability for *_, probability in found], kind="stable")
    ranks = np.empty(len(found), int)
    ranks[order] = np.arange(1, len(found) + 1)
    for (id, label, probability), rank in zip(found, ranks.tolist(), strict=True):
        line = {"id": id, "label": label, "probability": round(probability, 6), "doubt": rank}
        yield json.dumps(line, ensure_ascii=False) + "\n"
