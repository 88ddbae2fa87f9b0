"""One pass over a file of any length: rows come in batches, and only a batch is held."""

import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from selectron import SelectiveClassifier
from selectron.arrays import Label
from selectron.classifier.progress import watched_batch
from selectron.cli.oracle import Answering, oracle, stored_labels
from selectron.cli.output import progress
from selectron.engines.sift_and_teach import Pairs, n_wrong, pairs_of
from selectron.evaluate import Found, macro_f1
from selectron.features.columns import text_of
from selectron.streams.records import size_of
from selectron.streams.rows import FileRows, RowBatch
from selectron.streams.two_classes import Sides

LearnerOf = Callable[[FileRows, int], SelectiveClassifier]  # of rows and of the classes seen first


@dataclass
class PassResult:
    """What one pass has brought."""

    name: str
    learner: SelectiveClassifier
    rows: FileRows
    rounds: int = 0
    pairs: Pairs = field(default_factory=Counter)  # of the rows whose labels the file has

    @property
    def judged(self) -> int:
        return self.pairs.total()

    @property
    def mistakes(self) -> int:
        return n_wrong(self.pairs)

    def row(self) -> list[object]:
        error = f"{self.mistakes / self.judged:.4f}" if self.judged else None
        rate = f"{100 * self.rate:.2f} %"
        mistakes = self.mistakes if self.judged else None
        n_updates = self.learner.n_updates_
        f1 = f"{macro_f1(self.found[0]):.4f}" if self.found else None
        return [self.name, self.learner.n_asked_, rate, mistakes, error, f1, None, n_updates]

    def as_json(self) -> dict[str, object]:
        return {
            "learner": self.name,
            "rounds": self.rounds,
            "labels": [self.learner.n_asked_],
            "judged": self.judged,
            "mistakes": [self.mistakes] if self.judged else None,
            "f1": [macro_f1(classes) for classes in self.found] or None,
            "precision": [_mean(c.precision for c in classes) for classes in self.found] or None,
            "recall": [_mean(c.recall for c in classes) for classes in self.found] or None,
            "updates": [self.learner.n_updates_],
            "classes": [text_of(name) for name in self.learner.classes_.tolist()],
            "stopped_at": self.learner.stopped_at_,
        } | ({"readout": self.readout} if self.readout else {})

    def says(self) -> list[str]:
        """Say what the table has no room for."""
        return [f"{self.name}:\n{self.readout}"] if self.readout else []

    @property
    def data(self) -> str:
        return self.rows.name

    @property
    def errors(self) -> list[float]:
        """The error of the one pass, on the rows whose labels the file has."""
        return [self.mistakes / max(1, self.judged)]

    @property
    def found(self) -> list[list[Found]]:
        """What the F-measure counts, as of a run on all rows; empty if no labels are known.

        Of two classes the second counts, in the order of their names: they join in any order.
        """
        if not self.pairs:
            return []
        names = [text_of(name) for name in np.unique(self.learner.classes_).tolist()]
        classes = [
            Found(
                self.pairs[name, name],
                sum(n for (_, named), n in self.pairs.items() if named == name),
                sum(n for (there, _), n in self.pairs.items() if there == name),
            )
            for name in names
        ]
        return [classes if len(classes) > 2 else classes[1:]]

    @property
    def label_shares(self) -> list[float]:
        return [self.rate]

    @property
    def rate(self) -> float:
        return self.learner.n_asked_ / max(1, self.rounds)

    @property
    def readout(self) -> str | None:
        explores = self.learner.explore is not None or self.learner.stop_when is not None
        return self.learner.readout() if explores else None


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def one_pass(options: Namespace, name: str, learner_of: LearnerOf) -> PassResult:
    """Let a learner pass over the rows once, asking whoever the options name."""
    asks = options.oracle is not None or options.label_store is not None
    with _progress(options.data) as bar:
        rows = FileRows(
            options.data,
            options.target,
            supervised=not asks,
            pairs=options.pairs,
            tick=bar.update,
        )
        sides = Sides.of(options.positive, options.negative)
        first = next(batches := iter(rows))
        classes = {sides.side(label) for label in first.labels if label is not None}
        result = PassResult(name, learner_of(rows, len(classes)), rows)
        began = perf_counter()
        with answering(options, rows) as answer:
            for batch in _cut(_chained(first, batches), options.limit):
                _learn(result, sides.taken(batch), answer, options)
                rate = result.rounds / (perf_counter() - began)
                bar.set_postfix_str(f"{rate:,.0f} rows/s", refresh=False)
                if asks and rows.target is None and result.learner.stopped_at_ is not None:
                    break  # nothing is asked any more, and nobody judges
    check_classes(result, options)
    return result


def check_classes(result: PassResult, options: Namespace) -> None:
    """Refuse a run that has found fewer than two classes."""
    if result.rounds == 0 or len(result.learner.classes_) < 2:
        raise ValueError(_too_few(result, options))


def _learn(result: PassResult, batch: RowBatch, answer: Answering, options: Namespace) -> None:
    """Learn a batch; the labels that the file has judge the predictions."""
    if not batch.records:
        return
    X = batch.X
    if options.unit_norm:
        from sklearn.preprocessing import normalize

        X = normalize(X)

    def label_of(t: int) -> Label:
        return batch.labels[t] if answer is of_file else answer(batch.records[t])

    predicted = watched_batch(result.learner, X, label_of, named_classes(options))
    result.rounds += len(batch.records)
    result.pairs += pairs_of(predicted, batch.labels)


def named_classes(options: Namespace) -> list[Label] | None:
    """Return the classes that the options name; None if they join as they come."""
    if options.positive:
        return [False, True]
    names = [name.strip() for name in (options.classes or "").split(",") if name.strip()]
    return names or None


def answering(options: Namespace, rows: FileRows) -> AbstractContextManager[Answering]:
    """Return who answers, to be used in a `with` block: a program, a store, or `of_file`."""
    if options.oracle is not None and options.label_store is not None:
        raise ValueError("--oracle and --label-store both answer: name one of them")
    if options.oracle is not None:
        return oracle(options.oracle, options.oracle_timeout, rows.target)
    if options.label_store is not None:
        return nullcontext(stored_labels(options.label_store, options.id, rows.target))
    return nullcontext(of_file)


def of_file(record: object) -> Any:
    """The file has the labels itself."""


def _cut(batches: Iterator[RowBatch], limit: int | None) -> Iterator[RowBatch]:
    left = sys.maxsize if limit is None else limit
    for batch in batches:
        if len(batch.records) >= left:
            yield RowBatch(batch.X[:left], batch.labels[:left], batch.records[:left])
            return
        left -= len(batch.records)
        yield batch


def _chained(first: RowBatch, others: Iterator[RowBatch]) -> Iterator[RowBatch]:
    yield first
    yield from others


def _too_few(result: PassResult, options: Namespace) -> str:
    who = options.oracle or options.label_store or f"column {result.rows.target!r}"
    found = ", ".join(text_of(name) for name in np.asarray(result.learner.classes_).tolist())
    return (
        f"{options.data}: {result.learner.n_asked_:,} labels were asked in {result.rounds:,} rows, "
        f"and {who} named {len(result.learner.classes_)} classes ({found}): there is nothing to "
        "tell apart"
    )


@contextmanager
def _progress(source: str) -> Iterator[Any]:
    with progress(size_of(source), source, unit="B") as bar:
        yield bar
