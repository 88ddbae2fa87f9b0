"""A Bayesian probit learner by assumed-density filtering, which tunes its own noise."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from selectron.dispatch import helper
from selectron.numeric.arrays import Vector
from selectron.numeric.elementary import exponential
from selectron.numeric.normal import normal_density, normal_distribution
from selectron.numeric.root import root
from selectron.numeric.rows import Row, dot, square_norm
from selectron.numeric.symmetric import downdate, image, quadratic_form
from selectron.protocol import Forecast, glance, hypothesis, learn, predict
from selectron.spec import UpdateRule
from selectron.updates.covariance import SLACK, Covariance, fresh_covariance, length, positive_root

FIRST_BLUR, LEAST_BLUR, MOST_BLUR = 0.3, 1e-12, 4.0
FLIPS_BEFORE, LABELS_BEFORE, MOST_FLIPS = 2.0, 20.0, 0.4  # a prior of 2 wrong labels in 20
DEEPEST = -30.0  # standard deviations on the wrong side that a label is believed to be


@dataclass(frozen=True)
class Probit(UpdateRule):
    """Keep a Gaussian belief (w, V) about the separator, and match moments at every label.

    A label is +1 with probability fl + (1 - 2fl) Φ(w.x/√(r + ν)), r = xᵀVx. Late labels near the
    boundary count for more as the belief narrows, where least squares weighs them like the first
    ones: that brings the number of labels down to the order of d log(1/ε). The blur ν falls while
    labels are consistent, the flip rate fl is estimated as it goes: there is nothing to set.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron import SelectiveClassifier
    >>> from selectron.queries import Always
    >>> from selectron.updates import Probit
    >>> X = np.array([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]])
    >>> clf = SelectiveClassifier(Probit(), Always()).fit(X, ["yes", "no", "no"])
    >>> clf.coef_.round(3).tolist()
    [[-0.521, 0.784]]
    """

    def begin(self, d: int, dtype: Any) -> "ProbitState":
        return ProbitState(fresh_covariance(d, 1.0), fresh_noise(), 0.0, 0)


class Noise(NamedTuple):
    """What is believed of the labels."""

    blur: float  # ν: the variance of a label about the separator
    flips: float  # the labels so far that were flipped, by their probability
    n_labels: int


class ProbitState(NamedTuple):
    covariance: Covariance  # A_inv is V
    noise: Noise
    norm: float
    n_updates: int


class Lesson(NamedTuple):
    """What a label does to the belief: along g = Vx, by `step`, narrower by `share`."""

    step: float
    share: float
    noise: Noise


def fresh_noise() -> Noise:
    return Noise(FIRST_BLUR, 0.0, 0)


@helper
def flip_rate(noise: Noise) -> float:
    return min(MOST_FLIPS, (FLIPS_BEFORE + noise.flips) / (LABELS_BEFORE + noise.n_labels))


@helper
def moments(noise: Noise, y: float, forecast: Forecast) -> Lesson:
    """Match the moments of the belief after a label y, and tune the noise by it."""
    flip = flip_rate(noise)
    spread = max(forecast.variance, LEAST_BLUR) + noise.blur
    z = max(y * forecast.margin / root(spread), DEEPEST)
    right = normal_distribution(z)
    evidence = flip + (1.0 - 2.0 * flip) * right
    slope = (1.0 - 2.0 * flip) * normal_density(z) / evidence
    curvature = min(max(slope * (slope + z), 0.0), 1.0)
    blur = noise.blur
    if noise.n_labels > 0:
        # The expected change is 0 when the labels are as blurred as is believed.
        surprise = min(max(-slope * z, -1.0), 1.0)
        blur = min(max(blur * exponential(surprise), LEAST_BLUR), MOST_BLUR)
    flips = noise.flips + flip * (1.0 - right) / evidence
    tuned = Noise(blur, flips, noise.n_labels + 1)
    return Lesson(y * slope / root(spread), curvature / spread, tuned)


@glance.of(ProbitState)
def probit_glance(update: ProbitState, x: Row) -> Forecast:
    most = SLACK * square_norm(x)
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
    return ProbitState(update.covariance, lesson.noise, length(weights), update.n_updates + 1)


@hypothesis.of(ProbitState)
def probit_hypothesis(update: ProbitState) -> Vector:
    return update.covariance.weights
