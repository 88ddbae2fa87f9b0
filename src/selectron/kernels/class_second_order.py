"""Ridge regression and the second-order Perceptron of many classes in dual form.

The targets are those of the rules without a kernel: 1 for the label and 0 for the others, or, on a
mistake, 1 for the label and -1 for the best other class. One (a I + K)⁻¹ serves all classes.
"""

from typing import NamedTuple

from selectron.arrays import Vector
from selectron.compiler.verbs import helper
from selectron.kernels.block import BlockRow
from selectron.kernels.regression import Regression, enter, leftover, length, look, product
from selectron.protocol import ManyForecast, glance, learn, predict
from selectron.updates.covariance import SLACK, positive_root
from selectron.updates.prototypes import Lead, lead, rival_of


class ClassRidgeDual(NamedTuple):
    regression: Regression
    scores: Vector
    a: float
    norm: float
    n_updates: int


class ClassSecondOrderDual(NamedTuple):
    regression: Regression
    scores: Vector
    a: float
    norm: float
    n_updates: int


@helper
def score(regression: Regression, x: BlockRow, scores: Vector) -> Lead:
    """Write w_c·x of every class; the lead is NaN if the row is not finite."""
    look(regression, x)
    for c in range(len(scores)):
        scores[c] = product(regression, c, x)
    found = lead(scores)
    return Lead(found.margin + 0.0 * x.square, found.best, found.second)


@glance.of(ClassRidgeDual)
def class_ridge_glance(update: ClassRidgeDual, x: BlockRow) -> ManyForecast:
    found = score(update.regression, x, update.scores)
    most = SLACK * x.square / update.a
    unit = positive_root(most)
    return ManyForecast(found.margin, unit, update.norm, most, False, found.best, found.second)


@predict.of(ClassRidgeDual)
def class_ridge_predict(update: ClassRidgeDual, x: BlockRow, seen: ManyForecast) -> ManyForecast:
    variance = leftover(update.regression, x) / update.a
    unit = positive_root(variance)
    return ManyForecast(seen.margin, unit, update.norm, variance, True, seen.best, seen.second)


@learn.of(ClassRidgeDual)
def class_ridge_learn(
    update: ClassRidgeDual, x: BlockRow, y: float, forecast: ManyForecast
) -> ClassRidgeDual:
    aim(update.regression.aims, int(y), -1)
    regression = enter(update.regression, x, update.a)
    norm = length(regression, update.a)
    return ClassRidgeDual(regression, update.scores, update.a, norm, update.n_updates + 1)


@glance.of(ClassSecondOrderDual)
def class_second_order_glance(update: ClassSecondOrderDual, x: BlockRow) -> ManyForecast:
    """By Sherman-Morrison every score is divided by 1 + r, with 0 <= r <= k(x, x)/a."""
    found = score(update.regression, x, update.scores)
    most = SLACK * x.square / update.a
    margin, unit = found.margin / (1.0 + most), positive_root(most)
    return ManyForecast(margin, unit, update.norm, most, False, found.best, found.second)


@predict.of(ClassSecondOrderDual)
def class_second_order_predict(
    update: ClassSecondOrderDual, x: BlockRow, seen: ManyForecast
) -> ManyForecast:
    scores, variance = update.scores, leftover(update.regression, x) / update.a
    margin = (scores[seen.best] - scores[seen.second]) / (1.0 + variance)
    unit = positive_root(variance)
    return ManyForecast(margin, unit, update.norm, variance, True, seen.best, seen.second)


@learn.of(ClassSecondOrderDual)
def class_second_order_learn(
    update: ClassSecondOrderDual, x: BlockRow, y: float, forecast: ManyForecast
) -> ClassSecondOrderDual:
    label = int(y)
    rival = rival_of(label, forecast)
    if update.scores[label] - update.scores[rival] > 0.0:
        return update
    aim(update.regression.aims, label, rival)
    regression = enter(update.regression, x, update.a)
    norm = length(regression, update.a)
    return ClassSecondOrderDual(regression, update.scores, update.a, norm, update.n_updates + 1)


@helper
def aim(aims: Vector, label: int, rival: int) -> None:
    """Set the target of every class; no class has the number -1."""
    for c in range(len(aims)):
        aims[c] = 1.0 if c == label else -1.0 if c == rival else 0.0
