"""Words weighted by rarity, and the directions in which sparse rows spread: without any label.

Rows are free, labels are not. The leading right singular vectors of many unlabelled texts say which
words go together (latent semantic analysis). They are found by subspace iteration: all sums have a
fixed order, so that the directions are the same on every machine.
"""

import numpy as np
from numba import njit

from selectron.arrays import Indices, Matrix, Vector
from selectron.compiler.verbs import KERNEL, helper
from selectron.numeric.coins import coins
from selectron.numeric.elementary import logarithm, sqrt
from selectron.numeric.rows import Csr
from selectron.numeric.sums import lane_dot

ITERATIONS = 8
NEGLIGIBLE = 1e-12  # the squared length of a direction that is rounding


def leading_directions(rows: Csr, k: int) -> Matrix:
    """Return k orthonormal directions as the columns of a (width, k) matrix.

    Directions that the rows do not have are zeros.

    >>> import numpy as np
    >>> starts, columns = np.array([0, 2, 4, 5]), np.array([0, 1, 0, 1, 2], np.uint32)
    >>> rows = Csr(np.array([1.0, 1.0, 2.0, 2.0, 0.5]), columns, starts, 3)
    >>> np.abs(leading_directions(rows, 1)).round(3).tolist()
    [[0.707], [0.707], [0.0]]
    """
    n = len(rows.starts) - 1
    seen = coins(0, 0, n * k).reshape(n, k) - 0.5
    found = np.zeros((rows.width, k))
    for _ in range(ITERATIONS):
        orthonormalise(seen)
        found[:] = 0.0
        _add_rows(rows.values, rows.indices, rows.starts, seen, found)
        seen[:] = 0.0
        _look(rows.values, rows.indices, rows.starts, found, seen)
    orthonormalise(found)
    orthonormalise(found)  # once more takes away what rounding has left
    return found


def orthonormalise(columns: Matrix) -> None:
    """Make the columns orthonormal one after the other; those that depend on others become 0."""
    turned = np.ascontiguousarray(columns.T)
    _gram_schmidt(turned)
    columns[:] = turned.T


@njit(**KERNEL)
def _look(values: Vector, columns: Indices, starts: Indices, basis: Matrix, out: Matrix) -> None:
    """Add the product of every row with the basis to `out`."""
    for t in range(len(starts) - 1):
        for i in range(starts[t], starts[t + 1]):
            v, across = values[i], basis[columns[i]]
            for m in range(out.shape[1]):
                out[t, m] += v * across[m]


@njit(**KERNEL)
def _add_rows(values: Vector, columns: Indices, starts: Indices, seen: Matrix, out: Matrix) -> None:
    """Add every row, times its numbers in `seen`, to the columns of `out`."""
    for t in range(len(starts) - 1):
        for i in range(starts[t], starts[t + 1]):
            v, across = values[i], out[columns[i]]
            for m in range(out.shape[1]):
                across[m] += v * seen[t, m]


@njit(**KERNEL)
def _gram_schmidt(rows: Matrix) -> None:
    for m in range(len(rows)):
        mine = rows[m]
        before = lane_dot(mine, mine)
        for other in range(m):
            product = lane_dot(rows[other], mine)
            for i in range(len(mine)):
                mine[i] -= product * rows[other, i]
        square = lane_dot(mine, mine)
        scale = 0.0 if square <= NEGLIGIBLE * before else 1.0 / sqrt(square)
        for i in range(len(mine)):
            mine[i] *= scale


# A word that few texts have says more than one that all have.


@helper
def weigh(values: Vector, columns: Indices, rows_with: Vector, n_rows: int, counts: bool) -> float:
    """Weigh the words of a row by rarity; return their squared length."""
    for k in range(len(values)):
        value = np.float64(values[k])
        if counts and value > 0.0:
            value = np.float64(logarithm(1.0 + value))
        values[k] = value * logarithm((n_rows + 1.0) / (rows_with[columns[k]] + 1.0))
    return np.float64(lane_dot(values, values))


@njit(**KERNEL)
def weigh_table(
    values: Vector, columns: Indices, starts: Indices, rows_with: Vector, n_rows: int, counts: bool
) -> None:
    """Weigh the words of every row, and give it length one."""
    for t in range(len(starts) - 1):
        mine = values[starts[t] : starts[t + 1]]
        square = weigh(mine, columns[starts[t] : starts[t + 1]], rows_with, n_rows, counts)
        scale = 1.0 / sqrt(square) if square != 0.0 else 0.0
        for k in range(len(mine)):
            mine[k] *= scale
