"""Least squares over support vectors: one inverse, and one solution for every target.

With the kernel matrix K of the support vectors and their targets t, w = Σ α_j s_j for
α = (a I + K)⁻¹ t, and xᵀA⁻¹x = (k(x, x) - kᵀ(a I + K)⁻¹k) / a with k the values of the row against
them: an m x m matrix grows by a row and a column, and no d x d one is needed.
"""

from typing import Any, NamedTuple

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.compiler.verbs import helper
from selectron.kernels.block import BlockRow
from selectron.kernels.exits import is_full, leaving, write_down
from selectron.kernels.projection import widen_inverse
from selectron.kernels.support import catch_up, keep
from selectron.numeric.elementary import sqrt
from selectron.numeric.sums import lane_dot


class Regression(NamedTuple):
    """One row of coefficients and targets for two classes, one a class for more."""

    support: Any
    kernel: Any
    budget: Any
    coefficients: Matrix  # (rows, capacity): α
    targets: Matrix  # (rows, capacity): t by slot
    inverse: Matrix  # (a I + K)⁻¹
    image: Vector  # its product with the values of the row at hand
    aims: Vector  # the targets of the row at hand


@helper
def leftover(regression: Regression, x: BlockRow) -> float:
    """Write (a I + K)⁻¹k into `image`; return k(x, x) - kᵀ(a I + K)⁻¹k."""
    m = regression.support.n_support
    for i in range(m):
        regression.image[i] = lane_dot(regression.inverse[i, :m], x.values[:m])
    known = np.float64(lane_dot(regression.image[:m], x.values[:m]))
    return max(x.square - known, 0.0)


@helper
def look(regression: Regression, x: BlockRow) -> None:
    """Bring the values of the row up to date."""
    catch_up(regression.kernel, regression.support, x)


@helper
def product(regression: Regression, c: int, x: BlockRow) -> float:
    """Return w·x of one target."""
    m = regression.support.n_support
    return np.float64(lane_dot(regression.coefficients[c, :m], x.values[:m]))


@helper
def enter(regression: Regression, x: BlockRow, a: float) -> Regression:
    """Let the row in with its aims."""
    _, _, budget, coefficients, targets, inverse, image, aims = regression
    support = regression.support
    m, slot = support.n_support, support.n_support
    if is_full(budget, m):
        slot = leaving(budget, coefficients, m, support.recent.n)
        forget(regression, slot)
    loss = a + leftover(regression, x)
    for c in range(len(aims)):
        missing = (aims[c] - lane_dot(coefficients[c, :m], x.values[:m])) / loss
        for j in range(m):
            coefficients[c, j] -= missing * image[j]
        coefficients[c, slot] = missing
        targets[c, slot] = aims[c]
    widen_inverse(inverse, image, m, slot, loss)
    write_down(budget, slot, x.values[:m], x.square)
    support = keep(support, slot, x)
    return regression._replace(support=support)


@helper
def forget(regression: Regression, slot: int) -> None:
    """Take a support vector out, as if its label had never been learnt."""
    coefficients, inverse, image = (
        regression.coefficients,
        regression.inverse,
        regression.image,
    )
    m, pivot = regression.support.n_support, inverse[slot, slot]
    for j in range(m):
        image[j] = inverse[slot, j]
    for c in range(len(coefficients)):
        share = coefficients[c, slot] / pivot
        for j in range(m):
            coefficients[c, j] -= share * image[j]
        coefficients[c, slot] = 0.0
    for i in range(m):
        for j in range(m):
            inverse[i, j] -= image[i] * image[j] / pivot
    for j in range(m):
        inverse[slot, j] = inverse[j, slot] = 0.0


@helper
def length(regression: Regression, a: float) -> float:
    """Return the length of all w as one vector: αᵀKα = α·(t - aα) for each."""
    total = 0.0
    for c in range(len(regression.coefficients)):
        for j in range(regression.support.n_support):
            alpha = regression.coefficients[c, j]
            total += alpha * (regression.targets[c, j] - a * alpha)
    return sqrt(max(total, 0.0))
