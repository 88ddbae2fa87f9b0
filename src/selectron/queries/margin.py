"""Ask the more readily the smaller the margin [CBGZ06]."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import Row, square_norm
from selectron.protocol import (
    Forecast,
    advance,
    ask_probability,
    observe,
    unmoved_by_choice,
    unmoved_by_label,
)
from selectron.spec import POSITIVE, QueryRule


@dataclass(frozen=True)
class Margin(QueryRule):
    """Ask with probability b / (b + |p̂|) ([CBGZ06], Figures 1, 3 and 4).

    Parameters
    ----------
    b : float
        > 0, in the unit of the margin: at |p̂| = b every second label is asked.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron import SelectiveClassifier
    >>> from selectron.queries import Margin
    >>> from selectron.updates import Perceptron
    >>> X = np.array([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]])
    >>> clf = SelectiveClassifier(Perceptron(), Margin(b=0.5), random_state=0)
    >>> clf.fit(X, ["yes", "no", "no"]).ask(X).probabilities.round(2).tolist()
    [0.33, 0.33, 0.71]
    """

    b: float = 0.5
    RANGES: ClassVar = {"b": POSITIVE}

    def begin(self, d: int) -> "MarginState":
        return MarginState(float(self.b))


class MarginState(NamedTuple):
    b: float


@ask_probability.of(MarginState)
def margin_probability(query: MarginState, x: Row, forecast: Forecast) -> float:
    return query.b / (query.b + abs(forecast.margin))


advance.of(MarginState)(unmoved_by_choice)
observe.of(MarginState)(unmoved_by_label)


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
    >>> import numpy as np
    >>> from selectron import SelectiveClassifier
    >>> from selectron.queries import SecondOrderMargin
    >>> from selectron.updates import SecondOrder
    >>> X = np.array([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]])
    >>> clf = SelectiveClassifier(SecondOrder(), SecondOrderMargin(b=0.5), random_state=0)
    >>> clf.fit(X, ["yes", "no", "no"]).ask(X).probabilities.round(2).tolist()
    [0.55, 0.55, 0.88]
    """

    b: float = 0.5
    RANGES: ClassVar = {"b": POSITIVE}

    def begin(self, d: int) -> "SecondOrderMarginState":
        return SecondOrderMarginState(float(self.b))


class SecondOrderMarginState(NamedTuple):
    b: float


@ask_probability.of(SecondOrderMarginState)
def second_order_margin_probability(
    query: SecondOrderMarginState, x: Row, forecast: Forecast
) -> float:
    size = abs(forecast.margin)
    # A glance knows the largest variance only; without it the odds are never too small.
    spread = 1.0 + forecast.variance if forecast.exact else 1.0
    return query.b / (query.b + size + 0.5 * size * size * spread)


advance.of(SecondOrderMarginState)(unmoved_by_choice)
observe.of(SecondOrderMarginState)(unmoved_by_label)


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
    >>> from selectron import SelectiveClassifier
    >>> from selectron.queries import AdaptiveMargin
    >>> from selectron.updates import Perceptron
    >>> X = np.array([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]])
    >>> clf = SelectiveClassifier(Perceptron(), AdaptiveMargin(beta=1.0), random_state=0)
    >>> clf.fit(X, ["yes", "no", "no"]).ask(X).probabilities.round(2).tolist()
    [0.63, 0.63, 0.9]
    """

    beta: float = 1.0
    RANGES: ClassVar = {"beta": POSITIVE}

    def begin(self, d: int) -> "AdaptiveMarginState":
        return AdaptiveMarginState(float(self.beta), 0.0, 0)


class AdaptiveMarginState(NamedTuple):
    beta: float
    square_norm: float  # X²
    n_mistakes: int  # K: the mistakes seen


@ask_probability.of(AdaptiveMarginState)
def adaptive_probability(query: AdaptiveMarginState, x: Row, forecast: Forecast) -> float:
    largest = max(query.square_norm, square_norm(x))
    b = query.beta * largest * sqrt(1.0 + query.n_mistakes)
    return b / (b + abs(forecast.margin)) if b > 0.0 else 1.0


advance.of(AdaptiveMarginState)(unmoved_by_choice)


@observe.of(AdaptiveMarginState)
def adaptive_observe(
    query: AdaptiveMarginState, x: Row, forecast: Forecast, y: float
) -> AdaptiveMarginState:
    if y * forecast.margin > 0.0:
        return query
    largest = max(query.square_norm, square_norm(x))
    return AdaptiveMarginState(query.beta, largest, query.n_mistakes + 1)
