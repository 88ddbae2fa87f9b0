"""Precision, recall and F1: quotients of two totals, and the ends they cannot leave.

Two events never fall into one round, so the product of a bet on one and a bet on the other is a bet
too, and the pairs of totals at which it has not reached 2/α hold the true pair at all times. The
pairs form a convex set; its extreme quotient is the end. That is narrower than two intervals, each
at half the level. The values, quotients of unbiased totals, are not quite unbiased themselves.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from selectron.estimate.mixture import Mixture
from selectron.estimate.percent import percent
from selectron.estimate.sums import FALSE_NEGATIVE, FALSE_POSITIVE, MISTAKES, TRUE_POSITIVE
from selectron.estimate.tally import Judge

POINTS, ZOOMS = 65, 5
SMALLEST = 1e-6  # of the rounds: where the search for the extreme quotient begins


class Share(NamedTuple):
    """A share with its ends; None where the odds of asking have no floor, or nothing is known."""

    value: float | None
    low: float | None
    high: float | None

    def __str__(self) -> str:
        if self.value is None or self.low is None or self.high is None:
            return "unknown"
        return f"{percent(self.value)} ({percent(self.low, unit='')} to {percent(self.high)})"


UNKNOWN = Share(None, None, None)
Ratio = Callable[[Judge], Share]


def precision(judge: Judge) -> Share:
    """Return the share of true positives among the positive predictions: TP / (TP + FP)."""
    return _share_of_hits(judge, 1.0, FALSE_POSITIVE)


def recall(judge: Judge) -> Share:
    """Return the share of the positives that was found: TP / (TP + FN)."""
    return _share_of_hits(judge, 1.0, FALSE_NEGATIVE)


def f1(judge: Judge) -> Share:
    """Return 2 TP / (2 TP + FP + FN), the harmonic mean of precision and recall."""
    return _share_of_hits(judge, 2.0, *MISTAKES)


def _share_of_hits(judge: Judge, worth: float, *misses: int) -> Share:
    """Return worth · TP / (worth · TP + misses)."""
    weights = judge.tally.sums.weights
    hits, missed = worth * float(weights[TRUE_POSITIVE]), float(weights[list(misses)].sum())
    value = hits / (hits + missed) if hits + missed > 0.0 else None
    most = greatest_quotient(judge, judge.too_few(TRUE_POSITIVE), judge.too_many(*misses))
    least = greatest_quotient(judge, judge.too_few(*misses), judge.too_many(TRUE_POSITIVE))
    return Share(value, worth / (worth + most), 1.0 - 1.0 / (1.0 + worth * least))


def greatest_quotient(judge: Judge, few: Mixture, many: Mixture) -> float:
    """Return the greatest y/x of the pairs at which the product of both bets is not too large.

    `few` is large where x is too small, `many` where y is too large. The largest y is a concave
    function of x, so y/x has one maximum: look at a grid, and again between its neighbours.
    """
    if float(many.crossing(judge.bound - few.at(0.0))) > 0.0:
        return np.inf
    low, high = np.log(SMALLEST * judge.tally.rounds), np.log(float(judge.tally.rounds))
    best = 0.0
    for _ in range(ZOOMS):
        places = np.linspace(low, high, POINTS)
        x = np.exp(places)
        quotients = many.crossing(judge.bound - few.at(x)) / x
        k = int(quotients.argmax())
        best = max(best, float(quotients[k]))
        low, high = places[max(k - 1, 0)], places[min(k + 1, POINTS - 1)]
    return best
