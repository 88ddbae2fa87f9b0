"""The half-step for many classes: 0/1 targets, so that a class never seen is a row of zeros."""

from typing import Any, NamedTuple

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import Row, add_scaled, square_norm
from selectron.protocol import ManyForecast, already_exact, glance, hypothesis, learn, predict
from selectron.updates.prototypes import score


class ManyHalfStepState(NamedTuple):
    prototypes: Matrix  # (K, d)
    scores: Vector
    rate: float
    square_length: float
    norm: float
    n_updates: int


def fresh_many_half_step(d: int, dtype: Any, n_classes: int, rate: float) -> ManyHalfStepState:
    prototypes = np.zeros((n_classes, d), dtype)
    return ManyHalfStepState(prototypes, np.zeros(n_classes), rate, 0.0, 0.0, 0)


@glance.of(ManyHalfStepState)
def many_half_step_glance(update: ManyHalfStepState, x: Row) -> ManyForecast:
    found = score(x, update.prototypes, update.scores)
    return ManyForecast(found.margin, 1.0, update.norm, 0.0, True, found.best, found.second)


predict.of(ManyHalfStepState)(already_exact)


@learn.of(ManyHalfStepState)
def many_half_step_learn(
    update: ManyHalfStepState, x: Row, y: float, forecast: ManyForecast
) -> ManyHalfStepState:
    """Go `rate` of the way from each score to its target, unless it is beyond."""
    label = int(y)
    size = square_norm(x)
    rate = update.rate / max(1.0, update.rate * size)
    grown, moved = update.square_length, 0
    for k in range(len(update.scores)):
        now = update.scores[k]
        step = rate * (max(1.0 - now, 0.0) if k == label else min(-now, 0.0))
        if step != 0.0:
            grown += step * (2.0 * now + step * size)
            add_scaled(x, step, update.prototypes[k])
            moved += 1
    if moved == 0:
        return update
    grown = max(grown, 0.0)
    return update._replace(square_length=grown, norm=sqrt(grown), n_updates=update.n_updates + 1)


@hypothesis.of(ManyHalfStepState)
def many_half_step_hypothesis(update: ManyHalfStepState) -> Matrix:
    return update.prototypes
