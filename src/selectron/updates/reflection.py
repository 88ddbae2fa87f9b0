"""The modified Perceptron [DKM09]: on a mistake, mirror the hypothesis."""

from dataclasses import dataclass
from math import nan
from typing import Any, ClassVar, NamedTuple

import numpy as np

from selectron.arrays import Vector
from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import Row, add_scaled, dot, square_norm
from selectron.protocol import Forecast, already_exact, glance, hypothesis, learn, predict
from selectron.spec import Range, UpdateRule
from selectron.updates.many_reflection import ManyReflectionState, fresh_many_reflection


@dataclass(frozen=True)
class Reflection(UpdateRule):
    """Step alpha |v.x| towards y x on a mistake, from v = y₁x₁ ([DKM09], Figure 2 and section 5).

    The rows must have unit length; others are scaled to it. At alpha = 2 the hypothesis is
    reflected and keeps its length of one; the error never rises for any alpha in (0, 2].

    Parameters
    ----------
    alpha : float
        Relaxation in (0, 2]: 2 reflects, 1 projects.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron import SelectiveClassifier
    >>> from selectron.queries import Always
    >>> from selectron.updates import Reflection
    >>> X = np.array([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]])
    >>> clf = SelectiveClassifier(Reflection(), Always()).fit(X, ["yes", "no", "no"])
    >>> clf.coef_.round(3).tolist()
    [[-0.6, 0.8]]
    """

    alpha: float = 2.0
    UNIT_ROWS: ClassVar = True
    RANGES: ClassVar = {"alpha": Range(0.0, 2.0, low_open=True)}

    @property
    def by_products(self) -> bool:
        return True

    def begin(self, d: int, dtype: Any) -> "ReflectionState":
        return ReflectionState(np.zeros(d, dtype), float(self.alpha), 0.0, 0.0, 0)

    def many(self, d: int, dtype: Any, n_classes: int) -> "ManyReflectionState":
        return fresh_many_reflection(d, dtype, n_classes, float(self.alpha))


class ReflectionState(NamedTuple):
    weights: Vector
    alpha: float
    square_length: float
    norm: float
    n_updates: int


@glance.of(ReflectionState)
def reflection_glance(update: ReflectionState, x: Row) -> Forecast:
    length = sqrt(square_norm(x))
    # A row without a direction has no margin; the pass refuses it.
    margin = dot(x, update.weights) / length if length != 0.0 else nan
    norm = update.norm
    return Forecast(margin, norm if norm > 0.0 else 1.0, norm, 0.0, True)


predict.of(ReflectionState)(already_exact)


@learn.of(ReflectionState)
def reflection_learn(
    update: ReflectionState, x: Row, y: float, forecast: Forecast
) -> ReflectionState:
    length = sqrt(square_norm(x))
    weights, alpha, margin = update.weights, update.alpha, forecast.margin
    if update.n_updates == 0:
        add_scaled(x, y / length, weights)
        return ReflectionState(weights, alpha, 1.0, 1.0, 1)
    if y * margin >= 0.0:
        return update
    add_scaled(x, -alpha * margin / length, weights)
    shrunk = update.square_length - alpha * (2.0 - alpha) * margin * margin
    shrunk = max(shrunk, 0.0)
    return ReflectionState(weights, alpha, shrunk, sqrt(shrunk), update.n_updates + 1)


@hypothesis.of(ReflectionState)
def reflection_hypothesis(update: ReflectionState) -> Vector:
    return update.weights
