"""`selectron run --engine`: one file in shards, sifted by workers, taught by this process."""

import json
import os
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from selectron import SelectiveClassifier
from selectron.arrays import Label
from selectron.cli.named import others_aside
from selectron.cli.one_pass import PassResult, answering, check_classes, named_classes, of_file
from selectron.cli.oracle import Answering
from selectron.cli.output import progress
from selectron.engines import Engine
from selectron.engines.sift_and_teach import Making, Teaching
from selectron.streams import Record
from selectron.streams.rows import FileRows
from selectron.streams.shards import Shards
from selectron.streams.two_classes import Sides

NOT_IN_SHARDS = {
    "--negative": "negative",
    "--explore": "explore",
    "--window": "window",
    "--goal": "stop_when",
    "--one-pass": "one_pass",
    "--pool": "pool",
}


@dataclass
class ShardedResult(PassResult):
    """What a run in shards has brought."""

    digest: str = ""  # SHA-256 of the learner's file
    shards: int = 0

    def as_json(self) -> dict[str, object]:
        return super().as_json() | {"digest": self.digest, "shards": self.shards}

    def says(self) -> list[str]:
        return [f"digest: {self.digest}"]


def check_shards(options: Namespace, needs_all: str) -> None:
    """Refuse options that a run in shards does not have."""
    if options.data == "-":
        raise ValueError("standard input passes by once: shards are of a file")
    given = [name for name, option in NOT_IN_SHARDS.items() if getattr(options, option)]
    if wrong := needs_all or next(iter(given), ""):
        raise ValueError(f"{wrong} and --engine do not go together: leave one of them out")


def in_shards(
    options: Namespace,
    name: str,
    learner_of: Callable[[FileRows, int, int], SelectiveClassifier],
    engine: Engine,
) -> ShardedResult:
    """Let workers sift the rows, and teach a learner here."""
    asks = options.oracle is not None or options.label_store is not None
    rows = FileRows(options.data, options.target, supervised=not asks, pairs=options.pairs)
    shards = Shards(options.data, options.shards, options.limit)
    making = Making(rows.maker, Sides.of(options.positive, None), options.unit_norm)
    first = next(iter(rows))
    classes = {making.sides.side(label) for label in first.labels if label is not None}
    learner = learner_of(rows, len(classes), shards.n_rows)
    checkpoint = Path(options.checkpoint) if options.checkpoint else None
    with answering(options, rows) as answer, progress(shards.n_rows, options.data) as bar:
        teaching = Teaching(
            shards,
            making,
            from_file if answer is of_file else Kept(answer, checkpoint),
            named_classes(options),
            checkpoint=checkpoint,
        )
        with others_aside(), engine:
            done = teaching.run(learner, engine, bar.update)
    result = ShardedResult(
        name, done.learner, rows, shards.n_rows, done.pairs, done.digest(), len(shards.bounds)
    )
    check_classes(result, options)
    return result


def from_file(row: int, record: Record, label: Label) -> Label:
    """Return the label that the file has."""
    return label


class Kept:
    """Answers that are kept beside the checkpoint, so that nobody is asked twice.

    A driver that is killed goes on from the checkpoint and comes to the same questions again.
    """

    def __init__(self, answer: Answering, checkpoint: Path | None) -> None:
        self._answer = answer
        self._path = checkpoint and checkpoint.with_name(f"{checkpoint.name}.answers")
        self._known: dict[int, Label] = {}
        if self._path is not None and self._path.exists():
            whole = self._path.read_bytes()
            whole = whole[: whole.rfind(b"\n") + 1]  # the last line may have been cut
            self._path.write_bytes(whole)
            self._known = dict(map(json.loads, whole.splitlines()))

    def __call__(self, row: int, record: Record, label: Label) -> Label:
        if row not in self._known:
            self._known[row] = self._answer(record)
            if self._path is not None:
                with self._path.open("ab") as file:
                    file.write(json.dumps([row, self._known[row]]).encode() + b"\n")
                    file.flush()
                    os.fsync(file.fileno())
        return self._known[row]
