"""Hypotheses as sums over support vectors: one of them for two classes, one a class for more."""

from typing import Any, NamedTuple

from selectron.arrays import Matrix, Vector
from selectron.compiler.verbs import Verb, helper
from selectron.kernels.block import BlockRow
from selectron.kernels.exits import (
    RandomExit,
    SmallestExit,
    Unlimited,
    is_full,
    leaving,
    write_down,
)
from selectron.kernels.projection import SMALL_LOSS, Projection, mixture, widen_inverse
from selectron.kernels.support import catch_up, keep
from selectron.numeric.sums import lane_dot


class Prototypes(NamedTuple):
    """w_c = Σ_j coefficients[c, j] k(s_j, ·)."""

    support: Any
    kernel: Any
    budget: Any
    coefficients: Matrix  # (classes, capacity)
    products: Matrix  # (classes, classes): w_a·w_b
    scores: Vector  # w_c·x of the row at hand
    steps: Vector  # how far each w_c shall move along the row at hand
    along: Vector  # w_c·s of the one that leaves


class Entry(NamedTuple):
    """Where a row came to be, and how long the vector is that was added for it."""

    slot: int  # -1: nowhere, it was projected
    square: float


@Verb
def admit(budget: Any, prototypes: Prototypes, x: BlockRow) -> Entry:
    """Find a place for the row; whoever leaves for it is taken out of the hypotheses."""


@helper
def score(prototypes: Prototypes, x: BlockRow) -> None:
    """Write w_c·x into `scores`, every sum over the slots in a fixed order."""
    m = prototypes.support.n_support
    catch_up(prototypes.kernel, prototypes.support, x)
    for c in range(len(prototypes.scores)):
        prototypes.scores[c] = lane_dot(prototypes.coefficients[c, :m], x.values[:m])


@helper
def move(prototypes: Prototypes, x: BlockRow) -> Prototypes:
    """Add steps[c] x to every w_c; the scores must be those of this row."""
    _, _, budget, coefficients, products, scores, steps, _ = prototypes
    entry = admit(budget, prototypes, x)
    support = prototypes.support
    if entry.slot >= 0:
        support = keep(support, entry.slot, x)
        for c in range(len(steps)):
            coefficients[c, entry.slot] = steps[c]
    for a in range(len(steps)):
        for b in range(len(steps)):
            cross = steps[a] * scores[b] + steps[b] * scores[a]
            products[a, b] += cross + steps[a] * steps[b] * entry.square
    return prototypes._replace(support=support)


@admit.of(Unlimited, RandomExit, SmallestExit)
def admit_after_exit(
    budget: Unlimited | RandomExit | SmallestExit, prototypes: Prototypes, x: BlockRow
) -> Entry:
    slot = prototypes.support.n_support
    if is_full(budget, slot):
        slot = leaving(budget, prototypes.coefficients, slot, prototypes.support.recent.n)
        take_out(budget, prototypes, slot, x)
    write_down(budget, slot, x.values[: prototypes.support.n_support], x.square)
    return Entry(slot, x.square)


@Verb
def take_out(budget: Any, prototypes: Prototypes, slot: int, x: BlockRow) -> None:
    """Take a support vector out of hypotheses, scores and products."""


@take_out.of(Unlimited)
def nothing_to_take_out(budget: Unlimited, prototypes: Prototypes, slot: int, x: BlockRow) -> None:
    pass


@take_out.of(RandomExit, SmallestExit)
def take_out_of_sums(
    budget: RandomExit | SmallestExit, prototypes: Prototypes, slot: int, x: BlockRow
) -> None:
    m = prototypes.support.n_support
    coefficients, products, along = (
        prototypes.coefficients,
        prototypes.products,
        prototypes.along,
    )
    for c in range(len(along)):
        along[c] = lane_dot(coefficients[c, :m], budget.gram[slot, :m])
    square = budget.gram[slot, slot]
    for a in range(len(along)):
        for b in range(len(along)):
            left, right = coefficients[a, slot], coefficients[b, slot]
            products[a, b] -= left * along[b] + right * along[a] - left * right * square
    for c in range(len(along)):
        prototypes.scores[c] -= coefficients[c, slot] * x.values[slot]
        coefficients[c, slot] = 0.0


@admit.of(Projection)
def admit_or_project(budget: Projection, prototypes: Prototypes, x: BlockRow) -> Entry:
    m = prototypes.support.n_support
    shadow = min(mixture(budget, x.values[:m]), x.square)
    loss = x.square - shadow
    if is_full(budget, m) or loss <= SMALL_LOSS * x.square:
        for c in range(len(prototypes.steps)):
            for j in range(m):
                prototypes.coefficients[c, j] += prototypes.steps[c] * budget.image[j]
        return Entry(-1, shadow)
    widen_inverse(budget.inverse, budget.image, m, m, loss)
    return Entry(m, x.square)
