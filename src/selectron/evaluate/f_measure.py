"""Precision, recall and the F-measure: how well the rows of a class are found."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike


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
