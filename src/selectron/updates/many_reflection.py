"""The modified Perceptron [DKM09] for many classes: all prototypes as one vector are mirrored.

A row x of class y that is taken for class p stands for x in the place of y and -x in the place of
p: a vector of length √2 on whose right side the stacked prototypes shall be.
"""

from math import nan
from typing import Any, NamedTuple

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import Row, add_scaled, square_norm
from selectron.protocol import ManyForecast, already_exact, glance, hypothesis, learn, predict
from selectron.updates.prototypes import rival_of, score

HALF_ROOT = 1.0 / sqrt(2.0)


class ManyReflectionState(NamedTuple):
    prototypes: Matrix  # (K, d)
    scores: Vector
    alpha: float
    square_length: float
    norm: float
    n_updates: int


def fresh_many_reflection(d: int, dtype: Any, n_classes: int, alpha: float) -> ManyReflectionState:
    prototypes = np.zeros((n_classes, d), dtype)
    return ManyReflectionState(prototypes, np.zeros(n_classes), alpha, 0.0, 0.0, 0)


@glance.of(ManyReflectionState)
def many_reflection_glance(update: ManyReflectionState, x: Row) -> ManyForecast:
    found = score(x, update.prototypes, update.scores)
    length = sqrt(square_norm(x))
    # A row without a direction has no margin; the pass refuses it.
    margin = found.margin / length if length != 0.0 else nan
    norm = update.norm
    unit = norm if norm > 0.0 else 1.0
    return ManyForecast(margin, unit, norm, 0.0, True, found.best, found.second)


predict.of(ManyReflectionState)(already_exact)


@learn.of(ManyReflectionState)
def many_reflection_learn(
    update: ManyReflectionState, x: Row, y: float, forecast: ManyForecast
) -> ManyReflectionState:
    label = int(y)
    rival = rival_of(label, forecast)
    prototypes, alpha = update.prototypes, update.alpha
    length = sqrt(square_norm(x))
    behind = (update.scores[rival] - update.scores[label]) / length
    first = update.n_updates == 0
    if behind <= 0.0 and not first:
        return update
    step = HALF_ROOT if first else 0.5 * alpha * behind
    add_scaled(x, step / length, prototypes[label])
    add_scaled(x, -step / length, prototypes[rival])
    shrunk = 1.0
    if not first:
        shrunk = update.square_length - 0.5 * alpha * (2.0 - alpha) * behind * behind
        shrunk = max(shrunk, 0.0)
    return update._replace(square_length=shrunk, norm=sqrt(shrunk), n_updates=update.n_updates + 1)


@hypothesis.of(ManyReflectionState)
def many_reflection_hypothesis(update: ManyReflectionState) -> Matrix:
    return update.prototypes
