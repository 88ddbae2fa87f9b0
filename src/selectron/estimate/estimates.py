"""An estimate of the error of a stream with its interval, and of precision, recall and F1.

The values of precision, recall and F1 are quotients of unbiased totals, so they are not quite
unbiased themselves; their ends hold all the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log
from typing import NamedTuple

import numpy as np

from selectron.estimate.constructions import Construction, Mixture
from selectron.estimate.sums import (
    FALSE_NEGATIVE,
    FALSE_POSITIVE,
    LOST,
    MISTAKES,
    TRUE_POSITIVE,
    Sums,
)

NO_UPPER_END = "no upper end: the odds of asking have no floor; set explore"
POINTS, ZOOMS = 65, 5
SMALLEST = 1e-6  # share of the rounds where the search for the extreme quotient begins


def percent(share: float, unit: str = " %") -> str:
    """Write a share with one digit after the point, more for the smallest."""
    digits = 1 if share == 0.0 or abs(share) >= 0.001 else 3
    return f"{100.0 * share:.{digits}f}{unit}"


def check_level(level: float) -> None:
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie strictly between 0 and 1, got {level}")


class Tally(NamedTuple):
    """The sums, and the rounds that the sums speak for."""

    sums: Sums
    explore: float
    rounds: int  # with odds of at least `explore`
    outside: int  # all others
    pending: int = 0  # questions that still wait: among the lost answers of the sums
    lost: int = 0  # questions that were given up

    @property
    def labels(self) -> int:
        return round(float(self.sums.counts[:LOST].sum()))

    def times(self, factor: float) -> "Tally":
        """Return the tally that ``factor`` times as many of the same rounds would give."""
        rounds = round(self.rounds * factor)
        return self._replace(sums=self.sums.times(factor), rounds=rounds)


class Judge(NamedTuple):
    """A construction at a level, which answers questions about the events of one tally.

    A lost or pending answer counts as the event in the bet against large totals, and as no event in
    the bet against small totals. So the true bets are at least as large as these.
    """

    tally: Tally
    construction: Construction
    bound: float

    @classmethod
    def at(cls, tally: Tally, level: float, construction: Construction) -> "Judge":
        """Divide 1 - level equally between the two ends."""
        return cls(tally, construction, log(2.0 / (1.0 - level)))

    def too_many(self, *outcomes: int) -> Mixture:
        return self.construction.too_many(self.tally.sums.of((*outcomes, LOST)), self.tally.explore)

    def too_few(self, *outcomes: int) -> Mixture:
        return self.construction.too_few(self.tally.sums.of(outcomes), self.tally.explore)

    def least(self, *outcomes: int) -> float:
        """Return the smallest total that is not ruled out."""
        return self._possible(float(self.too_few(*outcomes).crossing(self.bound)), outcomes)

    def most(self, *outcomes: int) -> float:
        """Return the largest total that is not ruled out; the floor must be above 0."""
        return self._possible(float(self.too_many(*outcomes).crossing(self.bound)), outcomes)

    def _possible(self, total: float, outcomes: Sequence[int]) -> float:
        """Clip a total to what the answers allow: events seen have happened, others have not.

        Of a risk the answers only say that it lies between none and all.
        """
        seen = 0.0 * self.tally.sums.counts if self.construction.risk else self.tally.sums.counts
        happened = float(seen[list(outcomes)].sum())
        others = float(seen[:LOST].sum()) - happened
        return min(max(total, happened), self.tally.rounds - others)


def greatest_quotient(judge: Judge, few: Mixture, many: Mixture) -> float:
    """Return the greatest y/x among the pairs (x, y) that both bets together do not rule out.

    `few` is large where x is too small, `many` where y is too large. The largest y is a concave
    function of x, so y/x has one maximum: search a grid, then between the neighbours of the best.

    Two events never fall into one round, so the product of a bet on one and a bet on the other is a
    bet too. The pairs of totals at which the product has not reached 2/α hold the true pair at all
    times. These pairs form a convex set, and its extreme quotient is the end of the interval. That
    is narrower than two intervals, each at half the level.
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


class Share(NamedTuple):
    """A share with its ends; None where the odds of asking have no floor, or nothing is known."""

    value: float | None
    low: float | None
    high: float | None

    def __str__(self) -> str:
        if self.value is None or self.low is None or self.high is None:
            return "unknown"
        return f"{percent(self.value)} ({percent(self.low, unit='')} to {percent(self.high)})"


