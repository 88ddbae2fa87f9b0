"""The store of Ridge and SecondOrder in dual form: least squares over support vectors.

The rules are those without a kernel ([CBGZ06], section 2); only the store differs. With the kernel
matrix K of the support vectors and their targets t, w = Σ α_j s_j for α = (a I + K)⁻¹ t, and
xᵀA⁻¹x = (k(x, x) - kᵀ(a I + K)⁻¹k) / a with k the values of the row against them: an m x m matrix
grows by a row and a column, and no d x d one is needed.
"""

from typing import NamedTuple

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.compiler.verbs import helper
from selectron.kernels.budgets import is_full, leaving, note_entry, widen_inverse
from selectron.kernels.first_order import compare_row, sum_over_support
from selectron.kernels.support import BlockRow, keep
from selectron.numeric.elementary import sqrt
from selectron.numeric.sums import lane_dot
from selectron.protocol import in_file
from selectron.spec import State
from selectron.updates.covariance import (
    begin_step,
    end_step,
    length_of,
    look,
    move,
    score,
    variance_of,
)


class Regression(NamedTuple):
    """One row of coefficients and targets for two classes, one a class for more."""

    support: State
    kernel: State
    budget: State
    coefficients: Matrix  # (rows, capacity): α
    targets: Matrix  # (rows, capacity): t by slot
    inverse: Matrix  # (a I + K)⁻¹
    image: Vector  # its product with the values of the row at hand
    aims: Vector  # the targets of the row at hand
    a: float


look.of(Regression)(compare_row)
score.of(Regression)(sum_over_support)


@helper
def leftover(store: Regression, x: BlockRow) -> float:
    """Write (a I + K)⁻¹k into `image`; return k(x, x) - kᵀ(a I + K)⁻¹k."""
    m = store.support.n_support
    for i in range(m):
        store.image[i] = lane_dot(store.inverse[i, :m], x.values[:m])
    known = np.float64(lane_dot(store.image[:m], x.values[:m]))
    return max(x.square - known, 0.0)


@variance_of.of(Regression)
def regression_variance(store: Regression, x: BlockRow) -> float:
    return leftover(store, x) / store.a


@begin_step.of(Regression)
def regression_begin(store: Regression, x: BlockRow) -> None:
    pass


@move.of(Regression)
def set_aim(store: Regression, k: int, step: float, target: float) -> None:
    store.aims[k] = target


@end_step.of(Regression)
def enter(store: Regression, x: BlockRow, share: float) -> Regression:
    """Let the row in with its aims; who leaves for it is forgotten."""
    _, _, budget, coefficients, targets, inverse, image, aims, a = store
    support = store.support
    m, slot = support.n_support, support.n_support
    if is_full(budget, m):
        slot = leaving(budget, coefficients, m, support.recent.n)
        forget(store, slot)
    loss = a + leftover(store, x)
    for c in range(len(aims)):
        missing = (aims[c] - lane_dot(coefficients[c, :m], x.values[:m])) / loss
        for j in range(m):
            coefficients[c, j] -= missing * image[j]
        coefficients[c, slot] = missing
        targets[c, slot] = aims[c]
    widen_inverse(inverse, image, m, slot, loss)
    note_entry(budget, slot, x.values[:m], x.square)
    return store._replace(support=keep(support, slot, x))


@helper
def forget(store: Regression, slot: int) -> None:
    """Take a support vector out, as if its label had never been learnt."""
    coefficients, inverse, image = store.coefficients, store.inverse, store.image
    m, pivot = store.support.n_support, inverse[slot, slot]
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


@length_of.of(Regression)
def regression_length(store: Regression) -> float:
    """Return the length of all w as one vector: αᵀKα = α·(t - aα) for each."""
    total = 0.0
    for c in range(len(store.coefficients)):
        for j in range(store.support.n_support):
            alpha = store.coefficients[c, j]
            total += alpha * (store.targets[c, j] - store.a * alpha)
    return sqrt(max(total, 0.0))


in_file(Regression, "a")
