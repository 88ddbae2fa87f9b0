"""Projectron [OKC09]: a row that the support vectors can nearly express becomes a mixture of them.

The inverse of their Gram matrix tells by which mixture, and how far off it is.
"""

from typing import NamedTuple

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.compiler.verbs import helper
from selectron.kernels.exits import is_full
from selectron.numeric.sums import lane_dot

SMALL_LOSS = 0.01  # of |x|²: a tenth of the row's length


class Projection(NamedTuple):
    """Nobody leaves; when all places are taken, new rows are projected."""

    inverse: Matrix  # of the Gram matrix
    image: Vector
    most: int


@is_full.of(Projection)
def no_place_left(budget: Projection, n_support: int) -> bool:
    return n_support >= budget.most


@helper
def mixture(budget: Projection, values: Vector) -> float:
    """Write the best mixture of support vectors into `image`; return its squared length."""
    m = len(values)
    for i in range(m):
        budget.image[i] = lane_dot(budget.inverse[i, :m], values)
    return max(np.float64(lane_dot(values, budget.image[:m])), 0.0)


@helper
def widen_inverse(inverse: Matrix, image: Vector, m: int, slot: int, loss: float) -> None:
    """Let a vector of this image into the matrix at a slot whose row and column are zero."""
    for i in range(m):
        if image[i] != 0.0:
            share = image[i] / loss
            for j in range(m):
                inverse[i, j] += share * image[j]
    for i in range(m):
        inverse[slot, i] = inverse[i, slot] = -image[i] / loss
    inverse[slot, slot] = 1.0 / loss
