"""One huge stream on many workers: they sift the rows, one driver teaches those worth a label.

Almost all work is reading rows, making features and predicting; labels are few. So a round takes
the next block of each shard. Workers have the same copy of the learner, sift their blocks, and
return the few rows that may be worth a label. The driver teaches them in the order of the rows.

The result is a function of the data, the seed, the shards and the schedule. It does not depend on
the engine, the number of workers, or who died on the way: a block is sifted by a pure function, and
between rounds the driver writes checkpoints, from which it goes on.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np

from selectron.arrays import Array, Label, Table
from selectron.classifier.estimator import SelectiveClassifier
from selectron.classifier.progress import watched_batch
from selectron.classifier.sifting import (
    Refused,
    Sifted,
    from_bytes,
    go_on_from,
    made_of,
    sift,
    states_of,
    teach,
    to_bytes,
)
from selectron.compiler.states import Snapshot
from selectron.engines.local import Engine, Shared
from selectron.features.columns import text_of
from selectron.files import (
    DamagedFile,
    Format,
    Reader,
    Tensors,
    fields,
    read_file,
    refusing,
    write_file,
)
from selectron.streams.records import Record
from selectron.streams.rows import RowBatch, RowMaker
from selectron.streams.shards import Shards, Stretch
from selectron.streams.two_classes import Sides

FORMAT = Format("selectron checkpoint", 2, "run", file="a checkpoint", owner="a run in shards")
BETWEEN = 20  # times as long as it took to write a checkpoint, nothing is written
Pairs = Counter[tuple[str, str | None]]  # what a row was, what it was predicted as, as texts
Answer = Callable[[int, Record, Label], Label]  # of a row's number, its record and label: the label


class Schedule(NamedTuple):
    """How many rows a round takes, from all shards together."""

    opening: int = 1000  # rows that the driver plays itself, one by one
    growth: float = 0.05  # then a share of the rows seen,
    least: int = 64  # at least so many rows
    most: int = 1 << 13  # and at most so many of a shard

    def blocks(self, bounds: list[tuple[int, int]], done: list[int]) -> list[tuple[int, int, int]]:
        """Return the blocks of the next round: shard, first row, and the row after the last."""
        seen = sum(done)
        most = self.most * len(bounds)
        size = min(max(int(self.growth * seen), self.least), most) if seen else self.opening
        share, more = divmod(size, len(bounds))
        ends = (
            (k, start + done[k], min(stop, start + done[k] + share + (k < more)))
            for k, (start, stop) in enumerate(bounds)
        )
        return [(k, start, stop) for k, start, stop in ends if start < stop]


class Making(NamedTuple):
    """How rows and labels are made of records."""

    maker: RowMaker
    sides: Sides
    unit_norm: bool = False

    def batch(self, records: list[Record]) -> RowBatch:
        """Return the rows of some records, with their labels."""
        batch = self.sides.taken(self.maker.batch(records))
        return batch._replace(X=_of_unit_norm(batch.X)) if self.unit_norm else batch


class Copy(NamedTuple):
    """The learner of a round, as workers get it."""

    digest: str  # of the file
    file: Shared[bytes]  # written when its machine was made
    states: Shared[Snapshot]  # as they are at the beginning of the round


class Copies:
    """Hands the learner to the workers: its file once, and its states in every round."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._made: tuple[object, ...] = ()

    def of(self, learner: SelectiveClassifier) -> Copy:
        """Return the copy of a round."""
        made = made_of(learner)
        if [*map(id, made)] != [*map(id, self._made)]:  # at first, and when a class has joined
            file = to_bytes(learner)
            self._made, self._digest = made, hashlib.sha256(file).hexdigest()
            self._file = self._engine.share("learner", file)
        return Copy(self._digest, self._file, self._engine.share("states", states_of(learner)))


class Block(NamedTuple):
    """What a worker has to sift."""

    learner: Copy
    making: Making
    stretches: tuple[Stretch, ...]
    first_coin: int


class Found(NamedTuple):
    """What a worker has found: the rows that it hands on, and how its predictions turned out."""

    sifted: Sifted
    labels: list[Label]  # of the rows that are asked about; None of the others
    records: list[Record | None]
    pairs: Pairs


