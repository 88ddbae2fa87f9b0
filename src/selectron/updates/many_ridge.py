"""Ridge regression of many classes on 0/1 targets: one A⁻¹ for all, a zero row for a new class."""

from typing import NamedTuple

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.numeric.rows import Row, square_norm
from selectron.numeric.symmetric import downdate, image, quadratic_form
from selectron.protocol import ManyForecast, glance, hypothesis, learn, predict
from selectron.updates.covariance import SLACK, Covariance, positive_root, shared_covariance
from selectron.updates.prototypes import frobenius, score


class ManyRidgeState(NamedTuple):
    covariance: Covariance  # its weights are (K, d)
    scores: Vector
    a: float
    norm: float
    n_updates: int


def fresh_many_ridge(d: int, n_classes: int, a: float) -> ManyRidgeState:
    return ManyRidgeState(shared_covariance(d, n_classes, a), np.zeros(n_classes), a, 0.0, 0)


@glance.of(ManyRidgeState)
def many_ridge_glance(update: ManyRidgeState, x: Row) -> ManyForecast:
    found = score(x, update.covariance.weights, update.scores)
    most = SLACK * square_norm(x) / update.a
    unit = positive_root(most)
    return ManyForecast(found.margin, unit, update.norm, most, False, found.best, found.second)


@predict.of(ManyRidgeState)
def many_ridge_predict(update: ManyRidgeState, x: Row, seen: ManyForecast) -> ManyForecast:
    covariance = update.covariance
    variance = max(quadratic_form(x, covariance.A_inv, covariance.support), 0.0)
    unit = positive_root(variance)
    return ManyForecast(seen.margin, unit, update.norm, variance, True, seen.best, seen.second)


@learn.of(ManyRidgeState)
def many_ridge_learn(
    update: ManyRidgeState, x: Row, y: float, forecast: ManyForecast
) -> ManyRidgeState:
    label = int(y)
    weights, A_inv, g, _ = update.covariance
    image(x, A_inv, g)
    share = 1.0 / (1.0 + forecast.variance)
    for k in range(len(weights)):
        step = ((1.0 if k == label else 0.0) - update.scores[k]) * share
        row = weights[k]
        for i in range(len(row)):
            row[i] += step * g[i]
    downdate(A_inv, g, share)
    return update._replace(norm=frobenius(weights), n_updates=update.n_updates + 1)


@hypothesis.of(ManyRidgeState)
def many_ridge_hypothesis(update: ManyRidgeState) -> Matrix:
    return update.covariance.weights
