"""The probit belief in O(m d) memory: V = I - U Uᵀ, with the first m directions asked about."""

from typing import Any, NamedTuple

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.compiler.verbs import Verb
from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import (
    DenseRow,
    Row,
    ShiftedRow,
    SparseRow,
    add_scaled,
    dot,
    entry_index,
    n_entries,
    square_norm,
)
from selectron.numeric.sums import gather_dot, lane_dot
from selectron.protocol import Forecast, follow_scaling, glance, hypothesis, learn, predict
from selectron.updates.covariance import SLACK, length, positive_root
from selectron.updates.moments import LEAST_BLUR, Noise, fresh_noise, moments


class LowRankState(NamedTuple):
    weights: Vector
    directions: Matrix  # U: (d, m), so that a sparse row reads few stretches of memory
    met: Vector  # UᵀM, with M the sum of rows that a shifted row is seen from
    shadow: Vector  # Uᵀz of the row at hand
    image: Vector  # Vz
    noise: Noise
    weights_met: float  # w.M
    n_directions: int
    norm: float
    n_updates: int


def fresh_low_rank(d: int, rank: int) -> LowRankState:
    return LowRankState(
        np.zeros(d),
        np.zeros((d, rank)),
        np.zeros(rank),
        np.zeros(rank),
        np.zeros(d),
        fresh_noise(),
        0.0,
        0,
        0.0,
        0,
    )


@Verb
def product(z: Any, update: LowRankState) -> float:
    """Return w.z."""


@Verb
def project(z: Any, update: LowRankState) -> None:
    """Write Uᵀz into the shadow."""


@Verb
def refresh_products(z: Any, update: LowRankState) -> float:
    """Take the row into the products with M; return the new w.M."""


@Verb
def meet_again(z: Any, update: LowRankState, newest: int) -> float:
    """Take the products with M of what has changed: direction `newest`, if any, and w."""


@product.of(DenseRow, SparseRow)
def plain_product(z: Row, update: LowRankState) -> float:
    return np.float64(dot(z, update.weights))


@product.of(ShiftedRow)
def shifted_product(z: ShiftedRow, update: LowRankState) -> float:
    own = np.float64(gather_dot(z.values, z.indices, update.weights))
    last = update.weights[len(z.total)]
    return np.float64(z.scale * own - z.shift * update.weights_met + z.bias * last)


@project.of(DenseRow, SparseRow)
def plain_project(z: Row, update: LowRankState) -> None:
    shadow, U = update.shadow, update.directions
    shadow[:] = 0.0
    for k in range(n_entries(z)):
        value = np.float64(z.values[k])
        if value != 0.0:
            row = U[entry_index(z, k)]
            for m in range(len(shadow)):
                shadow[m] += value * row[m]


@project.of(ShiftedRow)
def shifted_project(z: ShiftedRow, update: LowRankState) -> None:
    shadow, U = update.shadow, update.directions
    plain_sum(z, update)
    last = U[len(z.total)]
    for m in range(len(shadow)):
        shadow[m] = z.scale * shadow[m] - z.shift * update.met[m] + z.bias * last[m]


@Verb
def plain_sum(z: Any, update: LowRankState) -> None:
    """Write Uᵀx into the shadow, x as it is stored."""


@plain_sum.of(ShiftedRow)
def sum_of_entries(z: ShiftedRow, update: LowRankState) -> None:
    shadow, U = update.shadow, update.directions
    shadow[:] = 0.0
    for k in range(len(z.values)):
        value, row = z.values[k], U[z.indices[k]]
        for m in range(len(shadow)):
            shadow[m] += value * row[m]


@refresh_products.of(DenseRow, SparseRow)
def meet_nothing(z: Row, update: LowRankState) -> float:
    return 0.0


@refresh_products.of(ShiftedRow)
def meet_row(z: ShiftedRow, update: LowRankState) -> float:
    plain_sum(z, update)
    for m in range(len(update.met)):
        update.met[m] += z.unit * update.shadow[m]
    own = np.float64(gather_dot(z.values, z.indices, update.weights))
    return update.weights_met + z.unit * own


@meet_again.of(DenseRow, SparseRow)
def meet_nothing_again(z: Row, update: LowRankState, newest: int) -> float:
    return 0.0


@meet_again.of(ShiftedRow)
def meet_total(z: ShiftedRow, update: LowRankState, newest: int) -> float:
    total, d = z.total, len(z.total)
    if newest >= 0:
        along = 0.0
        for i in range(d):
            along += total[i] * update.directions[i, newest]
        update.met[newest] = along
    return np.float64(lane_dot(total, update.weights[:d]))


@follow_scaling.of(LowRankState)
def low_rank_follow(update: LowRankState, z: Row) -> LowRankState:
    return update._replace(weights_met=refresh_products(z, update))


@glance.of(LowRankState)
def low_rank_glance(update: LowRankState, z: Row) -> Forecast:
    most = SLACK * square_norm(z)
    return Forecast(product(z, update), positive_root(most), update.norm, most, False)


@predict.of(LowRankState)
def low_rank_predict(update: LowRankState, z: Row, seen: Forecast) -> Forecast:
    project(z, update)
    known = np.float64(lane_dot(update.shadow, update.shadow))
    variance = max(square_norm(z) - known, LEAST_BLUR)
    return Forecast(seen.margin, positive_root(variance), update.norm, variance, True)


@learn.of(LowRankState)
def low_rank_learn(update: LowRankState, z: Row, y: float, forecast: Forecast) -> LowRankState:
    weights, U, g = update.weights, update.directions, update.image
    lesson = moments(update.noise, y, forecast)
    project(z, update)
    for i in range(len(g)):
        g[i] = -np.float64(lane_dot(U[i], update.shadow))
    add_scaled(z, 1.0, g)
    for i in range(len(weights)):
        weights[i] += lesson.step * g[i]
    newest = -1
    if update.n_directions < len(update.met):
        newest = update.n_directions
        narrowing = sqrt(lesson.share)
        for i in range(len(g)):
            U[i, newest] = narrowing * g[i]
    return LowRankState(
        weights,
        U,
        update.met,
        update.shadow,
        g,
        lesson.noise,
        meet_again(z, update, newest),
        update.n_directions + (newest >= 0),
        length(weights),
        update.n_updates + 1,
    )


@hypothesis.of(LowRankState)
def low_rank_hypothesis(update: LowRankState) -> Vector:
    return update.weights