LEARNERS: dict[str, SelectiveClassifier] = {}  # of this worker, by the digest: the latest one


def learner_of(copy: Copy) -> SelectiveClassifier:
    """Return the learner of a round; the worker keeps it for the next one."""
    if copy.digest not in LEARNERS:
        LEARNERS.clear()
        LEARNERS[copy.digest] = from_bytes(copy.file.get())
    learner = LEARNERS[copy.digest]
    go_on_from(learner, copy.states.get())
    return learner


def sift_block(block: Block) -> Found:
    """Sift a block: what a worker does."""
    records = [record for stretch in block.stretches for record in stretch.read()]
    X, labels, _ = block.making.batch(records)
    try:
        sifted, predicted = sift(learner_of(block.learner), X, block.first_coin)
    except Refused as refused:
        raise ValueError(f"{records[refused.position].place}: {refused.why}") from None
    kept = list(zip(sifted.positions.tolist(), sifted.asked.tolist(), strict=True))
    return Found(
        sifted,
        [labels[t] if asked else None for t, asked in kept],
        [records[t] if asked else None for t, asked in kept],
        pairs_of(predicted, labels),
    )


@dataclass
class Progress:
    """How far a run has come."""

    learner: SelectiveClassifier
    done: list[int]  # rows of each shard
    rounds: int = 0
    pairs: Pairs = field(default_factory=Counter)  # of the rows whose labels the file has

    @property
    def judged(self) -> int:
        """How many rows have a label in the file."""
        return self.pairs.total()

    @property
    def mistakes(self) -> int:
        """How many of those rows were predicted wrong."""
        return n_wrong(self.pairs)

    def digest(self) -> str:
        """Return the SHA-256 of the learner's file."""
        return hashlib.sha256(to_bytes(self.learner)).hexdigest()


