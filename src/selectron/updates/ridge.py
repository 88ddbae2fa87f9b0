"""Ridge regression on every label that was asked."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from selectron.arrays import Vector
from selectron.numeric.rows import Row, dot, square_norm
from selectron.numeric.symmetric import downdate, image, quadratic_form
from selectron.protocol import Forecast, glance, hypothesis, learn, predict
from selectron.spec import POSITIVE, UpdateRule
from selectron.updates.covariance import SLACK, Covariance, fresh_covariance, length, positive_root
from selectron.updates.many_ridge import ManyRidgeState, fresh_many_ridge


@dataclass(frozen=True)
class Ridge(UpdateRule):
    """Keep w = A⁻¹ Σ y x with A = a I + Σ x xᵀ, over all labels asked, right or wrong.

    Learning from right answers too is what saves most labels: the second-order Perceptron, which
    learns on mistakes only, needs more than twice as many.

    Parameters
    ----------
    a : float
        Regularisation > 0.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron import SelectiveClassifier
    >>> from selectron.queries import Always
    >>> from selectron.updates import Ridge
    >>> X = np.array([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]])
    >>> clf = SelectiveClassifier(Ridge(a=2.0), Always()).fit(X, ["yes", "no", "no"])
    >>> clf.coef_.round(3).tolist()
    [[-0.3, 0.467]]
    """

    a: float = 1.0
    RANGES: ClassVar = {"a": POSITIVE}

    def begin(self, d: int, dtype: Any) -> "RidgeState":
        return RidgeState(fresh_covariance(d, self.a), float(self.a), 0.0, 0)

    def many(self, d: int, dtype: Any, n_classes: int) -> "ManyRidgeState":
        return fresh_many_ridge(d, n_classes, float(self.a))


class RidgeState(NamedTuple):
    covariance: Covariance
    a: float
    norm: float
    n_updates: int


@glance.of(RidgeState)
def ridge_glance(update: RidgeState, x: Row) -> Forecast:
    most = SLACK * square_norm(x) / update.a
    margin = dot(x, update.covariance.weights)
    return Forecast(margin, positive_root(most), update.norm, most, False)


@predict.of(RidgeState)
def ridge_predict(update: RidgeState, x: Row, seen: Forecast) -> Forecast:
    covariance = update.covariance
    variance = max(quadratic_form(x, covariance.A_inv, covariance.support), 0.0)
    return Forecast(seen.margin, positive_root(variance), update.norm, variance, True)


@learn.of(RidgeState)
def ridge_learn(update: RidgeState, x: Row, y: float, forecast: Forecast) -> RidgeState:
    weights, A_inv, g, _ = update.covariance
    image(x, A_inv, g)
    share = 1.0 / (1.0 + forecast.variance)
    step = (y - forecast.margin) * share
    for i in range(len(weights)):
        weights[i] += step * g[i]
    downdate(A_inv, g, share)
    return RidgeState(update.covariance, update.a, length(weights), update.n_updates + 1)


@hypothesis.of(RidgeState)
def ridge_hypothesis(update: RidgeState) -> Vector:
    return update.covariance.weights
