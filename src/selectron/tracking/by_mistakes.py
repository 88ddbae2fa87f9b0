"""Ask more where labels surprise: the questions follow the drift."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from selectron.numeric.elementary import exponential
from selectron.numeric.rows import Row
from selectron.protocol import (
    Forecast,
    advance,
    ask_probability,
    in_file,
    observe,
    unmoved_by_choice,
)
from selectron.spec import FRACTION, POSITIVE, QueryRule
from selectron.tracking.by_margin import MOST_WIDTH, odds_within


@dataclass(frozen=True)
class ByMistakes(QueryRule):
    """Ask with odds max(floor, q / (q + |s|)), s the margin; q grows with every mistake seen.

    A label asked that shows a mistake multiplies q by e^grow, any other by e^-shrink: q rests where
    a share shrink / (grow + shrink) of the labels asked are surprises.

    Parameters
    ----------
    grow, shrink : float
        Steps of log q after a mistake and after a right prediction, > 0.
    floor : float
        Least odds, in (0, 1].
    least : float
        Least q, > 0: below it a long calm would have to be paid back in mistakes before the
        questions follow again.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron.tracking import ByMistakes, TrackingClassifier
    >>> from selectron.updates import Perceptron
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((4000, 5))
    >>> clf = TrackingClassifier([Perceptron()], query=ByMistakes())
    >>> clf = clf.fit(X, X[:, 0] > 0)
    >>> print(clf.n_asked_)
    206
    """

    grow: float = 0.3
    shrink: float = 0.1
    floor: float = 0.02
    least: float = 0.01
    RANGES: ClassVar = {"grow": POSITIVE, "shrink": POSITIVE, "floor": FRACTION, "least": POSITIVE}

    def begin(self, d: int) -> "ByMistakesState":
        up, down = exponential(float(self.grow)), exponential(-float(self.shrink))
        return ByMistakesState(1.0, float(up), float(down), float(self.floor), float(self.least))


class ByMistakesState(NamedTuple):
    width: float  # q
    up: float
    down: float
    floor: float
    least: float


@ask_probability.of(ByMistakesState)
def by_mistakes_probability(query: ByMistakesState, x: Row, forecast: Forecast) -> float:
    return odds_within(query.width, forecast.margin, query.floor)


@observe.of(ByMistakesState)
def by_mistakes_observe(
    query: ByMistakesState, x: Row, forecast: Forecast, y: float
) -> ByMistakesState:
    mistaken = (forecast.margin > 0.0) != (y > 0.0)
    width = query.width * (query.up if mistaken else query.down)
    return query._replace(width=min(max(width, query.least), MOST_WIDTH))


advance.of(ByMistakesState)(unmoved_by_choice)

in_file(ByMistakesState, "up", "down", "floor", "least", width=POSITIVE)