@dataclass
class Teaching:
    """A run over a stream in shards.

    Parameters
    ----------
    shards : Shards
        The rows.
    making : Making
        How rows are made of records.
    answer : callable
        Gets the number of a row, its record and the label that the file has, and returns the label;
        None if nobody knows.
    classes : list, optional
        The names of the classes; else they join as they come.
    schedule : Schedule
        How many rows a round takes.
    checkpoint : path, optional
        Written at the end of a round, but in no more than a twentieth of the time; read if it is
        there: then the run goes on.
    """

    shards: Shards
    making: Making
    answer: Answer
    classes: list[Label] | None = None
    schedule: Schedule = field(default_factory=Schedule)
    checkpoint: Path | None = None

    def run(
        self,
        learner: SelectiveClassifier,
        engine: Engine,
        tick: Callable[[int], object] = int,
    ) -> Progress:
        """Go over all rows; `tick` is told how many were done since it was told last."""
        print_of_run = self.fingerprint(learner)
        progress = Progress(learner, [0] * len(self.shards.bounds))
        if self.checkpoint is not None and self.checkpoint.exists():
            progress = self._resumed(print_of_run)
        tick(sum(progress.done))
        copies, due = Copies(engine), 0.0
        while sum(progress.done) < self.shards.n_rows:
            blocks = self.schedule.blocks(self.shards.bounds, progress.done)
            if progress.rounds:
                self._round(progress, engine, copies, blocks)
            else:
                self._open(progress, blocks)
            for k, start, stop in blocks:
                progress.done[k] += stop - start
            progress.rounds += 1
            if self.checkpoint is not None:
                due = self._write(progress, print_of_run, due)
            tick(sum(stop - start for _, start, stop in blocks))
        return progress

    def _open(self, progress: Progress, blocks: list[tuple[int, int, int]]) -> None:
        """Play the first rows one by one: they teach the scaling, and take the most labels."""
        numbers = [row for _, start, stop in blocks for row in range(start, stop)]
        records = [r for _, start, stop in blocks for r in self.shards.read(start, stop)]
        X, labels, _ = self.making.batch(records)

        def label_of(t: int) -> Label:
            return self.answer(numbers[t], records[t], labels[t])

        predicted = watched_batch(progress.learner, X, label_of, self.classes)
        progress.pairs += pairs_of(predicted, labels)

    def _round(
        self,
        progress: Progress,
        engine: Engine,
        copies: Copies,
        blocks: list[tuple[int, int, int]],
    ) -> None:
        copy, opening = copies.of(progress.learner), self.schedule.opening
        jobs = [
            # The coins of the opening are numbered by its rounds, all others by their rows.
            Block(copy, self.making, self.shards.stretches(start, stop), opening + start)
            for _, start, stop in blocks
        ]
        for found, (_, start, _) in zip(engine.map(sift_block, jobs), blocks, strict=True):
            self._teach(progress.learner, found, start)
            progress.pairs += found.pairs

    def _teach(self, learner: SelectiveClassifier, found: Found, start: int) -> None:
        places = {t: k for k, t in enumerate(found.sifted.positions.tolist())}

        def label_of(t: int) -> Label:
            record = found.records[places[t]]
            assert record is not None
            return self.answer(start + t, record, found.labels[places[t]])

        teach(learner, found.sifted, label_of)

    def fingerprint(self, learner: SelectiveClassifier) -> str:
        """Tell this run from others: all that its result depends on."""
        maker, sides, unit_norm = self.making
        about = [
            self.shards.fingerprint,
            repr(learner),
            maker.recipe.describe(),
            [maker.target, maker.whole, sorted(sides.positive), unit_norm],
            self.classes,
            self.schedule,
        ]
        return hashlib.sha256(json.dumps(about, default=str).encode()).hexdigest()

    def _write(self, progress: Progress, print_of_run: str, due: float) -> float:
        """Write a checkpoint if it is due, or the last one; return when the next one is due."""
        assert self.checkpoint is not None
        began = perf_counter()
        if began < due and sum(progress.done) < self.shards.n_rows:
            return due
        tensors: Tensors = {
            "learner": np.frombuffer(to_bytes(progress.learner), np.uint8),
            "done": np.array(progress.done, np.int64),
        }
        pairs = [[*pair, n] for pair, n in progress.pairs.items()]
        about = {"rounds": progress.rounds, "pairs": pairs, "of": print_of_run}
        write_file(self.checkpoint, FORMAT, tensors, json.dumps(about, sort_keys=True))
        ended = perf_counter()
        return ended + BETWEEN * (ended - began)

    def _resumed(self, print_of_run: str) -> Progress:
        assert self.checkpoint is not None
        tensors, text = read_file(self.checkpoint, FORMAT)
        with refusing(self.checkpoint):
            about = fields(json.loads(text), "the run", ("rounds", "pairs", "of"))
            reader = Reader(tensors)
            sizes = np.array([stop - start for start, stop in self.shards.bounds])
            file = reader.take("learner", np.uint8, (None,)).tobytes()
            done = reader.take("done", np.int64, (None,), low=0)
            pairs = Counter({(there, named): n for there, named, n in about["pairs"]})
            same = about["of"] == print_of_run
            if same and not (len(done) == len(sizes) and (done <= sizes).all()):
                raise DamagedFile(f"so many rows are done: {done.tolist()!r:.60}")
        if not same:
            raise ValueError(
                f"{self.checkpoint} is the checkpoint of another run: of other data, shards, "
                "options or another seed; remove it, or name another file"
            )
        return Progress(from_bytes(file), done.tolist(), about["rounds"], pairs)


def pairs_of(predicted: Array, labels: list[Label]) -> Pairs:
    """Count what the rows with a label were, and what they were predicted as: None is no class."""
    return Counter(
        (str(text_of(label)), None if named is None else str(text_of(named)))
        for named, label in zip(predicted, labels, strict=True)
        if label is not None
    )


def n_wrong(pairs: Pairs) -> int:
    """Return how many rows were predicted as what they were not."""
    return sum(n for (there, named), n in pairs.items() if there != named)


def _of_unit_norm(X: Table) -> Table:
    from sklearn.preprocessing import normalize  # noqa: PLC0415 - costs seconds

    return normalize(X)
