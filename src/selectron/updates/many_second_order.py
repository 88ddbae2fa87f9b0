"""The second-order Perceptron [CBGZ06] for many classes: one A⁻¹ for all prototypes."""

from typing import NamedTuple

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.numeric.rows import Row, square_norm
from selectron.numeric.symmetric import downdate, image, quadratic_form
from selectron.protocol import ManyForecast, glance, hypothesis, learn, predict
from selectron.updates.covariance import SLACK, Covariance, positive_root, shared_covariance
from selectron.updates.prototypes import frobenius, rival_of, score


class ManySecondOrderState(NamedTuple):
    covariance: Covariance  # its weights are (K, d)
    scores: Vector
    a: float
    norm: float
    n_updates: int


def fresh_many_second_order(d: int, n_classes: int, a: float) -> ManySecondOrderState:
    return ManySecondOrderState(shared_covariance(d, n_classes, a), np.zeros(n_classes), a, 0.0, 0)


@glance.of(ManySecondOrderState)
def many_second_order_glance(update: ManySecondOrderState, x: Row) -> ManyForecast:
    """By Sherman-Morrison every score is divided by 1 + r, with 0 <= r <= |x|²/a."""
    found = score(x, update.covariance.weights, update.scores)
    most = SLACK * square_norm(x) / update.a
    margin, unit = found.margin / (1.0 + most), positive_root(most)
    return ManyForecast(margin, unit, update.norm, most, False, found.best, found.second)


@predict.of(ManySecondOrderState)
def many_second_order_predict(
    update: ManySecondOrderState, x: Row, seen: ManyForecast
) -> ManyForecast:
    covariance, scores = update.covariance, update.scores
    variance = max(quadratic_form(x, covariance.A_inv, covariance.support), 0.0)
    margin = (scores[seen.best] - scores[seen.second]) / (1.0 + variance)
    unit = positive_root(variance)
    return ManyForecast(margin, unit, update.norm, variance, True, seen.best, seen.second)


@learn.of(ManySecondOrderState)
def many_second_order_learn(
    update: ManySecondOrderState, x: Row, y: float, forecast: ManyForecast
) -> ManySecondOrderState:
    label = int(y)
    rival = rival_of(label, forecast)
    if update.scores[label] - update.scores[rival] > 0.0:
        return update
    weights, A_inv, g, _ = update.covariance
    image(x, A_inv, g)
    share = 1.0 / (1.0 + forecast.variance)
    for k in range(len(weights)):
        # v of the label grows by x, that of the rival falls by x, and A grows by x xᵀ for all.
        added = 1.0 if k == label else -1.0 if k == rival else 0.0
        step = (added - update.scores[k]) * share
        row = weights[k]
        for i in range(len(row)):
            row[i] += step * g[i]
    downdate(A_inv, g, share)
    return update._replace(norm=frobenius(weights), n_updates=update.n_updates + 1)


@hypothesis.of(ManySecondOrderState)
def many_second_order_hypothesis(update: ManySecondOrderState) -> Matrix:
    return update.covariance.weights
