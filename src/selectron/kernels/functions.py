"""Kernels: what a product of two rows becomes, and of a row with itself."""

from typing import Any, NamedTuple

from selectron.arrays import Vector
from selectron.compiler.verbs import Verb
from selectron.numeric.elementary import exponential


class Linear(NamedTuple):
    """k(x, s) = x·s."""

    plain: bool  # always: an empty tuple would have no type of its own in compiled code


class Polynomial(NamedTuple):
    """k(x, s) = (γ x·s + c)ⁿ."""

    degree: int
    gamma: float
    coef0: float


class Gaussian(NamedTuple):
    """k(x, s) = exp(-γ |x - s|²)."""

    gamma: float


class Given(NamedTuple):
    """Values that somebody else computed."""

    given: bool


KINDS = {kind.__name__: kind for kind in (Linear, Polynomial, Gaussian)}  # those that files know


@Verb
def similarities(kernel: Any, values: Vector, squares: Vector, square: float, room: Vector) -> None:
    """Turn the products of a row with others, of these squared lengths, into kernel values."""


@Verb
def own_similarity(kernel: Any, square: float) -> float:
    """Return k(x, x) for a row of this squared length."""


@similarities.of(Linear, Given)
def nothing_to_turn(
    kernel: Any, values: Vector, squares: Vector, square: float, room: Vector
) -> None:
    pass


@own_similarity.of(Linear, Given)
def own_product(kernel: Any, square: float) -> float:
    return square


@similarities.of(Polynomial)
def powers(
    kernel: Polynomial, values: Vector, squares: Vector, square: float, room: Vector
) -> None:
    for j in range(len(values)):
        room[j] = kernel.gamma * values[j] + kernel.coef0
        values[j] = room[j]
    left = kernel.degree - 1
    while left >= 4:  # one by one, but in one go through memory
        for j in range(len(values)):
            base = room[j]
            values[j] = (((values[j] * base) * base) * base) * base
        left -= 4
    for _ in range(left):
        for j in range(len(values)):
            values[j] *= room[j]


@own_similarity.of(Polynomial)
def own_power(kernel: Polynomial, square: float) -> float:
    base = kernel.gamma * square + kernel.coef0
    power = base
    for _ in range(kernel.degree - 1):
        power *= base
    return power


@similarities.of(Gaussian)
def bells(kernel: Gaussian, values: Vector, squares: Vector, square: float, room: Vector) -> None:
    for j in range(len(values)):
        apart = square + squares[j] - 2.0 * values[j]
        values[j] = exponential(-kernel.gamma * max(apart, 0.0))


@own_similarity.of(Gaussian)
def own_bell(kernel: Gaussian, square: float) -> float:
    return 1.0 + 0.0 * square  # a row that is not finite shall not look like one that is