@dataclass(frozen=True)
class Estimate:
    """The share of wrong predictions among `rounds`, asked or not.

    Each prediction counts as the learner made it in its round.

    Attributes
    ----------
    error : float or None
        An unbiased estimate, which early on may be above 1; None without a floor on the odds, or
        without rounds.
    low, high : float or None
        Ends between which the share lies at all times at once, with probability `level`. So one
        may look after every label and stop. `high` is None without a floor.
    rounds, labels : int
        Rounds of which the estimate speaks, and labels that the estimate uses.
    outside : int
        Further rounds, not estimated because their odds were below the floor.
    pending : int
        Questions that still wait for an answer: `high` counts them as mistakes, `low` and `error`
        as right.
    lost : int
        Questions that were given up: they count as pending ones do, for ever, or not at all where
        answers are said to be missing at random.
    precision, recall, f1 : Share
        Value, low and high of each, at this level.
    """

    error: float | None
    low: float
    high: float | None
    rounds: int
    labels: int
    level: float
    outside: int = 0
    pending: int = 0
    lost: int = 0
    _judge: Judge | None = field(default=None, repr=False, compare=False)

    @cached_property
    def precision(self) -> Share:
        """The share of true positives among the positive predictions: TP / (TP + FP)."""
        return self._share_of_hits(1.0, FALSE_POSITIVE)

    @cached_property
    def recall(self) -> Share:
        """The share of the positives that was found: TP / (TP + FN)."""
        return self._share_of_hits(1.0, FALSE_NEGATIVE)

    @cached_property
    def f1(self) -> Share:
        """The harmonic mean of precision and recall: 2 TP / (2 TP + FP + FN)."""
        return self._share_of_hits(2.0, *MISTAKES)

    def _share_of_hits(self, worth: float, *misses: int) -> Share:
        """Return worth · TP / (worth · TP + misses)."""
        judge = self._judge
        if judge is None or self.high is None or self.rounds <= 0:
            return Share(None, None, None)
        weights = judge.tally.sums.weights
        hits, missed = worth * float(weights[TRUE_POSITIVE]), float(weights[list(misses)].sum())
        value = hits / (hits + missed) if hits + missed > 0.0 else None
        most = greatest_quotient(judge, judge.too_few(TRUE_POSITIVE), judge.too_many(*misses))
        least = greatest_quotient(judge, judge.too_few(*misses), judge.too_many(TRUE_POSITIVE))
        return Share(value, worth / (worth + most), 1.0 - 1.0 / (1.0 + worth * least))

    def to_dict(self) -> dict[str, object]:
        """Return all numbers by name, ready for JSON."""
        names = "error", "low", "high", "rounds", "labels", "level", "outside", "pending", "lost"
        told: dict[str, object] = {name: getattr(self, name) for name in names}
        shares = {name: getattr(self, name)._asdict() for name in ("precision", "recall", "f1")}
        return told | shares

    def __str__(self) -> str:
        level = f"{100 * self.level:g} % at all times"
        if self.high is not None and not self.rounds:
            shown = "error unknown: no round so far was drawn for it, "
        elif self.error is None or self.high is None:
            shown = f"error at least {percent(self.low)} ({level}), {NO_UPPER_END}; "
        else:
            ends = f"{percent(self.low, unit='')} to {percent(self.high)}"
            shown = f"error {percent(self.error)} ({ends}, {level}), "
        shown += f"{self.labels:,} labels of {self.rounds:,} rounds"
        if self.outside:
            shown += f"; {self.outside:,} rounds below the floor are outside"
        shown += f"; {self.pending:,} answers pending" if self.pending else ""
        return shown + (f"; {self.lost:,} given up" if self.lost else "")


def estimate_of(tally: Tally, level: float, construction: Construction, guess: float) -> Estimate:
    """Judge a tally; `guess` is the control variate of `Evidence.estimate`."""
    judge = Judge.at(tally, level, construction)
    error, low, high = None, 0.0, None
    if tally.rounds > 0:
        low = min(judge.least(*MISTAKES) / tally.rounds, 1.0)
    if tally.explore > 0.0:
        high = judge.most(*MISTAKES) / tally.rounds if tally.rounds > 0 else 1.0
    if high is not None and tally.rounds > 0:
        weights = tally.sums.weights
        wrong, asked = float(weights[list(MISTAKES)].sum()), float(weights[:LOST].sum())
        error = guess + (wrong - guess * asked) / tally.rounds
    counts = tally.outside, tally.pending, tally.lost
    return Estimate(error, low, high, tally.rounds, tally.labels, level, *counts, judge)
