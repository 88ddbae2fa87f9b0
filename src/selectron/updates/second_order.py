"""The second-order Perceptron [CBGZ06]: a Perceptron in the metric of its past mistakes.

With sums over the rounds where an update was made, v = Σ y x and A = a I + Σ x xᵀ. We keep A⁻¹ and
w = A⁻¹v, so that the sign of the margin costs O(d).
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from selectron.arrays import Vector
from selectron.numeric.rows import Row, dot, square_norm
from selectron.numeric.symmetric import downdate, image, quadratic_form
from selectron.protocol import Forecast, glance, hypothesis, learn, predict
from selectron.spec import POSITIVE, UpdateRule
from selectron.updates.covariance import SLACK, Covariance, fresh_covariance, length, positive_root
from selectron.updates.many_second_order import ManySecondOrderState, fresh_many_second_order


@dataclass(frozen=True)
class SecondOrder(UpdateRule):
    """Predict with vᵀ(A + xxᵀ)⁻¹x and learn on mistakes ([CBGZ06], Figure 3).

    Parameters
    ----------
    a : float
        A starts at a I, a > 0; the paper has a = 1.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron import SelectiveClassifier
    >>> from selectron.queries import Always
    >>> from selectron.updates import SecondOrder
    >>> X = np.array([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]])
    >>> clf = SelectiveClassifier(SecondOrder(), Always()).fit(X, ["yes", "no", "no"])
    >>> clf.coef_.round(3).tolist()
    [[-0.1, 0.7]]
    """

    a: float = 1.0
    RANGES: ClassVar = {"a": POSITIVE}

    def begin(self, d: int, dtype: Any) -> "SecondOrderState":
        return SecondOrderState(fresh_covariance(d, self.a), float(self.a), 0.0, 0)

    def many(self, d: int, dtype: Any, n_classes: int) -> "ManySecondOrderState":
        return fresh_many_second_order(d, n_classes, float(self.a))


class SecondOrderState(NamedTuple):
    covariance: Covariance
    a: float
    norm: float
    n_updates: int


@glance.of(SecondOrderState)
def second_order_glance(update: SecondOrderState, x: Row) -> Forecast:
    """By Sherman-Morrison the margin is w.x / (1 + r), with 0 <= r <= |x|²/a."""
    most = SLACK * square_norm(x) / update.a
    margin = dot(x, update.covariance.weights) / (1.0 + most)
    return Forecast(margin, positive_root(most), update.norm, most, False)


@predict.of(SecondOrderState)
def second_order_predict(update: SecondOrderState, x: Row, seen: Forecast) -> Forecast:
    covariance = update.covariance
    variance = max(quadratic_form(x, covariance.A_inv, covariance.support), 0.0)
    margin = dot(x, covariance.weights) / (1.0 + variance)
    return Forecast(margin, positive_root(variance), update.norm, variance, True)


@learn.of(SecondOrderState)
def second_order_learn(
    update: SecondOrderState, x: Row, y: float, forecast: Forecast
) -> SecondOrderState:
    if y * forecast.margin > 0.0:
        return update
    weights, A_inv, g, _ = update.covariance
    image(x, A_inv, g)
    share = 1.0 / (1.0 + forecast.variance)
    # v grows by y x as A grows by x xᵀ: w moves along g = A⁻¹x.
    step = y * share - forecast.margin
    for i in range(len(weights)):
        weights[i] += step * g[i]
    downdate(A_inv, g, share)
    return SecondOrderState(update.covariance, update.a, length(weights), update.n_updates + 1)


@hypothesis.of(SecondOrderState)
def second_order_hypothesis(update: SecondOrderState) -> Vector:
    return update.covariance.weights
