"""Whether two learners really differ: paired runs, Wilcoxon's signed-rank test, Holm's correction.

Two runs are a pair if they share the data set and the seed, and so the order of the rows.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from selectron.arrays import Vector

SURE = 0.05  # a p-value below it is called sure
FEWEST = 6  # pairs: with fewer, no p-value can lie below 0.05
DIGITS = 12  # of a difference: 0.3 - 0.2 and 0.4 - 0.3 are the same, and rank the same


class Difference(NamedTuple):
    """How a number differs between two learners, over their pairs of runs."""

    first: str
    second: str
    pairs: int
    mean: float  # of the first less the second
    lower: int  # pairs in which the first has the lower number
    higher: int
    rank_sum: float  # of the signed ranks: below 0, the first tends to be lower
    p: float  # of the signed-rank test, two-sided
    p_holm: float  # with Holm's correction over all differences that were tested together

    @property
    def sure(self) -> bool:
        return self.p_holm < SURE


def paired_differences(
    runs: Mapping[str, Sequence[Sequence[float]]],
    pairs: Sequence[tuple[str, str]] | None = None,
) -> list[Difference]:
    """Test pairs of learners, with Holm's correction over all of these tests.

    Parameters
    ----------
    runs : mapping
        For each learner and each data set the number of every seed: an error, a share of labels.
    pairs : sequence of pairs of names, optional
        The learners to test against each other; by default each against each.

    Examples
    --------
    >>> errors = {"a": [[0.11, 0.12, 0.13, 0.14, 0.15, 0.16]], "b": [[0.2] * 6]}
    >>> [found] = paired_differences(errors)
    >>> found.lower, found.p, found.sure
    (6, 0.03125, True)
    """
    pairs = list(combinations(runs, 2)) if pairs is None else pairs
    found = [_pair_values(runs[first], runs[second]) for first, second in pairs]
    p_values = [signed_rank(values) for values in found]
    return [
        Difference(
            *names,
            len(values),
            float(values.mean()),
            int((values < 0).sum()),
            int((values > 0).sum()),
            rank_sum(values),
            p,
            corrected,
        )
        for names, values, p, corrected in zip(pairs, found, p_values, holm(p_values), strict=True)
    ]


def _pair_values(first: Sequence[Sequence[float]], second: Sequence[Sequence[float]]) -> Vector:
    """Return the differences over all data sets and seeds.

    Runs that no seed changes are one run: repeating it would make any difference look sure.
    """
    values = []
    for own, other in zip(first, second, strict=True):
        runs = list(zip(own, other, strict=True))
        values += runs[:1] if len(set(runs)) == 1 else runs
    return np.round([a - b for a, b in values], DIGITS)


def signed_rank(differences: Sequence[float] | Vector) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test; pairs without one are left out.

    Examples
    --------
    >>> signed_rank([1, 2, 3, 4, 5, -6])  # 28 of the 64 choices of signs are as extreme
    0.4375
    """
    from scipy.stats import wilcoxon  # noqa: PLC0415 - costs half a second

    values = np.asarray(differences, float)
    values = values[values != 0.0]
    return float(wilcoxon(values).pvalue) if len(values) else 1.0


def rank_sum(differences: Sequence[float] | Vector) -> float:
    """Return the sum of the signed ranks: a rank by size, with the sign of the difference.

    Examples
    --------
    >>> rank_sum([0.1, 0.2, -0.3])
    0.0
    """
    from scipy.stats import rankdata  # noqa: PLC0415 - costs half a second

    values = np.asarray(differences, float)
    values = values[values != 0.0]
    return float(np.sign(values) @ rankdata(np.abs(values)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values of several tests: one below α then means at most α of any false alarm.

    The smallest of m is multiplied by m, the next one by m - 1, and so on. None gets smaller than
    one before it, nor larger than 1.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    scaled = np.asarray(p_values, float)[order] * np.arange(len(order), 0, -1)
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return [float(p) for p in corrected]
