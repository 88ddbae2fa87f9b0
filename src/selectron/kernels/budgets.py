"""Budgets: what happens to a new support vector when all places are taken.

One of the others leaves for it, or it is projected: Projectron [OKC09] writes a row that the
support vectors can nearly express as a mixture of them. The inverse of their Gram matrix tells by
which mixture, and how far off it is.
"""

from typing import NamedTuple

import numpy as np

from selectron.arrays import Indices, Matrix, Vector
from selectron.compiler.verbs import Verb, helper
from selectron.numeric.sums import lane_dot
from selectron.protocol import in_file
from selectron.spec import NOT_NEGATIVE, State

SMALL_LOSS = 0.01  # of |x|²: a tenth of the row's length


class Unlimited(NamedTuple):
    """There is room for all."""

    unlimited: bool


class Exit(NamedTuple):
    """One of the others leaves: any, by a coin [CCG07], or the one with the least coefficients."""

    gram: Matrix  # kernel values among the support vectors
    entered: Indices  # when each slot was filled
    clock: Indices  # (1,): how many have entered
    coins: Vector  # for the entries of this block
    most: int
    by_coin: bool


class Projection(NamedTuple):
    """When all places are taken, new rows are projected; no support vector leaves."""

    inverse: Matrix  # of the Gram matrix
    image: Vector
    most: int


Budget = Unlimited | Exit | Projection


@Verb.with_body
def is_full(budget: State, n_support: int) -> bool:
    """Tell whether all places are taken, so that a row cannot just enter."""
    return False


@Verb.with_body
def leaving(budget: State, coefficients: Matrix, n_support: int, n_recent: int) -> int:
    """Return the slot of the support vector that leaves; a new one if none does."""
    return n_support


@Verb.with_body
def note_entry(budget: State, slot: int, values: Vector, square: float) -> None:
    """Write down the kernel values of the row that enters, which later exits need."""


@is_full.of(Exit, Projection)
def full(budget: Exit | Projection, n_support: int) -> bool:
    return n_support >= budget.most


@leaving.of(Exit)
def one_leaves(budget: Exit, coefficients: Matrix, n_support: int, n_recent: int) -> int:
    """Return the slot that the coin names, or that of the least; of several, the oldest."""
    if budget.by_coin:
        return min(int(budget.coins[n_recent] * n_support), n_support - 1)
    chosen, smallest = 0, 0.0
    for j in range(n_support):
        size = 0.0
        for c in range(len(coefficients)):
            size += abs(coefficients[c, j])
        older = size == smallest and budget.entered[j] < budget.entered[chosen]
        if j == 0 or size < smallest or older:
            chosen, smallest = j, size
    return chosen


@note_entry.of(Exit)
def note_values(budget: Exit, slot: int, values: Vector, square: float) -> None:
    for j in range(len(values)):
        budget.gram[slot, j] = budget.gram[j, slot] = values[j]
    budget.gram[slot, slot] = square
    budget.entered[slot] = budget.clock[0]
    budget.clock[0] += 1


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


in_file(Exit, "most", "by_coin", entered=NOT_NEGATIVE, clock=NOT_NEGATIVE)
in_file(Projection, "most")
