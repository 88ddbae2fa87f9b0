"""Odds of asking that are fixed, or the larger the smaller the margin [CBGZ06].

Fixed odds are the controls that every saving is measured against.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import Row, square_norm
from selectron.protocol import (
    AnyForecast,
    advance,
    ask_probability,
    in_file,
    observe,
    unmoved_by_choice,
    unmoved_by_label,
)
from selectron.spec import FRACTION, NOT_NEGATIVE, POSITIVE, QueryRule


@dataclass(frozen=True)
class Always(QueryRule):
    """Ask for every label.

    Examples
    --------
    >>> from selectron.protocol import Forecast, ask_probability
    >>> ask_probability(Always().begin(d=2), None, Forecast(9.0, 1.0, 1.0, 0.0))
    1.0
    """

    LEARNS: ClassVar = False

    def begin(self, d: int) -> "UniformState":
        return UniformState(1.0)


@dataclass(frozen=True)
class Uniform(QueryRule):
    """Ask for a share of the labels, whatever the margin.

    Parameters
    ----------
    rate : float
        Probability of asking, in (0, 1].

    Examples
    --------
    >>> from selectron.protocol import Forecast, ask_probability
    >>> ask_probability(Uniform(rate=0.25).begin(d=2), None, Forecast(9.0, 1.0, 1.0, 0.0))
    0.25
    """

    LEARNS: ClassVar = False

    rate: float = 0.1
    RANGES: ClassVar = {"rate": FRACTION}

    def begin(self, d: int) -> "UniformState":
        return UniformState(float(self.rate))


class UniformState(NamedTuple):
    rate: float


@ask_probability.of(UniformState)
def uniform_probability(query: UniformState, x: Row, forecast: AnyForecast) -> float:
    return query.rate


@dataclass(frozen=True)
class Margin(QueryRule):
    """Ask with probability b / (b + |p̂|) ([CBGZ06], Figures 1, 3 and 4).

    Parameters
    ----------
    b : float
        > 0, in the unit of the margin: at |p̂| = b every second label is asked.

    Examples
    --------
    >>> from selectron.protocol import Forecast, ask_probability
    >>> query = Margin(b=0.5).begin(d=2)
    >>> [ask_probability(query, None, Forecast(p, 1.0, 1.0, 0.0)) for p in (0.0, 0.5, 2.0)]
    [1.0, 0.5, 0.2]
    """

    LEARNS: ClassVar = False

    b: float = 0.5
    RANGES: ClassVar = {"b": POSITIVE}

    def begin(self, d: int) -> "MarginState":
        return MarginState(float(self.b))


class MarginState(NamedTuple):
    b: float


@ask_probability.of(MarginState)
def margin_probability(query: MarginState, x: Row, forecast: AnyForecast) -> float:
    return query.b / (query.b + abs(forecast.margin))


@dataclass(frozen=True)
class SecondOrderMargin(QueryRule):
    """Ask with probability b / (b + |p̂| + ½p̂²(1 + r)), r = xᵀA⁻¹x.

    The proof of [CBGZ06], Theorem 3 drops a term in p̂²; keeping it gives these smaller odds the
    same bound.

    Parameters
    ----------
    b : float
        > 0, in the unit of the margin.

    Examples
    --------
    >>> from selectron.protocol import Forecast, ask_probability
    >>> query = SecondOrderMargin(b=0.5).begin(d=2)
    >>> print(round(ask_probability(query, None, Forecast(2.0, 1.0, 1.0, variance=0.3)), 4))
    0.098
    """

    LEARNS: ClassVar = False

    b: float = 0.5
    RANGES: ClassVar = {"b": POSITIVE}

    def begin(self, d: int) -> "SecondOrderMarginState":
        return SecondOrderMarginState(float(self.b))


class SecondOrderMarginState(NamedTuple):
    b: float


@ask_probability.of(SecondOrderMarginState)
def second_order_margin_probability(
    query: SecondOrderMarginState, x: Row, forecast: AnyForecast
) -> float:
    size = abs(forecast.margin)
    # A glance knows the largest variance only; without it the odds are never too small.
    spread = 1.0 + forecast.variance if forecast.exact else 1.0
    return query.b / (query.b + size + 0.5 * size * size * spread)


@dataclass(frozen=True)
class AdaptiveMargin(QueryRule):
    """Ask with probability b / (b + |p̂|), b = βX²√(1 + K) ([CBGZ06], Figure 2).

    K counts the mistakes seen, X is the largest norm among their rows and the row at hand.

    Parameters
    ----------
    beta : float
        > 0. With `Perceptron(eta=1)` and two classes the odds are at least β/(1 + β).

    Examples
    --------
    >>> import numpy as np
    >>> from selectron.numeric.rows import DenseRow
    >>> from selectron.protocol import Forecast, ask_probability
    >>> query, row = AdaptiveMargin(beta=1.0).begin(d=2), DenseRow(np.array([0.6, 0.8]))
    >>> print(ask_probability(query, row, Forecast(2.0, 1.0, 1.0, 0.0)).round(4))
    0.3333
    """

    beta: float = 1.0
    RANGES: ClassVar = {"beta": POSITIVE}

    def begin(self, d: int) -> "AdaptiveMarginState":
        return AdaptiveMarginState(float(self.beta))


class AdaptiveMarginState(NamedTuple):
    beta: float
    square_norm: float = 0.0  # X²
    n_mistakes: int = 0  # K: the mistakes seen


@ask_probability.of(AdaptiveMarginState)
def adaptive_probability(query: AdaptiveMarginState, x: Row, forecast: AnyForecast) -> float:
    largest = max(query.square_norm, square_norm(x))
    b = query.beta * largest * sqrt(1.0 + query.n_mistakes)
    return b / (b + abs(forecast.margin)) if b > 0.0 else 1.0


@observe.of(AdaptiveMarginState)
def adaptive_observe(
    query: AdaptiveMarginState, x: Row, forecast: AnyForecast, y: float
) -> AdaptiveMarginState:
    if y * forecast.margin > 0.0:
        return query
    largest = max(query.square_norm, square_norm(x))
    return query._replace(square_norm=largest, n_mistakes=query.n_mistakes + 1)


FIXED = UniformState, MarginState, SecondOrderMarginState  # nothing in these states changes
advance.of(*FIXED, AdaptiveMarginState)(unmoved_by_choice)
observe.of(*FIXED)(unmoved_by_label)

in_file(UniformState, "rate")
in_file(MarginState, "b")
in_file(SecondOrderMarginState, "b")
in_file(AdaptiveMarginState, "beta", square_norm=NOT_NEGATIVE)
