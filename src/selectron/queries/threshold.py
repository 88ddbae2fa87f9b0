"""Thresholds that scale themselves: no unit of the margin and no dimension need be known.

Both rules compare the margin, in its natural unit, with a threshold q that moves by factors. Zero
means that q is not set yet. The first label is always asked, and the first row after it sets q to
half of its certainty.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from selectron.compiler.verbs import helper
from selectron.numeric.elementary import exponential
from selectron.numeric.rows import Row
from selectron.protocol import AnyForecast, advance, ask_probability, in_file, observe
from selectron.spec import FRACTION, NOT_NEGATIVE, POSITIVE, QueryRule, Range

SHARE = Range(0.0, 1.0, low_open=True, high_open=True)
FADE = 0.98  # the largest certainty of late fades by this factor with every label
ABOVE, WIDEST = 4.0, 64.0  # times the largest certainty: a threshold is out of reach, and ends
PATIENCE = 30  # labels: so many more with the threshold out of reach than within, and all is noise
FRESH_START = 0.005  # the threshold then starts anew at this share of the largest certainty
FRESH_ROUNDS = 1500  # and leaks again as after so many rounds


@helper
def certainty(forecast: AnyForecast) -> float:
    """Return the size of the margin in its natural unit."""
    return abs(forecast.margin) / forecast.unit


@helper
def odds_with_tail(threshold: float, level: float, doublings: int) -> float:
    """Return 1 up to the threshold; beyond it the odds fall with the power 2^doublings."""
    if level <= threshold:
        return 1.0
    odds = threshold / level
    for _ in range(doublings):
        odds *= odds
    return odds


class Ceiling(NamedTuple):
    """What holds a threshold among the certainties that there are."""

    largest: float = 0.0  # the largest certainty among the labels of late
    n_above: int = 0  # labels with the threshold out of reach, less those with it within


@helper
def moved(
    threshold: float,
    ceiling: Ceiling,
    n_rounds: int,
    level: float,
    factor: float,
    fresh_rounds: int,
) -> tuple[float, Ceiling, int]:
    """Return threshold, ceiling and rounds after a label of this certainty moves the threshold.

    A threshold above all certainties asks about every row. Where mistakes keep it there, labels
    are noise and no question is better than another. So the threshold starts anew, far below.
    """
    known = ceiling.largest if ceiling.largest > 0.0 else threshold
    largest = max(level, FADE * known)
    wide = threshold * factor
    if factor > 1.0:
        wide = max(min(wide, WIDEST * largest), threshold)
    n_above = ceiling.n_above + 1 if wide > ABOVE * largest else max(ceiling.n_above - 1, 0)
    if n_above > PATIENCE:
        return FRESH_START * largest, Ceiling(largest, 0), min(n_rounds, fresh_rounds)
    return wide, Ceiling(largest, n_above), n_rounds


@dataclass(frozen=True)
class Balanced(QueryRule):
    """Hold the share of mistakes among the labels asked at rho.

    A mistake widens the threshold by exp(step (1 - rho)), and a right answer narrows it by
    exp(-step rho). A round without a question widens it by 1 + leak/t, so that the rule never
    stops asking. If mistakes keep it above all certainties, labels are noise: it starts anew at
    1/200 of the largest certainty.

    Parameters
    ----------
    rho : float
        Share in (0, 1) of mistakes to hold; 0.3 suits first-order rules on the sphere.
    step : float
        > 0: how fast the threshold follows the answers.
    leak : float
        >= 0: how fast the threshold opens when nothing is asked.
    start : float
        The first threshold; 0 takes half the certainty of the first row after the first label.

    Examples
    --------
    >>> from selectron import SelectiveClassifier, evaluate, streams, updates
    >>> X, y = streams.drifting("stationary", seed=0, n=2000, noise=0.0)[:2]
    >>> trace = evaluate.progressive(SelectiveClassifier(updates.Ridge(), Balanced()), X, y)
    >>> print(trace.n_asked, round(trace.error, 4))
    156 0.069
    """

    rho: float = 0.45
    step: float = 1.0
    leak: float = 4.0
    start: float = 0.0
    RANGES: ClassVar = {"rho": SHARE, "step": POSITIVE, "leak": NOT_NEGATIVE, "start": NOT_NEGATIVE}

    def begin(self, d: int) -> "BalancedState":
        widen = exponential(self.step * (1.0 - self.rho))
        narrow = exponential(-self.step * self.rho)
        return BalancedState(float(self.start), float(widen), float(narrow), float(self.leak))


class BalancedState(NamedTuple):
    threshold: float
    widen: float
    narrow: float
    leak: float
    ceiling: Ceiling = Ceiling()
    n_rounds: int = 0
    n_labels: int = 0


@advance.of(BalancedState)
def balanced_advance(query: BalancedState, forecast: AnyForecast, asked: bool) -> BalancedState:
    n_rounds = query.n_rounds + 1
    threshold = query.threshold
    if query.n_labels > 0:
        if threshold == 0.0:
            threshold = certainty(forecast) / 2.0
        if not asked:
            threshold *= 1.0 + query.leak / n_rounds
    return query._replace(threshold=threshold, n_rounds=n_rounds)


@observe.of(BalancedState)
def balanced_observe(
    query: BalancedState, x: Row, forecast: AnyForecast, y: float
) -> BalancedState:
    factor = query.widen if y * forecast.margin <= 0.0 else query.narrow
    level = certainty(forecast)
    threshold, ceiling, n_rounds = moved(
        query.threshold, query.ceiling, query.n_rounds, level, factor, FRESH_ROUNDS
    )
    return query._replace(
        threshold=threshold, ceiling=ceiling, n_rounds=n_rounds, n_labels=query.n_labels + 1
    )


@dataclass(frozen=True)
class RateTracking(QueryRule):
    """Ask for the given share of the rows: those that are least certain at the time.

    Parameters
    ----------
    rate : float
        Share in (0, 1] of the rows to ask.
    step : float
        > 0: how fast the threshold follows the share.

    Examples
    --------
    >>> from selectron import SelectiveClassifier, evaluate, streams
    >>> X, y = streams.drifting("flips", seed=0, n=2000)[:2]
    >>> evaluate.progressive(SelectiveClassifier(query=RateTracking(rate=0.1)), X, y).n_asked
    184
    """

    rate: float = 0.08
    step: float = 0.2
    RANGES: ClassVar = {"rate": FRACTION, "step": POSITIVE}

    def begin(self, d: int) -> "RateTrackingState":
        asked = exponential(-self.step * (1.0 - self.rate))
        passed = exponential(self.step * self.rate)
        return RateTrackingState(0.0, float(asked), float(passed))


class RateTrackingState(NamedTuple):
    threshold: float
    narrow: float
    widen: float
    n_labels: int = 0


@ask_probability.of(BalancedState, RateTrackingState)
def odds_below(query: BalancedState | RateTrackingState, x: Row, forecast: AnyForecast) -> float:
    """Ask up to the threshold; always before the first label, and while a glance cannot set it."""
    if query.n_labels == 0 or (query.threshold == 0.0 and not forecast.exact):
        return 1.0
    level = certainty(forecast)
    limit = query.threshold if query.threshold > 0.0 else level / 2.0
    return 1.0 if level <= limit else 0.0


@advance.of(RateTrackingState)
def rate_tracking_advance(
    query: RateTrackingState, forecast: AnyForecast, asked: bool
) -> RateTrackingState:
    if query.n_labels == 0:
        return query
    threshold = query.threshold if query.threshold > 0.0 else certainty(forecast) / 2.0
    threshold *= query.narrow if asked else query.widen
    return query._replace(threshold=threshold)


@observe.of(RateTrackingState)
def rate_tracking_observe(
    query: RateTrackingState, x: Row, forecast: AnyForecast, y: float
) -> RateTrackingState:
    return query._replace(n_labels=query.n_labels + 1)


in_file(BalancedState, "widen", "narrow", "leak", threshold=NOT_NEGATIVE)
in_file(RateTrackingState, "widen", "narrow", threshold=NOT_NEGATIVE)
in_file(Ceiling, largest=NOT_NEGATIVE)
