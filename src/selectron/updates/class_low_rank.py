"""Classes by least squares in O((m + K) d) memory: A⁻¹ = I - U Uᵀ, the first m directions."""

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
    square_norm,
)
from selectron.numeric.sums import gather_dot, lane_dot
from selectron.protocol import ManyForecast, follow_scaling, glance, hypothesis, learn, predict
from selectron.updates.covariance import SLACK, positive_root
from selectron.updates.known_classes import (
    count_label,
    lead_of_known,
    one_sided_residual,
    weight_of,
)
from selectron.updates.low_rank import plain_sum, project
from selectron.updates.prototypes import frobenius
from selectron.updates.two_prototypes import distance_between, separation


class ClassLowRankState(NamedTuple):
    prototypes: Matrix  # (K, d)
    directions: Matrix  # U: (d, m), so that a sparse row reads few stretches of memory
    met: Vector  # UᵀM, with M the sum of rows that a shifted row is seen from
    prototypes_met: Vector  # the products of M with the prototypes
    shadow: Vector  # Uᵀz of the row at hand
    image: Vector  # A⁻¹z
    counts: Vector  # labels of each class
    scores: Vector
    n_directions: int
    norm: float
    n_updates: int


def fresh_class_low_rank(d: int, n_classes: int, rank: int) -> ClassLowRankState:
    return ClassLowRankState(
        np.zeros((n_classes, d)),
        np.zeros((d, rank)),
        np.zeros(rank),
        np.zeros(n_classes),
        np.zeros(rank),
        np.zeros(d),
        np.zeros(n_classes),
        np.zeros(n_classes),
        0,
        0.0,
        0,
    )


@Verb
def score_all(z: Any, update: ClassLowRankState) -> None:
    """Write the product of the row with every prototype."""


@Verb
def meet_row(z: Any, update: ClassLowRankState) -> None:
    """Take the row into the products with M."""


@Verb
def meet_again(z: Any, update: ClassLowRankState, newest: int) -> None:
    """Take the products with M of what has changed: direction `newest`, if any, and prototypes."""


@score_all.of(DenseRow, SparseRow)
def plain_scores(z: Row, update: ClassLowRankState) -> None:
    for k in range(len(update.scores)):
        update.scores[k] = dot(z, update.prototypes[k])


@score_all.of(ShiftedRow)
def shifted_scores(z: ShiftedRow, update: ClassLowRankState) -> None:
    d = len(z.total)
    for k in range(len(update.scores)):
        prototype = update.prototypes[k]
        own = np.float64(gather_dot(z.values, z.indices, prototype))
        common = z.shift * update.prototypes_met[k]
        update.scores[k] = z.scale * own - common + z.bias * prototype[d]


@meet_row.of(DenseRow, SparseRow)
def meet_no_row(z: Row, update: ClassLowRankState) -> None:
    pass


@meet_row.of(ShiftedRow)
def refresh_shifted_products(z: ShiftedRow, update: ClassLowRankState) -> None:
    plain_sum(z, update)
    for m in range(len(update.met)):
        update.met[m] += z.unit * update.shadow[m]
    for k in range(len(update.scores)):
        own = np.float64(gather_dot(z.values, z.indices, update.prototypes[k]))
        update.prototypes_met[k] += z.unit * own


@meet_again.of(DenseRow, SparseRow)
def meet_nothing_again(z: Row, update: ClassLowRankState, newest: int) -> None:
    pass


@meet_again.of(ShiftedRow)
def meet_total(z: ShiftedRow, update: ClassLowRankState, newest: int) -> None:
    total, d = z.total, len(z.total)
    if newest >= 0:
        along = 0.0
        for i in range(d):
            along += total[i] * update.directions[i, newest]
        update.met[newest] = along
    for k in range(len(update.scores)):
        update.prototypes_met[k] = np.float64(lane_dot(total, update.prototypes[k][:d]))


@follow_scaling.of(ClassLowRankState)
def class_low_rank_follow(update: ClassLowRankState, z: Row) -> ClassLowRankState:
    meet_row(z, update)
    return update


@glance.of(ClassLowRankState)
def class_low_rank_glance(update: ClassLowRankState, z: Row) -> ManyForecast:
    score_all(z, update)
    found = lead_of_known(update.counts, update.scores)
    most = SLACK * square_norm(z)
    unit = positive_root(most)
    return ManyForecast(found.margin, unit, update.norm, most, False, found.best, found.second)


@predict.of(ClassLowRankState)
def class_low_rank_predict(update: ClassLowRankState, z: Row, seen: ManyForecast) -> ManyForecast:
    project(z, update)
    known = np.float64(lane_dot(update.shadow, update.shadow))
    variance = max(square_norm(z) - known, 0.0)
    unit = positive_root(variance)
    return ManyForecast(seen.margin, unit, update.norm, variance, True, seen.best, seen.second)


@learn.of(ClassLowRankState)
def class_low_rank_learn(
    update: ClassLowRankState, z: Row, y: float, forecast: ManyForecast
) -> ClassLowRankState:
    label = int(y)
    U, g, counts, scores = update.directions, update.image, update.counts, update.scores
    project(z, update)
    for i in range(len(g)):
        g[i] = -np.float64(lane_dot(U[i], update.shadow))
    add_scaled(z, 1.0, g)
    count_label(label, counts, scores)
    weight = weight_of(label, counts)
    share = weight / (1.0 + weight * forecast.variance)
    for k in range(len(scores)):
        step = share * one_sided_residual(k, label, counts, scores)
        if step != 0.0:
            prototype = update.prototypes[k]
            for i in range(len(g)):
                prototype[i] += step * g[i]
    newest = -1
    if update.n_directions < len(update.met):
        newest = update.n_directions
        narrowing = sqrt(share)
        for i in range(len(g)):
            U[i, newest] = narrowing * g[i]
    meet_again(z, update, newest)
    return update._replace(
        n_directions=update.n_directions + (newest >= 0),
        norm=frobenius(update.prototypes),
        n_updates=update.n_updates + 1,
    )


@hypothesis.of(ClassLowRankState)
def class_low_rank_hypothesis(update: ClassLowRankState) -> Matrix:
    return update.prototypes


@separation.of(ClassLowRankState)
def class_low_rank_separation(update: ClassLowRankState) -> float:
    return distance_between(update.prototypes)
