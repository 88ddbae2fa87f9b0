"""What happened in a run, round by round, and what its asked labels said of its error."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from selectron.arrays import Codes, Vector
from selectron.classifier.estimator import StreamClassifier
from selectron.estimate import Estimate, Evidence
from selectron.evaluate.certificate import Certificate, certify
from selectron.numeric.rows import Rows
from selectron.queries import Always, Uniform

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS = 100  # estimates of a run, unless the caller says otherwise
Flags = NDArray[np.bool_]


class Found(NamedTuple):
    """What a learner named as of a class, what was of the class, and what was both.

    A share of nothing is 0, as in scikit-learn.
    """

    both: int
    named: int
    there: int

    @classmethod
    def among(cls, named: ArrayLike, there: ArrayLike) -> "Found":
        """Count rows from two flags a row: named as of the class, and really of it."""
        named, there = np.asarray(named, bool), np.asarray(there, bool)
        return cls(int((named & there).sum()), int(named.sum()), int(there.sum()))

    @property
    def precision(self) -> float:
        return self.both / max(self.named, 1)

    @property
    def recall(self) -> float:
        return self.both / max(self.there, 1)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.both / max(self.named + self.there, 1)


def micro(classes: Iterable[Found]) -> Found:
    """Add up the counts of several classes, or problems: each row weighs the same."""
    return Found(*(sum(counts) for counts in zip(*classes, strict=True)))


def macro_f1(classes: Iterable[Found]) -> float:
    """Return the mean of the F-measures of several classes, or problems: each weighs the same."""
    return float(np.mean([found.f1 for found in classes]))


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
    signs: Codes = field(repr=False)  # the labels; with more than two classes, their numbers
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
        """How often each class (row) was predicted as each class (column), over all rounds."""
        return self._confusion(slice(None))

    def _confusion(self, rounds: slice) -> NDArray[np.int64]:
        classes = self.learner.classes_
        many = len(classes) > 2
        true, guessed = (
            np.asarray(codes, np.int64) if many else (np.asarray(codes) > 0).astype(np.int64)
            for codes in (self.signs[rounds], self.predicted[rounds])
        )
        counts = np.zeros((len(classes), len(classes)), np.int64)
        np.add.at(counts, (true, guessed), 1)
        return counts

    @property
    def recalls(self) -> Vector:
        """For each class, the share of its rounds whose prediction was right."""
        counts = self.confusion
        shares: Vector = np.diag(counts) / np.maximum(counts.sum(axis=1), 1)
        return shares

    def found(self, first: int = 0, end: int | None = None) -> list[Found]:
        """Count, class by class, what was named and what was there in rounds `first` to `end`."""
        counts = self._confusion(slice(first, end))
        parts = np.diag(counts), counts.sum(axis=0), counts.sum(axis=1)
        return [Found(*map(int, class_)) for class_ in zip(*parts, strict=True)]

    @property
    def precision(self) -> float:
        """Of the rounds named as of the second class, the share that was; of more: the mean."""
        return float(np.mean([found.precision for found in self.judged()]))

    @property
    def recall(self) -> float:
        """Of the rounds of the second class, the share that was named so; of more: the mean."""
        return float(np.mean([found.recall for found in self.judged()]))

    @property
    def f1(self) -> float:
        """The F-measure of the second class; of more than two classes: the mean over classes."""
        return macro_f1(self.judged())

    def f1_by_block(self, blocks: int) -> list[float]:
        """Return the F-measure of each of so many stretches of the run, as equal as can be."""
        ends = [round(len(self) * k / blocks) for k in range(blocks + 1)]
        return [macro_f1(self.judged(*ends[k : k + 2])) for k in range(blocks)]

    def judged(self, first: int = 0, end: int | None = None) -> list[Found]:
        """Return the classes that count: of two the second, of more all of them."""
        found = self.found(first, end)
        return found if len(found) > 2 else found[1:]

    @property
    def test_labels(self) -> NDArray[np.int64]:
        """Labels asked for up to each entry of `test_errors`."""
        return np.cumsum(self.asked, dtype=np.int64)[self.test_rounds - 1]

    def labels_to_error(self, eps: float) -> int | None:
        """Return the labels asked when the test error first was at most eps, None if never."""
        reached = np.flatnonzero(self._tested() <= eps)
        return int(self.test_labels[reached[0]]) if len(reached) else None

    def labels_to_hold(self, eps: float, labels: int) -> int | None:
        """Return the labels asked when the error began to stay at most eps for `labels` more."""
        errors, spent = self._tested(), self.test_labels
        above = errors > eps
        for k in np.flatnonzero(~above):
            later = (spent > spent[k]) & (spent <= spent[k] + labels)
            if not above[later].any() and (self.n_asked >= spent[k] + labels):
                return int(spent[k])
        return None

    def certificate(self, comparator: ArrayLike | None = None) -> Certificate:
        """Evaluate the theorem that covers this run, beside what happened."""
        return certify(self, comparator)

    def estimates(
        self, level: float = 0.95, *, every: int | None = None, explore: float | None = None
    ) -> list[Estimate]:
        """Return the estimates that the asked labels gave, every `every` rounds and at the end.

        Parameters
        ----------
        level : float
            As in `selectron.estimate.Evidence.estimate`.
        every : int, optional
            In rounds; a hundredth of the run if left out.
        explore : float, optional
            The floor on the odds, known before the run; that of the query rule if left out. A
            floor taken from the run itself would void the claim.
        """
        floor = self.floor(explore)
        step = max(len(self) // POINTS, 1) if every is None else every
        if step < 1:
            raise ValueError(f"every must be at least 1 round, got {every}")
        evidence = Evidence(floor)
        outside = np.cumsum(self.probabilities < floor)
        predicted = np.where(self.margins > 0.0, 1, -1)
        if len(self.learner.classes_) > 2:  # then a prediction counts as +1, a mistake as -1
            predicted = np.ones(len(self), int)
        labels = np.where(self.mistakes, -predicted, predicted)
        shown, done = [], 0
        for reached in [*range(step, len(self), step), len(self)]:
            told = done + np.flatnonzero(self.asked[done:reached])
            evidence.reach(reached, outside=int(outside[reached - 1]))
            evidence.add(told, self.probabilities[told], predicted[told], labels[told])
            shown.append(evidence.estimate(level))
            done = reached
        return shown

    def floor(self, explore: float | None = None) -> float:
        """Return `explore` if given, else the least odds of the query rule; 0 if it has none."""
        query = self.learner.rules_.query
        if explore is not None:
            return explore
        if isinstance(query, Always):
            return 1.0
        if isinstance(query, Uniform):
            return query.rate
        return float(getattr(query, "explore", 0.0))

    def plot(self, path: str | Path | None = None, *, title: str = "") -> "Figure":
        """Draw the run: `selectron.evaluate.plot_curves` of this trace alone."""
        from selectron.evaluate.plots import plot_curves  # noqa: PLC0415 - matplotlib is optional

        return plot_curves({self.learner_name: self}, path, title=title)

    @property
    def learner_name(self) -> str:
        rules = self.learner.rules_
        return f"{rules.update.label} + {rules.query.label}"

    def _tested(self) -> Vector:
        if not len(self.test_rounds):
            raise ValueError("this trace has no test errors: pass test=(X, y) to progressive")
        return self.test_errors
