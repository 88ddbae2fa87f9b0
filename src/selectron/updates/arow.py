"""AROW [CKD09]: adaptive regularisation of weights, with the full covariance."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from selectron.arrays import Vector
from selectron.numeric.rows import Row, dot, square_norm
from selectron.numeric.symmetric import downdate, image, quadratic_form
from selectron.protocol import Forecast, glance, hypothesis, learn, predict
from selectron.spec import POSITIVE, UpdateRule
from selectron.updates.covariance import SLACK, Covariance, fresh_covariance, length, positive_root


@dataclass(frozen=True)
class Arow(UpdateRule):
    """Reach for margin one, by less along directions already known ([CKD09], Figure 1).

    Parameters
    ----------
    r : float
        > 0: the larger, the smaller the steps and the slower the variance falls.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron import SelectiveClassifier
    >>> from selectron.queries import Always
    >>> from selectron.updates import Arow
    >>> X = np.array([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]])
    >>> clf = SelectiveClassifier(Arow(r=2.0), Always()).fit(X, ["yes", "no", "no"])
    >>> clf.coef_.round(3).tolist()
    [[-0.3, 0.467]]
    """

    r: float = 1.0
    RANGES: ClassVar = {"r": POSITIVE}

    def begin(self, d: int, dtype: Any) -> "ArowState":
        return ArowState(fresh_covariance(d, 1.0), float(self.r), 0.0, 0)


class ArowState(NamedTuple):
    covariance: Covariance  # A_inv is Σ of the paper
    r: float
    norm: float
    n_updates: int


@glance.of(ArowState)
def arow_glance(update: ArowState, x: Row) -> Forecast:
    most = SLACK * square_norm(x)
    margin = dot(x, update.covariance.weights)
    return Forecast(margin, positive_root(most), update.norm, most, False)


@predict.of(ArowState)
def arow_predict(update: ArowState, x: Row, seen: Forecast) -> Forecast:
    covariance = update.covariance
    variance = max(quadratic_form(x, covariance.A_inv, covariance.support), 0.0)
    return Forecast(seen.margin, positive_root(variance), update.norm, variance, True)


@learn.of(ArowState)
def arow_learn(update: ArowState, x: Row, y: float, forecast: Forecast) -> ArowState:
    loss = 1.0 - y * forecast.margin
    if loss <= 0.0:
        return update
    weights, sigma, g, _ = update.covariance
    image(x, sigma, g)
    share = 1.0 / (forecast.variance + update.r)
    step = y * loss * share
    for i in range(len(weights)):
        weights[i] += step * g[i]
    downdate(sigma, g, share)
    return ArowState(update.covariance, update.r, length(weights), update.n_updates + 1)


@hypothesis.of(ArowState)
def arow_hypothesis(update: ArowState) -> Vector:
    return update.covariance.weights
