"""An estimate of the error, with its interval and everything one needs to read it."""

from dataclasses import dataclass, field
from functools import cached_property

from selectron.estimate import ratios
from selectron.estimate.percent import percent
from selectron.estimate.ratios import UNKNOWN, Share
from selectron.estimate.sums import LOST, MISTAKES
from selectron.estimate.tally import Construction, Judge, Tally

NO_UPPER_END = "no upper end: the odds of asking have no floor; set explore"


@dataclass(frozen=True)
class Estimate:
    """The share of wrong predictions among `rounds`, asked or not.

    Each prediction counts as it was made then, by the learner of then.

    Attributes
    ----------
    error : float or None
        Unbiased, so that early on it may be above 1; None without a floor on the odds, or rounds.
    low, high : float or None
        Ends between which the share lies at all times at once, with probability `level`, so that
        one may look and stop. `high` is None without a floor.
    rounds, labels : int
        Rounds of which the estimate speaks, and labels it is made of.
    outside : int
        Further rounds, of which it says nothing: their odds were below the floor.
    pending : int
        Questions without an answer: `high` counts them as mistakes, `low` and `error` as none.
    precision, recall, f1 : Share
        The same for them, each at this level: value, low and high.
    """

    error: float | None
    low: float
    high: float | None
    rounds: int
    labels: int
    level: float
    outside: int = 0
    pending: int = 0
    _judge: Judge | None = field(default=None, repr=False, compare=False)

    @cached_property
    def precision(self) -> Share:
        return self._ask(ratios.precision)

    @cached_property
    def recall(self) -> Share:
        return self._ask(ratios.recall)

    @cached_property
    def f1(self) -> Share:
        return self._ask(ratios.f1)

    def _ask(self, ratio: ratios.Ratio) -> Share:
        known = self._judge is not None and self.high is not None and self.rounds > 0
        return ratio(self._judge) if known and self._judge else UNKNOWN

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
        return shown + (f"; {self.pending:,} answers pending" if self.pending else "")


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
    return Estimate(
        error, low, high, tally.rounds, tally.labels, level, tally.outside, tally.lost, judge
    )
