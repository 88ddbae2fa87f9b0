"""A Bayesian probit learner by assumed-density filtering, which tunes its own noise."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from selectron.arrays import Vector
from selectron.numeric.rows import Row, add_scaled, dot, square_norm
from selectron.numeric.symmetric import downdate, image, quadratic_form
from selectron.protocol import Forecast, glance, hypothesis, learn, predict, warm_up
from selectron.spec import Range, UpdateRule
from selectron.updates.covariance import SLACK, Covariance, fresh_covariance, length, positive_root
from selectron.updates.leaning import LEAN, Leaning, first_blur, leant
from selectron.updates.low_rank import LowRankState, fresh_low_rank
from selectron.updates.moments import LEAST_BLUR, Noise, fresh_noise, moments

FULL = 0


@dataclass(frozen=True)
class Probit(UpdateRule):
    """Keep a Gaussian belief (w, V) about the separator, and match moments at every label.

    A label is +1 with probability fl + (1 - 2fl) Φ(w.x/√(r + ν)), r = xᵀVx. Late labels near the
    boundary count for more as the belief narrows, where least squares weighs them like the first
    ones: that brings the number of labels down to the order of d log(1/ε). The blur ν falls while
    labels are consistent, the flip rate fl is estimated as it goes: there is nothing to set.
    A scaling that warms up on rows without labels makes V lean to the directions in which
    those spread: I + 0.06 times the sum of their x xᵀ.

    Parameters
    ----------
    rank : int
        0 keeps the whole of V, d x d numbers. Otherwise V is known in the directions of the first
        `rank` labels, and is the identity elsewhere: for wide rows.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron import SelectiveClassifier
    >>> from selectron.queries import Always
    >>> from selectron.updates import Probit
    >>> X = np.array([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]])
    >>> clf = SelectiveClassifier(Probit(), Always()).fit(X, ["yes", "no", "no"])
    >>> clf.coef_.round(3).tolist()
    [[-0.539, 0.882]]
    """

    rank: int = FULL
    RANGES: ClassVar = {"rank": Range(0, 10_000)}

    @property
    def by_products(self) -> bool:
        return self.rank != FULL

    def begin(self, d: int, dtype: Any) -> "ProbitState | LowRankState":
        if self.rank != FULL:
            return fresh_low_rank(d, int(self.rank))
        nothing_heeded = Leaning(0, 0.0, 0.0, 1.0)
        return ProbitState(fresh_covariance(d, 1.0), fresh_noise(), nothing_heeded, 0.0, 0)


class ProbitState(NamedTuple):
    covariance: Covariance  # A_inv is V
    noise: Noise
    leaning: Leaning
    norm: float
    n_updates: int


@warm_up.of(ProbitState)
def probit_heed(update: ProbitState, x: Row) -> ProbitState:
    if update.n_updates > 0:  # labels have shaped the belief already
        return update
    V, g = update.covariance.A_inv, update.covariance.image
    variance = quadratic_form(x, V, update.covariance.support)
    leaning = leant(update.leaning, square_norm(x), variance)
    g[:] = 0.0
    add_scaled(x, 1.0, g)
    downdate(V, g, -LEAN)
    noise = Noise(first_blur(leaning), update.noise.flips, update.noise.n_labels)
    return update._replace(noise=noise, leaning=leaning)


@glance.of(ProbitState)
def probit_glance(update: ProbitState, x: Row) -> Forecast:
    most = SLACK * update.leaning.most * square_norm(x)
    margin = dot(x, update.covariance.weights)
    return Forecast(margin, positive_root(most), update.norm, most, False)


@predict.of(ProbitState)
def probit_predict(update: ProbitState, x: Row, seen: Forecast) -> Forecast:
    covariance = update.covariance
    variance = max(quadratic_form(x, covariance.A_inv, covariance.support), LEAST_BLUR)
    return Forecast(seen.margin, positive_root(variance), update.norm, variance, True)


@learn.of(ProbitState)
def probit_learn(update: ProbitState, x: Row, y: float, forecast: Forecast) -> ProbitState:
    weights, V, g, _ = update.covariance
    lesson = moments(update.noise, y, forecast)
    image(x, V, g)
    for i in range(len(weights)):
        weights[i] += lesson.step * g[i]
    downdate(V, g, lesson.share)
    return ProbitState(
        update.covariance, lesson.noise, update.leaning, length(weights), update.n_updates + 1
    )


@hypothesis.of(ProbitState)
def probit_hypothesis(update: ProbitState) -> Vector:
    return update.covariance.weights
