"""Rules in dual form: hypotheses as sums over support vectors, through a kernel.

A kernel is what a user says about it, and what it makes of a product of two rows. The names and
numbers follow scikit-learn.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np

from selectron.arrays import Table, Vector
from selectron.compiler.verbs import Verb
from selectron.numeric.elementary import exponential
from selectron.numeric.rows import Dense, Rows
from selectron.protocol import in_file
from selectron.spec import State

NAMES = ("linear", "poly", "rbf")
REMOVALS = ("random", "smallest", "projection")
KernelFunction = Callable[[Table, Table], Table]  # of the user: k(X, Y) -> matrix of values


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
    """The user's function computes the values k(x, s)."""

    given: bool


Kernel = Linear | Polynomial | Gaussian | Given
KINDS = {kind.__name__: kind for kind in (Linear, Polynomial, Gaussian)}  # those that files know


@dataclass(frozen=True)
class KernelChoice:
    """A kernel with its numbers, and how many support vectors may be kept.

    Parameters
    ----------
    kernel : "linear", "poly", "rbf" or callable
        x·s, (gamma x·s + coef0)^degree, exp(-gamma |x - s|²), or k(X, Y) -> matrix of values.
    degree : int
        >= 1; of "poly".
    gamma : float, "scale" or "auto"
        > 0; of "poly" and "rbf". "auto" is 1/d, "scale" 1/(d var) with the variance of all numbers
        in the rows of the first call.
    coef0 : float
        Of "poly". Below 0 it may not be a kernel.
    budget : int, optional
        Support vectors at most, >= 1.
    removal : "random", "smallest" or "projection"
        What happens to a new one when the budget is full.
    """

    kernel: str | KernelFunction
    degree: int = 3
    gamma: float | str = "scale"
    coef0: float = 0.0
    budget: int | None = None
    removal: str = "random"

    def __post_init__(self) -> None:
        if not callable(self.kernel) and self.kernel not in NAMES:
            raise ValueError(
                f"kernel={self.kernel!r} is unknown: use one of {', '.join(NAMES)}, or a function "
                "k(X, Y) that returns the matrix of values"
            )
        _whole("degree", self.degree)
        if self.budget is not None:
            _whole("budget", self.budget)
        if self.removal not in REMOVALS:
            raise ValueError(
                f"removal={self.removal!r} is unknown: use one of {', '.join(REMOVALS)}"
            )
        if isinstance(self.gamma, str) and self.gamma not in ("scale", "auto"):
            raise ValueError(f'gamma={self.gamma!r}: use a number > 0, "scale" or "auto"')
        if not isinstance(self.gamma, str):
            _number("gamma", self.gamma)
            if self.gamma <= 0:
                raise ValueError(f"gamma must be > 0, got gamma={self.gamma!r}")
        _number("coef0", self.coef0)

    def function(self, rows: Rows, d: int) -> Kernel:
        """Return the kernel for rows of this width, `gamma` settled by the first of them."""
        if callable(self.kernel):
            return Given(True)
        if self.kernel == "linear":
            return Linear(True)
        gamma = self.gamma if not isinstance(self.gamma, str) else _gamma(self.gamma, rows, d)
        if self.kernel == "poly":
            return Polynomial(int(self.degree), float(gamma), float(self.coef0))
        return Gaussian(float(gamma))


def _gamma(name: str, rows: Rows, d: int) -> float:
    if name == "auto":
        return 1.0 / d
    if isinstance(rows, Dense):
        n, values = rows.values.size, rows.values
    else:
        n, values = (len(rows.starts) - 1) * d, rows.values[rows.starts[0] : rows.starts[-1]]
    mean = float(values.sum(dtype=np.float64)) / n
    square = float((values.astype(np.float64) ** 2).sum()) / n
    variance = square - mean * mean
    if not isfinite(variance):
        raise ValueError("Input X contains NaN or infinity: drop or impute such rows first")
    return 1.0 / (d * variance) if variance > 0.0 else 1.0


def _whole(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name} must be a whole number >= 1, got {name}={value!r}")


def _number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or not isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {name}={value!r}")


@Verb.with_body
def similarities(
    kernel: State, values: Vector, squares: Vector, square: float, room: Vector
) -> None:
    """Turn the products of a row with others, of these squared lengths, into kernel values."""


@Verb.with_body
def own_similarity(kernel: State, square: float) -> float:
    """Return k(x, x) for a row of this squared length."""
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


in_file(Polynomial, "degree", "gamma", "coef0")
in_file(Gaussian, "gamma")
