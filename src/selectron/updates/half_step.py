"""The half-step: least squares in O(d), half of the way at every label."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from selectron.arrays import Vector
from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import Row, add_scaled, dot, square_norm
from selectron.protocol import Forecast, already_exact, glance, hypothesis, learn, predict
from selectron.spec import FRACTION, UpdateRule
from selectron.updates.many_half_step import ManyHalfStepState, fresh_many_half_step


@dataclass(frozen=True)
class HalfStep(UpdateRule):
    """Go `rate` of the way from the margin to the label, unless the margin is beyond it.

    Made for rows of about unit length; on longer rows the step is cut so that it never overshoots.

    Parameters
    ----------
    rate : float
        Share of the residual in (0, 1] that a row of unit length removes.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron import SelectiveClassifier
    >>> from selectron.queries import Always
    >>> from selectron.updates import HalfStep
    >>> X = np.array([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]])
    >>> clf = SelectiveClassifier(HalfStep(), Always()).fit(X, ["yes", "no", "no"])
    >>> clf.coef_.round(3).tolist()
    [[-0.55, 0.7]]
    """

    rate: float = 0.5
    RANGES: ClassVar = {"rate": FRACTION}

    @property
    def by_products(self) -> bool:
        return True

    def begin(self, d: int, dtype: Any) -> "HalfStepState":
        return HalfStepState(np.zeros(d, dtype), float(self.rate), 0.0, 0.0, 0)

    def many(self, d: int, dtype: Any, n_classes: int) -> "ManyHalfStepState":
        return fresh_many_half_step(d, dtype, n_classes, float(self.rate))


class HalfStepState(NamedTuple):
    weights: Vector
    rate: float
    square_length: float
    norm: float
    n_updates: int


@glance.of(HalfStepState)
def half_step_glance(update: HalfStepState, x: Row) -> Forecast:
    return Forecast(dot(x, update.weights), 1.0, update.norm, 0.0, True)


predict.of(HalfStepState)(already_exact)


@learn.of(HalfStepState)
def half_step_learn(update: HalfStepState, x: Row, y: float, forecast: Forecast) -> HalfStepState:
    if y * forecast.margin >= 1.0:
        return update
    size = square_norm(x)
    step = update.rate * (y - forecast.margin) / max(1.0, update.rate * size)
    grown = update.square_length + step * (2.0 * forecast.margin + step * size)
    grown = max(grown, 0.0)
    add_scaled(x, step, update.weights)
    return HalfStepState(update.weights, update.rate, grown, sqrt(grown), update.n_updates + 1)


@hypothesis.of(HalfStepState)
def half_step_hypothesis(update: HalfStepState) -> Vector:
    return update.weights
