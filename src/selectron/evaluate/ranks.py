"""Several learners over several data sets: average ranks, Friedman's test, Nemenyi's difference.

J. Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

LEVEL = 0.05
DIGITS = 12  # of a number: means of the same runs in another order share a rank
FEWEST = 3  # learners, and data sets: Friedman's test needs as many


class Ranks(NamedTuple):
    """Average ranks of learners, best first: 1 is the lowest number on every data set."""

    names: list[str]
    average: list[float]
    data_sets: int
    chi_square: float  # of Friedman's test, corrected for ties
    p: float  # of Friedman's test: that all learners are alike
    critical: float  # Nemenyi's critical difference: averages further apart surely differ

    def groups(self) -> list[list[str]]:
        """Return the largest groups of learners within a critical difference of each other."""
        spans: list[tuple[int, int]] = []
        for start, lowest in enumerate(self.average):
            end = sum(rank - lowest <= self.critical for rank in self.average)
            if end - start > 1 and (not spans or end > spans[-1][1]):
                spans.append((start, end))
        return [self.names[start:end] for start, end in spans]


def average_ranks(numbers: Mapping[str, Sequence[float]]) -> Ranks:
    """Rank learners on each data set by a number that shall be low, and test the average ranks.

    Parameters
    ----------
    numbers : mapping
        For each of three or more learners its number on each of three or more data sets.

    Examples
    --------
    >>> errors = {"a": [0.1, 0.2, 0.3], "b": [0.2, 0.3, 0.4], "c": [0.3, 0.4, 0.5]}
    >>> ranks = average_ranks(errors)
    >>> ranks.average, round(ranks.critical, 2), ranks.groups()
    ([1.0, 2.0, 3.0], 1.91, [['a', 'b'], ['b', 'c']])
    """
    from scipy.stats import friedmanchisquare, rankdata  # noqa: PLC0415 - costs half a second

    table = np.round(np.array(list(numbers.values()), float), DIGITS)
    if table.ndim != 2 or min(table.shape) < FEWEST:
        raise ValueError(f"ranks need {FEWEST} learners and {FEWEST} data sets or more")
    ranks = rankdata(table, axis=0)
    chi_square, p = 0.0, 1.0  # where all are alike on every data set
    if (ranks != ranks[0]).any():
        chi_square, p = map(float, friedmanchisquare(*table))
    average = ranks.mean(axis=1)
    order = np.argsort(average, kind="stable")
    names = list(numbers)
    return Ranks(
        [names[k] for k in order],
        [float(average[k]) for k in order],
        table.shape[1],
        chi_square,
        p,
        critical_difference(*table.shape),
    )


def critical_difference(learners: int, data_sets: int, level: float = LEVEL) -> float:
    """Return how far apart average ranks must be, so that two learners surely differ (Nemenyi).

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)  # the example of the paper
    1.25
    """
    from scipy.stats import studentized_range  # noqa: PLC0415 - costs half a second

    quantile = float(studentized_range.ppf(1.0 - level, learners, np.inf)) / np.sqrt(2.0)
    return float(quantile * np.sqrt(learners * (learners + 1) / (6.0 * data_sets)))
