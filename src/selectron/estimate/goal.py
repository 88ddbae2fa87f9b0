"""When enough is known: a goal for the end of an interval."""

import re
from dataclasses import dataclass
from typing import Self

from selectron.estimate.percent import percent
from selectron.estimate.report import Estimate

MEASURES = ("error", "precision", "recall", "f1")
FORM = re.compile(r"\s*(\w+)\s*(<=|>=)\s*([0-9.eE+-]+)\s*")


@dataclass(frozen=True)
class Goal:
    """An error to stay below, or a precision, recall or F1 to stay above, for sure.

    It is met once the interval lies on its side. The interval is valid at all times, so one may
    look after every label and stop at the first time: the chance to stop wrongly is still below
    what the level leaves.

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
        """Read "error<=0.03", "precision>=0.9", "recall>=0.9" or "f1>=0.9"."""
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
        return "<=" if self.measure == "error" else ">="

    def __str__(self) -> str:
        return f"{self.measure}{self.relation}{self.bound:g}"

    def end(self, estimate: Estimate) -> float | None:
        """Return the end of the interval that has to get there; None if there is none."""
        if self.measure == "error":
            return estimate.high
        low: float | None = getattr(estimate, self.measure).low
        return low

    def met(self, estimate: Estimate) -> bool:
        end = self.end(estimate)
        if end is None:
            return False
        return end <= self.bound if self.measure == "error" else end >= self.bound

    def status(self, estimate: Estimate) -> str:
        """Say in one line whether it is met, and by what."""
        side = "at most" if self.measure == "error" else "at least"
        end = self.end(estimate)
        if end is None:
            return f"goal {self} cannot be met: without a floor on the odds nothing is sure"
        known = f"{self.measure} {side} {percent(end)}, wanted {side} {percent(self.bound)}"
        if self.met(estimate):
            return f"goal met at round {estimate.rounds + estimate.outside:,}: {known}"
        return f"too early: {known}"
