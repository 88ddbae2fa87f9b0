"""Passive-Aggressive for many classes [CDKSS06]: the smallest step that wins the lead."""

from typing import Any, NamedTuple

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import Row, add_scaled, square_norm
from selectron.protocol import ManyForecast, already_exact, glance, hypothesis, learn, predict
from selectron.updates.prototypes import rival_of, score


class ManyPassiveAggressiveState(NamedTuple):
    prototypes: Matrix  # (K, d)
    scores: Vector
    C: float
    squared: bool
    square_length: float
    norm: float
    n_updates: int


def fresh_many_passive_aggressive(
    d: int, dtype: Any, n_classes: int, C: float, squared: bool
) -> ManyPassiveAggressiveState:
    prototypes = np.zeros((n_classes, d), dtype)
    return ManyPassiveAggressiveState(prototypes, np.zeros(n_classes), C, squared, 0.0, 0.0, 0)


@glance.of(ManyPassiveAggressiveState)
def many_passive_aggressive_glance(update: ManyPassiveAggressiveState, x: Row) -> ManyForecast:
    found = score(x, update.prototypes, update.scores)
    return ManyForecast(found.margin, 1.0, update.norm, 0.0, True, found.best, found.second)


predict.of(ManyPassiveAggressiveState)(already_exact)


@learn.of(ManyPassiveAggressiveState)
def many_passive_aggressive_learn(
    update: ManyPassiveAggressiveState, x: Row, y: float, forecast: ManyForecast
) -> ManyPassiveAggressiveState:
    """Reach a lead of one over the best wrong class; the row stands in two prototypes."""
    label = int(y)
    rival = rival_of(label, forecast)
    ahead = update.scores[label] - update.scores[rival]
    loss = 1.0 - ahead
    size = 2.0 * square_norm(x)
    if loss <= 0.0 or size == 0.0:
        return update
    size_with_slack = size + 0.5 / update.C
    step = loss / size_with_slack if update.squared else min(update.C, loss / size)
    grown = update.square_length + step * (2.0 * ahead + step * size)
    grown = max(grown, 0.0)
    add_scaled(x, step, update.prototypes[label])
    add_scaled(x, -step, update.prototypes[rival])
    return update._replace(square_length=grown, norm=sqrt(grown), n_updates=update.n_updates + 1)


@hypothesis.of(ManyPassiveAggressiveState)
def many_passive_aggressive_hypothesis(update: ManyPassiveAggressiveState) -> Matrix:
    return update.prototypes
