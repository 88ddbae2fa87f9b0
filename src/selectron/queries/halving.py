"""The threshold of DKM [DKM09]: ask inside a band, and halve it after a run of right answers."""

from dataclasses import dataclass
from math import sqrt
from numbers import Real
from typing import ClassVar, NamedTuple

from selectron.numeric.rows import Row
from selectron.protocol import (
    AnyForecast,
    advance,
    ask_probability,
    in_file,
    observe,
    unmoved_by_choice,
)
from selectron.spec import NOT_NEGATIVE, POSITIVE, QueryRule, Range

WIDEST = "1/sqrt(d)"


@dataclass(frozen=True)
class Halving(QueryRule):
    """Ask when the margin of a unit hypothesis is at most s ([DKM09], Figure 4; [Mon06], Fig. 4-3).

    Parameters
    ----------
    patience : int
        R >= 1: right answers in a row before s is halved. About 3.5 ln d works on the sphere;
        below 2 ln d the band closes before its time.
    start : "1/sqrt(d)" or float
        The first s: [DKM09] begins with 1/√d, [Mon06] with 1.
    new_run : bool
        Begin a new run of right answers after a halving, as the proof of [DKM09], Lemma 8 and
        [Mon06] do. False is Figure 4 of [DKM09] to the letter: every right answer from the R-th on
        halves s again, until a mistake.

    Examples
    --------
    >>> from selectron import SelectiveClassifier, evaluate, streams, updates
    >>> X, y = streams.drifting("stationary", seed=0, n=2000, noise=0.0)[:2]
    >>> learner = SelectiveClassifier(updates.Reflection(), Halving(start=0.5))
    >>> evaluate.progressive(learner, X, y).n_asked
    449
    """

    patience: int = 16
    start: str | float = WIDEST
    new_run: bool = True
    RANGES: ClassVar = {"patience": Range(1, 2**31)}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.start == WIDEST:
            return
        number = isinstance(self.start, Real) and not isinstance(self.start, bool)
        if not (number and POSITIVE.holds(float(self.start))):
            raise ValueError(
                f"Halving: start must be {WIDEST!r} or a number in {POSITIVE}, got {self.start!r}"
            )

    def begin(self, d: int) -> "HalvingState":
        first = 1.0 / sqrt(d) if self.start == WIDEST else float(self.start)
        return HalvingState(first, int(self.patience), bool(self.new_run), 0)


class HalvingState(NamedTuple):
    threshold: float  # s_t
    patience: int  # R
    new_run: bool
    streak: int  # right answers in a row since the last mistake or halving


@ask_probability.of(HalvingState)
def halving_probability(query: HalvingState, x: Row, forecast: AnyForecast) -> float:
    if forecast.norm == 0.0:  # no hypothesis yet, whatever a rule says of a class that is alone
        return 1.0
    return 1.0 if abs(forecast.margin) <= query.threshold * forecast.norm else 0.0


advance.of(HalvingState)(unmoved_by_choice)


@observe.of(HalvingState)
def halving_observe(query: HalvingState, x: Row, forecast: AnyForecast, y: float) -> HalvingState:
    if forecast.norm == 0.0:  # the label that makes the first hypothesis answers no question
        return query
    if y * forecast.margin < 0.0:
        return query._replace(streak=0)
    if query.streak + 1 < query.patience:
        return query._replace(streak=query.streak + 1)
    kept = 0 if query.new_run else query.streak
    return query._replace(threshold=query.threshold / 2.0, streak=kept)


in_file(HalvingState, "patience", "new_run", threshold=NOT_NEGATIVE)
