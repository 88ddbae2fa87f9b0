"""What happened in a run, round by round."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Codes, Vector
from selectron.classifier.interface import StreamClassifier
from selectron.estimate import Estimate
from selectron.evaluate.certificate import Certificate
from selectron.evaluate.certify import certify
from selectron.evaluate.estimates import estimates_over_time
from selectron.numeric.rows import Rows

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Trace:
    """A run over a stream whose labels are all known to the judge.

    Attributes
    ----------
    margins, probabilities : ndarray
        The margin of every round before its label, and the odds of asking for it.
    asked, updated, mistakes : ndarray of bool
        Whether the label was asked, whether it changed the hypothesis, and whether the prediction
        was wrong: on every round, asked or not.
    test_rounds, test_errors : ndarray
        After each update: the number of rounds so far, and the error on the test rows.
    learner : SelectiveClassifier
        The learner at the end of the stream.
    """

    margins: Vector
    probabilities: Vector
    asked: Flags
    updated: Flags
    mistakes: Flags
    learner: StreamClassifier = field(repr=False)
    rows: Rows = field(repr=False)
    signs: Codes = field(repr=False)  # of more than two classes, their numbers
    test_rounds: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    test_errors: Vector = field(default_factory=lambda: np.zeros(0))
    predicted: Codes = field(default_factory=lambda: np.zeros(0, np.int32), repr=False)

    def __len__(self) -> int:
        return len(self.margins)

    @property
    def n_asked(self) -> int:
        return int(self.asked.sum())

    @property
    def n_updates(self) -> int:
        return int(self.updated.sum())

    @property
    def n_mistakes(self) -> int:
        return int(self.mistakes.sum())

    @property
    def error(self) -> float:
        """The share of rounds on which the prediction was wrong."""
        return self.n_mistakes / len(self)

    @property
    def confusion(self) -> NDArray[np.int64]:
        """How often each class (row) was taken for each (column), over all rounds."""
        classes = self.learner.classes_
        many = len(classes) > 2
        true, guessed = (
            np.asarray(codes, np.int64) if many else (np.asarray(codes) > 0).astype(np.int64)
            for codes in (self.signs, self.predicted)
        )
        counts = np.zeros((len(classes), len(classes)), np.int64)
        np.add.at(counts, (true, guessed), 1)
        return counts

    @property
    def recalls(self) -> Vector:
        """The share of the rounds of each class whose prediction was right."""
        counts = self.confusion
        shares: Vector = np.diag(counts) / np.maximum(counts.sum(axis=1), 1)
        return shares

    @property
    def test_labels(self) -> NDArray[np.int64]:
        """Labels asked for up to each entry of `test_errors`."""
        return np.cumsum(self.asked, dtype=np.int64)[self.test_rounds - 1]

    def labels_to_error(self, eps: float) -> int | None:
        """Return the labels asked when the test error first was at most eps, None if never."""
        reached = np.flatnonzero(self._tested() <= eps)
        return int(self.test_labels[reached[0]]) if len(reached) else None

    def labels_to_hold(self, eps: float, labels: int) -> int | None:
        """Return the labels asked when the test error was at most eps for `labels` labels more."""
        errors, spent = self._tested(), self.test_labels
        above = errors > eps
        for k in np.flatnonzero(~above):
            later = (spent > spent[k]) & (spent <= spent[k] + labels)
            if not above[later].any() and (self.n_asked >= spent[k] + labels):
                return int(spent[k])
        return None

    def certificate(self, comparator: Any = None) -> Certificate:
        """Evaluate the theorem that covers this run, beside what happened."""
        return certify(self, comparator)

    def estimates(
        self, level: float = 0.95, *, every: int | None = None, explore: float | None = None
    ) -> list[Estimate]:
        """Return what the asked labels said of the error over time: see `estimates_over_time`."""
        return estimates_over_time(self, level, every=every, explore=explore)

    def plot(self, path: str | Path | None = None, **options: Any) -> Any:
        """Draw the run: `selectron.evaluate.plot_curves` of this trace alone."""
        from selectron.evaluate.plots import plot_curves  # noqa: PLC0415 - matplotlib is optional

        return plot_curves({self.learner_name: self}, path, **options)

    @property
    def learner_name(self) -> str:
        rules = self.learner.rules_
        return f"{rules.update.label} + {rules.query.label}"

    def _tested(self) -> Vector:
        if not len(self.test_rounds):
            raise ValueError("this trace has no test errors: pass test=(X, y) to progressive")
        return self.test_errors
