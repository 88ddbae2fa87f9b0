"""Ask where the vote is close, at a given rate on the average."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from selectron.compiler.verbs import helper
from selectron.numeric.elementary import exponential
from selectron.numeric.rows import Row
from selectron.protocol import (
    Forecast,
    advance,
    ask_probability,
    in_file,
    observe,
    unmoved_by_label,
)
from selectron.spec import FRACTION, POSITIVE, QueryRule, Range, State

LEAST_WIDTH, MOST_WIDTH = 1e-6, 1e6  # the width comes back from either in some thousand rounds


@dataclass(frozen=True)
class ByMargin(QueryRule):
    """Ask with odds max(floor, q / (q + |s|)), s the margin; q is steered to the wanted rate.

    After every round q *= exp(step · (rate - asked)). The floor bounds the weight 1/odds of a label
    and sees to it that certainty about what is no longer true is found out.

    Parameters
    ----------
    rate : float
        Share of the labels wanted, in (0, 1].
    step : float
        How fast q is steered, > 0.
    floor : float
        Least odds, in (0, 1].
    start : float
        q before the first round, > 0.
    sharp : bool
        Whether the odds are max(floor, q² / (q² + s²)), which keep more closely to small margins.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron.tracking import ByMargin, TrackingClassifier
    >>> from selectron.updates import Perceptron
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((4000, 5))
    >>> clf = TrackingClassifier([Perceptron()], query=ByMargin(rate=0.05))
    >>> clf = clf.fit(X, X[:, 0] > 0)
    >>> print(clf.n_asked_)
    349
    """

    rate: float = 0.1
    step: float = 0.02
    floor: float = 0.025
    start: float = 1.0
    sharp: bool = False
    RANGES: ClassVar = {
        "rate": FRACTION,
        "step": POSITIVE,
        "floor": FRACTION,
        "start": Range(LEAST_WIDTH, MOST_WIDTH),
    }

    def begin(self, d: int) -> "ByMarginState | SharpState":
        up = exponential(self.step * self.rate)
        down = exponential(self.step * (self.rate - 1.0))
        kind = SharpState if self.sharp else ByMarginState
        return kind(float(self.start), float(up), float(down), float(self.floor))


class ByMarginState(NamedTuple):
    width: float  # q
    up: float  # its factor after a round without a question
    down: float  # and after one with
    floor: float


class SharpState(NamedTuple):
    width: float
    up: float
    down: float
    floor: float


@helper
def odds_within(width: float, margin: float, floor: float) -> float:
    return max(floor, width / (width + abs(margin)))


@ask_probability.of(ByMarginState)
def by_margin_probability(query: ByMarginState, x: Row, forecast: Forecast) -> float:
    return odds_within(query.width, forecast.margin, query.floor)


@ask_probability.of(SharpState)
def sharp_probability(query: SharpState, x: Row, forecast: Forecast) -> float:
    width, margin = query.width, forecast.margin
    return odds_within(width * width, margin * margin, query.floor)


@advance.of(ByMarginState, SharpState)
def by_margin_advance(query: State, forecast: Forecast, asked: bool) -> State:
    width = query.width * (query.down if asked else query.up)
    return query._replace(width=min(max(width, LEAST_WIDTH), MOST_WIDTH))


observe.of(ByMarginState, SharpState)(unmoved_by_label)

for state in (ByMarginState, SharpState):
    in_file(state, "up", "down", "floor", width=Range(LEAST_WIDTH, MOST_WIDTH))
