"""Words weighted by rarity: a word that few texts have says more than one that all have."""

import numpy as np
from numba import njit

from selectron.arrays import Indices, Vector
from selectron.compiler.verbs import KERNEL, helper
from selectron.numeric.elementary import logarithm, sqrt
from selectron.numeric.sums import lane_dot


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
