"""Products with a symmetric matrix, over the stored entries of a row only."""

import numpy as np

from selectron.arrays import Indices, Matrix, Vector
from selectron.compiler.verbs import Verb, apart, helper
from selectron.numeric.rows import DenseRow, Row, SparseRow, entry_index
from selectron.numeric.sums import lane_dot


@Verb
def quadratic_form(x: Row, A: Matrix, support: Indices) -> float:
    """Return xᵀAx in O(nnz²); `support` is room for the places of the nonzeros."""


@quadratic_form.of(DenseRow)
@apart
def dense_quadratic_form(x: DenseRow, A: Matrix, support: Indices) -> float:
    nonzeros = 0
    for i in range(len(x.values)):
        if x.values[i] != 0.0:
            support[nonzeros] = i
            nonzeros += 1
    total = 0.0
    if 2 * nonzeros > len(x.values):
        for k in range(nonzeros):
            i = support[k]
            total += np.float64(x.values[i]) * lane_dot(x.values, A[i])
        return total
    for k in range(nonzeros):
        own = np.uintp(support[k])  # unsigned: the compiler need not think of negative places
        a = b = c = d = 0.0
        main = nonzeros - nonzeros % 4
        for m in range(0, main, 4):
            first, second = np.uintp(support[m]), np.uintp(support[m + 1])
            third, fourth = np.uintp(support[m + 2]), np.uintp(support[m + 3])
            a += A[own, first] * x.values[first]
            b += A[own, second] * x.values[second]
            c += A[own, third] * x.values[third]
            d += A[own, fourth] * x.values[fourth]
        for m in range(main, nonzeros):
            first = np.uintp(support[m])
            a += A[own, first] * x.values[first]
        total += np.float64(x.values[own]) * ((a + b) + (c + d))
    return total


@quadratic_form.of(SparseRow)
def sparse_quadratic_form(x: SparseRow, A: Matrix, support: Indices) -> float:
    total = 0.0
    n = len(x.values)
    main = n - n % 4
    for k in range(n):
        i = x.indices[k]
        a = b = c = d = 0.0
        for m in range(0, main, 4):
            a += A[i, x.indices[m]] * x.values[m]
            b += A[i, x.indices[m + 1]] * x.values[m + 1]
            c += A[i, x.indices[m + 2]] * x.values[m + 2]
            d += A[i, x.indices[m + 3]] * x.values[m + 3]
        for m in range(main, n):
            a += A[i, x.indices[m]] * x.values[m]
        total += np.float64(x.values[k]) * ((a + b) + (c + d))
    return total


@helper
def image(x: Row, A: Matrix, out: Vector) -> None:
    """Write Aᵀx into out: the rows of A at the stored entries of x, which are one by one in memory.

    For a symmetric A that is Ax.
    """
    out[:] = 0.0
    for k in range(len(x.values)):
        value = np.float64(x.values[k])
        if value != 0.0:
            column = A[entry_index(x, k)]
            for j in range(len(out)):
                out[j] += value * column[j]


@helper
@apart
def downdate(A: Matrix, g: Vector, share: float) -> None:
    """Subtract share * g gᵀ from A; (g_i g_j) first, so that A stays symmetric to the bit."""
    for i in range(len(g)):
        if g[i] != 0.0:
            row = A[i]
            for j in range(len(g)):
                row[j] -= (g[i] * g[j]) * share
