"""When to stop asking: a goal for an interval, the labels it needs, and why no label is asked."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Self

from selectron.estimate.constructions import Thinning
from selectron.estimate.estimates import Estimate, estimate_of, percent
from selectron.estimate.evidence import Evidence, Pending
from selectron.estimate.wager import Wager

CERTIFIED = ("error", "risk")  # goals from above, which a wager is made for
MEASURES = (*CERTIFIED, "precision", "recall", "f1")
FARTHEST = 1024.0  # times the rounds so far: a goal that needs more counts as out of reach
FORM = re.compile(r"\s*(\w+)\s*(<=|>=)\s*([0-9.eE+-]+)\s*")


@dataclass(frozen=True)
class Goal:
    """An error or a risk to stay below, or a precision, recall or F1 to stay above, for sure.

    The error is the share of mistakes; the risk is the mean probability of a mistake given the
    past. The goal is met once the whole interval is on the right side of the bound. The interval
    holds at all times, so one may look after every label and stop the first time: the chance to
    stop wrongly is still below 1 - level.

    Examples
    --------
    >>> goal = Goal.parse("error<=0.03")
    >>> goal.met(Estimate(0.02, 0.01, 0.031, 8000, 400, 0.95))
    False
    >>> estimate = Estimate(0.02, 0.01, 0.029, 9000, 440, 0.95)
    >>> goal.met(estimate), goal.status(estimate)
    (True, 'goal met at round 9,000: error at most 2.9 %, wanted at most 3.0 %')
    """

    measure: str
    bound: float

    def __post_init__(self) -> None:
        if self.measure not in MEASURES:
            raise ValueError(f"no goal for {self.measure!r}; known are {', '.join(MEASURES)}")
        if not 0.0 < self.bound < 1.0:
            raise ValueError(f"the goal for {self.measure} must lie in (0, 1), got {self.bound}")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read "error<=0.03", "risk<=0.03", "precision>=0.9", "recall>=0.9" or "f1>=0.9"."""
        found = FORM.fullmatch(str(text))
        try:
            measure, relation, bound = found.groups() if found else ("", "", "")
            goal = cls(measure, float(bound))
        except ValueError as error:
            reason = f": {error}" if found else ""
            raise ValueError(
                f"a goal reads error<=0.03 or recall>=0.9, got {text!r}{reason}"
            ) from None
        if relation != goal.relation:
            raise ValueError(f"{text!r} points the wrong way: a goal reads {goal}")
        return goal

    @property
    def relation(self) -> str:
        return "<=" if self.certified else ">="

    @property
    def certified(self) -> bool:
        """Whether a wager says when the goal is met."""
        return self.measure in CERTIFIED

    def __str__(self) -> str:
        return f"{self.measure}{self.relation}{self.bound:g}"

    def end(self, estimate: Estimate) -> float | None:
        """Return the end of the interval that has to reach the bound; None if there is none."""
        if self.certified:
            return estimate.high
        low: float | None = getattr(estimate, self.measure).low
        return low

    def met(self, estimate: Estimate) -> bool:
        end = self.end(estimate)
        if end is None:
            return False
        return end <= self.bound if self.certified else end >= self.bound

    def status(self, estimate: Estimate) -> str:
        """Say in one line whether the goal is met, and by which end."""
        side = "at most" if self.certified else "at least"
        end = self.end(estimate)
        if end is None:
            return f"goal {self} cannot be met: without a floor on the odds nothing is sure"
        known = f"{self.measure} {side} {percent(end)}, wanted {side} {percent(self.bound)}"
        if self.met(estimate):
            return f"goal met at round {estimate.rounds + estimate.outside:,}: {known}"
        return f"too early: {known}"


def why_silent(
    odds: float, *, warm_up: int = 0, goal: Goal | None = None, estimate: Estimate | None = None
) -> str:
    """Say why a round was not asked, the strongest reason first.

    Parameters
    ----------
    odds : float
        Its odds of being asked.
    warm_up : int
        Rounds left in which no label is asked because the rows are still being measured.
    goal, estimate : Goal and Estimate, optional
        The goal at which to stop, and the estimate that may have met it.

    Examples
    --------
    >>> print(why_silent(0.0))
    margin beyond the threshold
    >>> print(why_silent(0.02))
    not drawn: the odds were 2.0 %
    >>> print(why_silent(0.0, warm_up=20))
    too early: 20 more rounds to measure the rows
    """
    if goal is not None and estimate is not None and goal.met(estimate):
        return goal.status(estimate)
    if warm_up > 0:
        return f"too early: {warm_up:,} more rounds to measure the rows"
    return (
        f"not drawn: the odds were {percent(odds)}" if odds > 0.0 else "margin beyond the threshold"
    )


class Outlook(NamedTuple):
    """The interval now, and the one expected after some more labels."""

    now: Estimate
    then: Estimate

    @property
    def narrower(self) -> float:
        """The share by which the interval is expected to become narrower."""
        if self.now.high is None or self.then.high is None or self.now.high <= self.now.low:
            return 0.0
        return 1.0 - (self.then.high - self.then.low) / (self.now.high - self.now.low)

    def to_dict(self) -> dict[str, object]:
        """Return both estimates by name, ready for JSON."""
        now, then = self.now.to_dict(), self.then.to_dict()
        return {"now": now, "then": then, "narrower": self.narrower}

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
    """Return the interval expected after more labels, if rounds and questions go on as so far.

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


def outlook_of(wager: Wager, labels: int, *, level: float = 0.95, rounds: int) -> Outlook:
    """Return what more labels are expected to bring to a wager."""
    if labels < 1:
        raise ValueError(f"labels must be at least 1, got {labels}")
    now = wager.estimate(level, rounds=rounds)
    if now.labels == 0:
        raise ValueError("the wager has no label yet: it starts once the learner has learnt")
    more = wager.estimate_after(1.0 + labels / now.labels, level, rounds=rounds)
    return Outlook(now, more)


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
    factor = _least_factor(
        lambda factor: goal.met(estimate_of(tally.times(factor), level, Thinning(), 0.0))
    )
    return None if factor is None else round((factor - 1.0) * tally.labels)


def labels_to_certify(wager: Wager, goal: Goal, *, rounds: int) -> int | None:
    """Return about how many more labels the wager needs; None if it never gets there."""
    factor = _least_factor(lambda factor: goal.met(wager.estimate_after(factor, rounds=rounds)))
    labels = wager.estimate(rounds=rounds).labels
    return None if factor is None else round((factor - 1.0) * labels)


def _least_factor(met: Callable[[float], bool]) -> float | None:
    """Return about how many times the rounds so far a goal needs; None if there is no hope."""
    low, high = 1.0, 1.0
    while not met(high):
        low, high = high, 2.0 * high
        if high > FARTHEST:
            return None
    while high - low > 0.005 * low:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if met(middle) else (middle, high)
    return high
