"""Self-scaling thresholds: no b, no patience, no dimension to know.

Both compare the margin, in its natural unit, with a threshold q that moves by factors. Zero means
that q is not set yet: the first label is always asked, and the first row after it sets q to half
of its certainty.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from selectron.compiler.verbs import helper
from selectron.numeric.elementary import exponential
from selectron.numeric.rows import Row
from selectron.protocol import (
    Forecast,
    advance,
    ask_probability,
    observe,
)
from selectron.spec import FRACTION, NOT_NEGATIVE, POSITIVE, QueryRule, Range

SHARE = Range(0.0, 1.0, low_open=True, high_open=True)


@helper
def certainty(forecast: Forecast) -> float:
    return abs(forecast.margin) / forecast.unit


@helper
def odds_below(threshold: float, n_labels: int, forecast: Forecast) -> float:
    """Ask below the threshold; before the first label, and while a glance cannot set it, always."""
    if n_labels == 0 or (threshold == 0.0 and not forecast.exact):
        return 1.0
    level = certainty(forecast)
    limit = threshold if threshold > 0.0 else level / 2.0
    return 1.0 if level <= limit else 0.0


@helper
def odds_with_tail(threshold: float, level: float, doublings: int) -> float:
    """Return 1 up to the threshold, and beyond it what falls with the power 2^doublings."""
    if level <= threshold:
        return 1.0
    odds = threshold / level
    for _ in range(doublings):
        odds *= odds
    return odds


@dataclass(frozen=True)
class Balanced(QueryRule):
    """Hold the share of mistakes among the labels asked at rho.

    A mistake widens the threshold by exp(step (1 - rho)), a right answer narrows it by
    exp(-step rho); a round that is not asked widens it by 1 + leak/t, so that it cannot starve.

    Parameters
    ----------
    rho : float
        Share in (0, 1) of mistakes to hold; 0.3 suits first-order rules on the sphere.
    step : float
        > 0: how fast the threshold follows.
    leak : float
        >= 0: how fast it opens when nothing is asked.
    start : float
        The first threshold; 0 takes half the certainty of the first row after the first label.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron import SelectiveClassifier
    >>> from selectron.evaluate import progressive
    >>> from selectron.queries import Balanced
    >>> from selectron.updates import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2000, 5))
    >>> y = X @ rng.standard_normal(5) > 0
    >>> trace = progressive(SelectiveClassifier(Ridge(), Balanced()), X, y)
    >>> print(trace.n_asked, round(trace.error, 4))
    104 0.0145
    """

    rho: float = 0.45
    step: float = 1.0
    leak: float = 4.0
    start: float = 0.0
    RANGES: ClassVar = {
        "rho": SHARE,
        "step": POSITIVE,
        "leak": NOT_NEGATIVE,
        "start": NOT_NEGATIVE,
    }

    def begin(self, d: int) -> "BalancedState":
        widen = exponential(self.step * (1.0 - self.rho))
        narrow = exponential(-self.step * self.rho)
        return BalancedState(float(self.start), float(widen), float(narrow), float(self.leak), 0, 0)


class BalancedState(NamedTuple):
    threshold: float
    widen: float
    narrow: float
    leak: float
    n_rounds: int
    n_labels: int


@ask_probability.of(BalancedState)
def balanced_probability(query: BalancedState, x: Row, forecast: Forecast) -> float:
    return odds_below(query.threshold, query.n_labels, forecast)


@advance.of(BalancedState)
def balanced_advance(query: BalancedState, forecast: Forecast, asked: bool) -> BalancedState:
    n_rounds = query.n_rounds + 1
    threshold = query.threshold
    if query.n_labels > 0:
        if threshold == 0.0:
            threshold = certainty(forecast) / 2.0
        if not asked:
            threshold *= 1.0 + query.leak / n_rounds
    return query._replace(threshold=threshold, n_rounds=n_rounds)


@observe.of(BalancedState)
def balanced_observe(query: BalancedState, x: Row, forecast: Forecast, y: float) -> BalancedState:
    factor = query.widen if y * forecast.margin <= 0.0 else query.narrow
    return query._replace(threshold=query.threshold * factor, n_labels=query.n_labels + 1)


@dataclass(frozen=True)
class RateTracking(QueryRule):
    """Ask for the given share of the rows: those whose certainty is lowest at the time.

    Parameters
    ----------
    rate : float
        Share in (0, 1] of the rows to ask.
    step : float
        > 0: how fast the threshold follows.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron import SelectiveClassifier
    >>> from selectron.evaluate import progressive
    >>> from selectron.queries import RateTracking
    >>> from selectron.updates import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2000, 5))
    >>> y = X @ rng.standard_normal(5) > 0
    >>> trace = progressive(SelectiveClassifier(Ridge(), RateTracking(rate=0.1)), X, y)
    >>> print(trace.n_asked, round(trace.error, 4))
    188 0.0225
    """

    rate: float = 0.08
    step: float = 0.2
    RANGES: ClassVar = {"rate": FRACTION, "step": POSITIVE}

    def begin(self, d: int) -> "RateTrackingState":
        asked = exponential(-self.step * (1.0 - self.rate))
        passed = exponential(self.step * self.rate)
        return RateTrackingState(0.0, float(asked), float(passed), 0)


class RateTrackingState(NamedTuple):
    threshold: float
    narrow: float
    widen: float
    n_labels: int


@ask_probability.of(RateTrackingState)
def rate_tracking_probability(query: RateTrackingState, x: Row, forecast: Forecast) -> float:
    return odds_below(query.threshold, query.n_labels, forecast)


@advance.of(RateTrackingState)
def rate_tracking_advance(
    query: RateTrackingState, forecast: Forecast, asked: bool
) -> RateTrackingState:
    if query.n_labels == 0:
        return query
    threshold = query.threshold if query.threshold > 0.0 else certainty(forecast) / 2.0
    threshold *= query.narrow if asked else query.widen
    return query._replace(threshold=threshold)


@observe.of(RateTrackingState)
def rate_tracking_observe(
    query: RateTrackingState, x: Row, forecast: Forecast, y: float
) -> RateTrackingState:
    return query._replace(n_labels=query.n_labels + 1)
