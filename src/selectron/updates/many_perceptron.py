"""The Perceptron of many classes [SS05]: up goes the right prototype, down the best wrong one."""

from typing import Any, NamedTuple

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import Row, add_scaled, square_norm
from selectron.protocol import ManyForecast, already_exact, glance, hypothesis, learn, predict
from selectron.updates.prototypes import rival_of, score


class ManyPerceptronState(NamedTuple):
    prototypes: Matrix  # (K, d)
    scores: Vector
    eta: float
    square_length: float
    norm: float
    n_updates: int


def fresh_many_perceptron(d: int, dtype: Any, n_classes: int, eta: float) -> ManyPerceptronState:
    return ManyPerceptronState(
        np.zeros((n_classes, d), dtype), np.zeros(n_classes), eta, 0.0, 0.0, 0
    )


@glance.of(ManyPerceptronState)
def many_perceptron_glance(update: ManyPerceptronState, x: Row) -> ManyForecast:
    found = score(x, update.prototypes, update.scores)
    norm = update.norm
    unit = norm if norm > 0.0 else 1.0
    return ManyForecast(found.margin, unit, norm, 0.0, True, found.best, found.second)


predict.of(ManyPerceptronState)(already_exact)


@learn.of(ManyPerceptronState)
def many_perceptron_learn(
    update: ManyPerceptronState, x: Row, y: float, forecast: ManyForecast
) -> ManyPerceptronState:
    """Follow [SS05], equation (18); a tie counts as a mistake, as it does with two classes."""
    label = int(y)
    rival = rival_of(label, forecast)
    ahead = update.scores[label] - update.scores[rival]
    if ahead > 0.0:
        return update
    step = update.eta
    grown = update.square_length + 2.0 * step * (ahead + step * square_norm(x))
    grown = max(grown, 0.0)
    add_scaled(x, step, update.prototypes[label])
    add_scaled(x, -step, update.prototypes[rival])
    return update._replace(square_length=grown, norm=sqrt(grown), n_updates=update.n_updates + 1)


@hypothesis.of(ManyPerceptronState)
def many_perceptron_hypothesis(update: ManyPerceptronState) -> Matrix:
    return update.prototypes
