"""What more labels are expected to bring, if the rounds to come are like those so far."""

from typing import NamedTuple

from selectron.estimate.evidence import Evidence, Pending
from selectron.estimate.goal import Goal
from selectron.estimate.percent import percent
from selectron.estimate.report import Estimate, estimate_of
from selectron.estimate.thinning import Thinning

FARTHEST = 1024.0  # times the rounds so far: beyond, a goal counts as out of reach


class Outlook(NamedTuple):
    """The interval now, and the one expected after some more labels."""

    now: Estimate
    then: Estimate

    @property
    def narrower(self) -> float:
        """By what share the interval is expected to become narrower."""
        if self.now.high is None or self.then.high is None or self.now.high <= self.now.low:
            return 0.0
        return 1.0 - (self.then.high - self.then.low) / (self.now.high - self.now.low)

    def __str__(self) -> str:
        if self.now.high is None or self.then.high is None:
            return "more labels bring no upper end: the odds of asking have no floor; set explore"
        labels = self.then.labels - self.now.labels
        rounds = self.then.rounds - self.now.rounds
        ends = [f"{percent(e.low, unit='')} to {percent(e.high or 0.0)}" for e in self]
        return (
            f"{labels:,} more labels, in about {rounds:,} rounds: {ends[0]} becomes {ends[1]} "
            f"({percent(self.narrower)} narrower)"
        )


def outlook(
    evidence: Evidence, labels: int = 100, *, level: float = 0.95, pending: Pending = 0
) -> Outlook:
    """Tell what the next labels are expected to bring, at the rate of asking so far.

    Examples
    --------
    >>> import numpy as np
    >>> evidence = Evidence(explore=0.02)
    >>> evidence.reach(10_000)
    >>> wrong = np.where(np.arange(299) % 30 == 0, -1, 1)
    >>> evidence.add(np.arange(299), np.where(wrong < 0, 0.04, 0.5), np.ones(299, int), wrong)
    >>> print(outlook(evidence))
    100 more labels, in about 3,344 rounds: 0.7 to 5.7 % becomes 0.9 to 5.1 % (15.8 % narrower)
    """
    if labels < 1:
        raise ValueError(f"labels must be at least 1, got {labels}")
    tally = evidence.tally(pending)
    if tally.labels == 0:
        raise ValueError("no label yet, so no rate of asking: ask some first")
    more = tally.times(1.0 + labels / tally.labels)
    now, then = (estimate_of(t, level, Thinning(), 0.0) for t in (tally, more))
    return Outlook(now, then)


def labels_to_goal(
    evidence: Evidence, goal: Goal, *, level: float = 0.95, pending: Pending = 0
) -> int | None:
    """Return about how many more labels the goal needs; None if this error never gets there.

    Examples
    --------
    >>> evidence = Evidence(explore=0.1)
    >>> evidence.reach(1000)
    >>> evidence.add(range(100), [0.1] * 100, [1] * 100, [-1] * 2 + [1] * 98)
    >>> labels_to_goal(evidence, Goal.parse("error<=0.05")) is not None
    True
    >>> labels_to_goal(evidence, Goal.parse("error<=0.01")) is None
    True
    """
    tally = evidence.tally(pending)

    def met(factor: float) -> bool:
        return goal.met(estimate_of(tally.times(factor), level, Thinning(), 0.0))

    low, high = 1.0, 1.0
    while not met(high):
        low, high = high, 2.0 * high
        if high > FARTHEST:
            return None
    while high - low > 0.005 * low:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if met(middle) else (middle, high)
    return round((high - 1.0) * tally.labels) if high > 1.0 else 0
