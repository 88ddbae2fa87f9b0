"""The store in O(m d) memory: A⁻¹ = I - U Uᵀ, with the first m directions that were asked about.

A row seen from the mean (`ShiftedRow`) is dense and is never written out. Its products need those
of M, the sum of rows that it is seen from, and the store keeps these up to date.
"""

from typing import NamedTuple

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.compiler.verbs import Verb
from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import Row, ShiftedRow, SparseRow, add_scaled, dot, square_norm
from selectron.numeric.sums import gather_dot, lane_dot
from selectron.numeric.symmetric import image
from selectron.protocol import flaw, out_of_range, room_for
from selectron.spec import Range, State
from selectron.updates.covariance import (
    begin_step,
    end_step,
    follow,
    length_of,
    length_of_weights,
    move,
    move_along_image,
    score,
    variance_of,
)


class LowRank(NamedTuple):
    """The weights of one class or many, and the directions in which A⁻¹ is not the identity."""

    weights: Matrix  # a row a class; two classes have one row
    directions: Matrix  # U: (d, m), so that a sparse row reads few stretches of memory
    total_along: Vector  # UᵀM
    total_scores: Vector  # the product of M with the weights of each class
    shadow: Vector  # Uᵀz of the row at hand
    image: Vector  # A⁻¹z
    n_directions: int


def fresh_low_rank(d: int, rank: int, n: int) -> LowRank:
    """Start from A = I, with n weight vectors and room for `rank` directions."""
    total_along, shadow = np.zeros((2, rank))
    weights, directions = np.zeros((n, d)), np.zeros((d, rank))
    return LowRank(weights, directions, total_along, np.zeros(n), shadow, np.zeros(d), 0)


# How a row meets the store depends on the kind of row; dense and sparse ones know no M.


@Verb.with_body
def product(z: State, store: LowRank, k: int) -> float:
    """Return the product of the row with the weights of class k."""
    return np.float64(dot(z, store.weights[k]))


@Verb.with_body
def project(z: State, store: LowRank) -> None:
    """Write Uᵀz into the shadow."""
    image(z, store.directions, store.shadow)


@Verb.with_body
def add_to_total(z: State, store: LowRank) -> None:
    """Take the row into the products with M, of which it has become a part."""


@Verb.with_body
def refresh_total(z: State, store: LowRank, newest: int) -> None:
    """Compute the products of M anew with direction `newest`, if any, and with all weights."""


@product.of(ShiftedRow)
def shifted_product(z: ShiftedRow, store: LowRank, k: int) -> float:
    weights = store.weights[k]
    own = np.float64(gather_dot(z.values, z.indices, weights))
    common = z.shift * store.total_scores[k]
    return np.float64(z.scale * own - common + z.bias * weights[len(z.total)])


@project.of(ShiftedRow)
def shifted_project(z: ShiftedRow, store: LowRank) -> None:
    shadow, total = store.shadow, store.total_along
    project(SparseRow(z.values, z.indices), store)
    last = store.directions[len(z.total)]
    for m in range(len(shadow)):
        shadow[m] = z.scale * shadow[m] - z.shift * total[m] + z.bias * last[m]


@add_to_total.of(ShiftedRow)
def add_shifted(z: ShiftedRow, store: LowRank) -> None:
    project(SparseRow(z.values, z.indices), store)
    for m in range(len(store.shadow)):
        store.total_along[m] += z.unit * store.shadow[m]
    for k in range(len(store.weights)):
        own = np.float64(gather_dot(z.values, z.indices, store.weights[k]))
        store.total_scores[k] += z.unit * own


@refresh_total.of(ShiftedRow)
def refresh_shifted(z: ShiftedRow, store: LowRank, newest: int) -> None:
    total, d = z.total, len(z.total)
    if newest >= 0:
        along = 0.0
        for i in range(d):
            along += total[i] * store.directions[i, newest]
        store.total_along[newest] = along
    for k in range(len(store.weights)):
        store.total_scores[k] = np.float64(lane_dot(total, store.weights[k][:d]))


# What every store does.

move.of(LowRank)(move_along_image)
length_of.of(LowRank)(length_of_weights)


@follow.of(LowRank)
def low_rank_follow(store: LowRank, z: Row) -> None:
    add_to_total(z, store)


@score.of(LowRank)
def low_rank_score(store: LowRank, z: Row, k: int) -> float:
    return np.float64(product(z, store, k))


@variance_of.of(LowRank)
def low_rank_variance(store: LowRank, z: Row) -> float:
    project(z, store)
    return np.float64(square_norm(z) - np.float64(lane_dot(store.shadow, store.shadow)))


@begin_step.of(LowRank)
def low_rank_begin(store: LowRank, z: Row) -> None:
    project(z, store)
    g = store.image
    for i in range(len(g)):
        g[i] = -np.float64(lane_dot(store.directions[i], store.shadow))
    add_scaled(z, 1.0, g)


@end_step.of(LowRank)
def low_rank_end(store: LowRank, z: Row, share: float) -> LowRank:
    """Keep the direction if there is room; otherwise only the weights have learnt."""
    newest = -1
    if store.n_directions < len(store.shadow):
        newest = store.n_directions
        narrowing = sqrt(share)
        for i in range(len(store.image)):
            store.directions[i, newest] = narrowing * store.image[i]
    refresh_total(z, store, newest)
    return store._replace(n_directions=store.n_directions + (newest >= 0))


@flaw.of(LowRank)
def too_many_directions(store: LowRank) -> str:
    return out_of_range(store, n_directions=Range(0, len(store.shadow)))


room_for(LowRank, "shadow", "image")
