"""The Ballseptron of many classes [SS05]: right answers that were too close teach as well."""

from typing import Any, NamedTuple

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import Row, add_scaled, square_norm
from selectron.numeric.sums import lane_dot
from selectron.protocol import ManyForecast, already_exact, glance, hypothesis, learn, predict
from selectron.updates.prototypes import rival_of, score


class ManyBallseptronState(NamedTuple):
    prototypes: Matrix  # (K, d)
    scores: Vector
    between: Vector  # the label's prototype minus its rival's
    r: float
    square_length: float
    norm: float
    n_updates: int
    n_margin_errors: int


def fresh_many_ballseptron(d: int, dtype: Any, n_classes: int, r: float) -> ManyBallseptronState:
    prototypes, between = np.zeros((n_classes, d), dtype), np.zeros(d)
    return ManyBallseptronState(prototypes, np.zeros(n_classes), between, r, 0.0, 0.0, 0, 0)


@glance.of(ManyBallseptronState)
def many_ballseptron_glance(update: ManyBallseptronState, x: Row) -> ManyForecast:
    found = score(x, update.prototypes, update.scores)
    norm = update.norm
    unit = norm if norm > 0.0 else 1.0
    return ManyForecast(found.margin, unit, norm, 0.0, True, found.best, found.second)


predict.of(ManyBallseptronState)(already_exact)


@learn.of(ManyBallseptronState)
def many_ballseptron_learn(
    update: ManyBallseptronState, x: Row, y: float, forecast: ManyForecast
) -> ManyBallseptronState:
    """Follow [SS05], equations (18) and (19): within the ball of radius r, its worst point."""
    label = int(y)
    rival = rival_of(label, forecast)
    right, wrong, between = update.prototypes[label], update.prototypes[rival], update.between
    ahead = update.scores[label] - update.scores[rival]
    size, margin_errors = square_norm(x), update.n_margin_errors
    shift = 0.0  # x̂ = x - shift · between
    if ahead > 0.0:
        for i in range(len(between)):
            between[i] = np.float64(right[i]) - np.float64(wrong[i])
        distance = sqrt(np.float64(lane_dot(between, between)))
        if ahead > update.r * distance:
            return update
        shift = update.r / distance
        size += update.r * update.r - 2.0 * shift * ahead
        ahead -= update.r * distance
        margin_errors += 1
    add_scaled(x, 1.0, right)
    add_scaled(x, -1.0, wrong)
    if shift > 0.0:
        step = right.dtype.type(shift)
        for i in range(len(between)):
            right[i] -= step * between[i]
            wrong[i] += step * between[i]
    grown = max(update.square_length + 2.0 * (ahead + size), 0.0)
    return update._replace(
        square_length=grown,
        norm=sqrt(grown),
        n_updates=update.n_updates + 1,
        n_margin_errors=margin_errors,
    )


@hypothesis.of(ManyBallseptronState)
def many_ballseptron_hypothesis(update: ManyBallseptronState) -> Matrix:
    return update.prototypes
