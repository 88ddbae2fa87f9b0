"""Ridge regression and the second-order Perceptron in dual form ([CBGZ06], section 2).

With the kernel matrix K of the support vectors and their labels y, w = Σ α_j s_j for
α = (a I + K)⁻¹ y, and xᵀA⁻¹x = (k(x, x) - kᵀ(a I + K)⁻¹k) / a with k the values of the row against
them: an m x m matrix grows by a row and a column, and no d x d one is needed.
"""

from typing import Any, NamedTuple

import numpy as np

from selectron.dispatch import helper
from selectron.kernels.block import BlockRow
from selectron.kernels.exits import is_full, leaving, write_down
from selectron.kernels.gallery import catch_up, keep
from selectron.kernels.projection import widen_inverse
from selectron.numeric.arrays import Matrix, Vector
from selectron.numeric.lanes import lane_dot
from selectron.numeric.root import root
from selectron.protocol import Forecast, glance, learn, predict
from selectron.updates.covariance import SLACK, positive_root


class Regression(NamedTuple):
    gallery: Any
    kernel: Any
    budget: Any
    coefficients: Matrix  # (1, capacity): α
    labels: Vector  # y by slot
    inverse: Matrix  # (a I + K)⁻¹
    image: Vector  # its product with the values of the row at hand


class RidgeDual(NamedTuple):
    regression: Regression
    a: float
    norm: float
    n_updates: int


class SecondOrderDual(NamedTuple):
    regression: Regression
    a: float
    norm: float
    n_updates: int


@helper
def product(regression: Regression, x: BlockRow) -> float:
    """Return w·x; NaN if the row is not finite."""
    m = regression.gallery.n_support
    catch_up(regression.kernel, regression.gallery, x)
    along = np.float64(lane_dot(regression.coefficients[0, :m], x.values[:m]))
    return along + 0.0 * x.square


@helper
def leftover(regression: Regression, x: BlockRow) -> float:
    """Write (a I + K)⁻¹k into `image`; return k(x, x) - kᵀ(a I + K)⁻¹k."""
    m = regression.gallery.n_support
    for i in range(m):
        regression.image[i] = lane_dot(regression.inverse[i, :m], x.values[:m])
    known = np.float64(lane_dot(regression.image[:m], x.values[:m]))
    return max(x.square - known, 0.0)


@glance.of(RidgeDual)
def ridge_glance(update: RidgeDual, x: BlockRow) -> Forecast:
    most = SLACK * x.square / update.a
    return Forecast(product(update.regression, x), positive_root(most), update.norm, most, False)


@predict.of(RidgeDual)
def ridge_predict(update: RidgeDual, x: BlockRow, seen: Forecast) -> Forecast:
    variance = leftover(update.regression, x) / update.a
    return Forecast(seen.margin, positive_root(variance), update.norm, variance, True)


@learn.of(RidgeDual)
def ridge_learn(update: RidgeDual, x: BlockRow, y: float, forecast: Forecast) -> RidgeDual:
    regression = enter(update.regression, x, y, update.a)
    norm = length(regression, update.a)
    return RidgeDual(regression, update.a, norm, update.n_updates + 1)


@glance.of(SecondOrderDual)
def second_order_glance(update: SecondOrderDual, x: BlockRow) -> Forecast:
    """By Sherman-Morrison the margin is w.x / (1 + r), with 0 <= r <= k(x, x)/a."""
    most = SLACK * x.square / update.a
    margin = product(update.regression, x) / (1.0 + most)
    return Forecast(margin, positive_root(most), update.norm, most, False)


@predict.of(SecondOrderDual)
def second_order_predict(update: SecondOrderDual, x: BlockRow, seen: Forecast) -> Forecast:
    variance = leftover(update.regression, x) / update.a
    margin = product(update.regression, x) / (1.0 + variance)
    return Forecast(margin, positive_root(variance), update.norm, variance, True)


@learn.of(SecondOrderDual)
def second_order_learn(
    update: SecondOrderDual, x: BlockRow, y: float, forecast: Forecast
) -> SecondOrderDual:
    if y * forecast.margin > 0.0:
        return update
    regression = enter(update.regression, x, y, update.a)
    norm = length(regression, update.a)
    return SecondOrderDual(regression, update.a, norm, update.n_updates + 1)


@helper
def enter(regression: Regression, x: BlockRow, y: float, a: float) -> Regression:
    """Let the row in with its label."""
    _, kernel, budget, coefficients, labels, inverse, image = regression
    gallery = regression.gallery
    m, slot = gallery.n_support, gallery.n_support
    if is_full(budget, m):
        slot = leaving(budget, coefficients, m, gallery.young.n)
        forget(regression, slot)
    loss = a + leftover(regression, x)
    missing = (y - lane_dot(coefficients[0, :m], x.values[:m])) / loss
    for j in range(m):
        coefficients[0, j] -= missing * image[j]
    widen_inverse(inverse, image, m, slot, loss)
    coefficients[0, slot] = missing
    labels[slot] = y
    write_down(budget, slot, x.values[:m], x.square)
    gallery = keep(gallery, slot, x)
    return Regression(gallery, kernel, budget, coefficients, labels, inverse, image)


@helper
def forget(regression: Regression, slot: int) -> None:
    """Take a support vector out, as if its label had never been learnt."""
    _, _, _, coefficients, _, inverse, image = regression
    m, pivot = regression.gallery.n_support, inverse[slot, slot]
    share = coefficients[0, slot] / pivot
    for j in range(m):
        image[j] = inverse[slot, j]
    for j in range(m):
        coefficients[0, j] -= share * image[j]
    for i in range(m):
        for j in range(m):
            inverse[i, j] -= image[i] * image[j] / pivot
    for j in range(m):
        inverse[slot, j] = inverse[j, slot] = 0.0
    coefficients[0, slot] = 0.0


@helper
def length(regression: Regression, a: float) -> float:
    """Return |w|: αᵀKα = α·(y - aα)."""
    total = 0.0
    for j in range(regression.gallery.n_support):
        alpha = regression.coefficients[0, j]
        total += alpha * (regression.labels[j] - a * alpha)
    return root(max(total, 0.0))
