"""Which support vector makes room for a new one when the memory is full."""

from typing import Any, NamedTuple

from selectron.arrays import Indices, Matrix, Vector
from selectron.compiler.verbs import Verb


class Unlimited(NamedTuple):
    """Nobody ever leaves."""

    unlimited: bool


class RandomExit(NamedTuple):
    """Any of them, by a coin [CCG07]."""

    gram: Matrix  # kernel values among the support vectors
    entered: Indices  # when each slot was filled
    clock: Indices  # (1,): how many have entered
    coins: Vector  # for the entries of this block
    most: int


class SmallestExit(NamedTuple):
    """The one with the smallest coefficients; of several, the oldest."""

    gram: Matrix
    entered: Indices
    clock: Indices
    coins: Vector
    most: int


@Verb
def is_full(budget: Any, n_support: int) -> bool:
    """Tell whether somebody must leave before a support vector can enter."""


@Verb
def leaving(budget: Any, coefficients: Matrix, n_support: int, n_young: int) -> int:
    """Return the slot of the support vector that leaves."""


@Verb
def write_down(budget: Any, slot: int, values: Vector, square: float) -> None:
    """Keep what later exits need to know of the one that enters: its values against the others."""


@is_full.of(Unlimited)
def never_full(budget: Unlimited, n_support: int) -> bool:
    return False


@leaving.of(Unlimited)
def nobody_leaves(budget: Unlimited, coefficients: Matrix, n_support: int, n_young: int) -> int:
    return n_support


@write_down.of(Unlimited)
def nothing_to_write(budget: Unlimited, slot: int, values: Vector, square: float) -> None:
    pass


@is_full.of(RandomExit, SmallestExit)
def full(budget: RandomExit | SmallestExit, n_support: int) -> bool:
    return n_support >= budget.most


@leaving.of(RandomExit)
def anyone(budget: RandomExit, coefficients: Matrix, n_support: int, n_young: int) -> int:
    return min(int(budget.coins[n_young] * n_support), n_support - 1)


@leaving.of(SmallestExit)
def least(budget: SmallestExit, coefficients: Matrix, n_support: int, n_young: int) -> int:
    chosen, smallest = 0, 0.0
    for j in range(n_support):
        size = 0.0
        for c in range(len(coefficients)):
            size += abs(coefficients[c, j])
        older = size == smallest and budget.entered[j] < budget.entered[chosen]
        if j == 0 or size < smallest or older:
            chosen, smallest = j, size
    return chosen


@write_down.of(RandomExit, SmallestExit)
def write_values(
    budget: RandomExit | SmallestExit, slot: int, values: Vector, square: float
) -> None:
    for j in range(len(values)):
        budget.gram[slot, j] = values[j]
        budget.gram[j, slot] = values[j]
    budget.gram[slot, slot] = square
    budget.entered[slot] = budget.clock[0]
    budget.clock[0] += 1
