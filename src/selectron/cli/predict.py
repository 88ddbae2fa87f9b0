"""`selectron predict`: the class of every item, its probability, and which are most in doubt."""

import json
import sys
from argparse import Namespace
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import TextIO

import numpy as np

from selectron import SelectiveClassifier, load
from selectron.arrays import Matrix
from selectron.cli.desks import columns_of, desk_of, images_beside, is_address, reading
from selectron.cli.output import check_outputs, progress, write_json
from selectron.features import Features, kind_of
from selectron.features.columns import text_of
from selectron.files import write_whole
from selectron.labelling.events import Item
from selectron.labelling.items import read_items
from selectron.streams import FileRows
from selectron.streams.opening import Tick
from selectron.streams.records import images_of, size_of

BATCH = 1000
SQLITE = b"SQLite format 3\0"
Items = list[Item]
Judged = Iterator[tuple[list[str], Matrix]]  # ids of items, and the probability of each class


def predict(options: Namespace) -> int:
    check_outputs(options)
    with progress(size_of(options.items), "items", unit="B") as bar, TemporaryFile("w+") as found:
        classes, several, judged = _judge(options, bar.update)
        sure = array("d")
        for ids, chances in judged:
            for id, each in zip(ids, chances, strict=True):
                label, probability = _best(classes, each, several)
                sure.append(probability)
                found.write(json.dumps([id, label]) + "\n")
        found.seek(0)
        lines = _lines(found, sure)
        if options.output in (None, "-"):
            sys.stdout.writelines(lines)
        else:
            write_whole(Path(options.output), "".join(lines).encode())
            print(f"{options.output}: {len(sure):,} items", file=sys.stderr)
    write_json({"items": len(sure), "classes": classes}, options.json)
    return 0


def _judge(options: Namespace, tick: Tick) -> tuple[list[str], bool, Judged]:
    """Return the classes, whether an item may have several, and what is found of the items."""
    if is_address(options.model) or _is_store(Path(options.model)):
        return _of_store(options, tick)
    model = load(options.model)
    if not hasattr(model, "predict_proba"):
        raise ValueError(f"{options.model}: its rules give no probabilities; use Python's predict")
    classes = [text_of(name) for name in model.classes_.tolist()]
    if model.recipe is not None:
        return classes, False, _of_rows(options, model, tick)
    features: list[Features] = []

    def forecast(items: Items) -> Matrix:
        if not features:  # the first items say what a row is made of
            features.append(Features(items, images_of(options.items)))
        chances: Matrix = model.predict_proba(features[0].rows(items))
        return chances

    return classes, False, _of_items(options, forecast, False, tick)


def _of_store(options: Namespace, tick: Tick) -> tuple[list[str], bool, Judged]:
    """Judge items by what the labels of a store teach."""
    with reading(options.model) as store:
        desk = desk_of(store, options.images or images_beside(options.model))
        if not desk.books.knows_two_classes:
            raise ValueError(f"{options.model} has labels of fewer than two classes")
        learner, learnt = desk.learn(), kind_of(desk.books.items[0])

    def forecast(items: Items) -> Matrix:
        found = kind_of(items[0])
        if found is not learnt:
            raise ValueError(
                f"{options.items} is read as {found.value}, and {options.model} has learnt "
                f"{learnt.value}: name the column with --text or --image"
            )
        return learner.forecast(items)

    several = bool(desk.books.settings["multilabel"])
    return desk.books.classes, several, _of_items(options, forecast, several, tick)


def _of_items(
    options: Namespace, forecast: Callable[[Items], Matrix], several: bool, tick: Tick
) -> Judged:
    entries = read_items(options.items, columns_of(options), several, tick)
    while items := [entry.item for entry in islice(entries, BATCH)]:
        yield [item["id"] for item in items], forecast(items)


def _of_rows(options: Namespace, model: SelectiveClassifier, tick: Tick) -> Judged:
    """Judge rows that are made as the learner's were; an item without an id has its number."""
    column, number = options.id or "id", 0
    for batch in FileRows(options.items, recipe=model.recipe, tick=tick):
        ids = []
        for record in batch.records:
            number += 1
            ids.append(text_of(record.values.get(column, number)))
        yield ids, model.predict_proba(batch.X)


def _is_store(path: Path) -> bool:
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file")
    with path.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE


def _best(classes: list[str], chances: Matrix, several: bool) -> tuple[str | list[str], float]:
    """Return the likeliest class; of several labels all that are likely, and the least sure one."""
    if several:
        likely = [name for name, chance in zip(classes, chances, strict=True) if chance >= 0.5]
        return likely, float(np.maximum(chances, 1 - chances).min())
    return classes[int(chances.argmax())], float(chances.max())


def _lines(found: TextIO, sure: Sequence[float]) -> Iterator[str]:
    """Write a line for each item; rank 1 of doubt is the item that one should look at first."""
    probabilities = np.asarray(sure)
    order = np.argsort(probabilities, kind="stable")
    ranks = np.empty(len(order), int)
    ranks[order] = np.arange(1, len(order) + 1)
    for line, probability, rank in zip(found, probabilities, ranks, strict=True):
        id, label = json.loads(line)
        said = {"id": id, "label": label, "probability": round(float(probability), 6)}
        yield json.dumps(said | {"doubt": int(rank)}, ensure_ascii=False) + "\n"
