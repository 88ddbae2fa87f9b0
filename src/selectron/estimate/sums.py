"""All that is kept of the labels asked: some sums by what was predicted and what was true."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Matrix, Vector
from selectron.estimate.grids import LOW_RATES, UP_SHARES

# What became of an asked round. A lost answer may have been anything.
TRUE_NEGATIVE, FALSE_NEGATIVE, FALSE_POSITIVE, TRUE_POSITIVE, LOST = range(5)
MISTAKES = (FALSE_NEGATIVE, FALSE_POSITIVE)


class Sums(NamedTuple):
    """Sums over the asked rounds, a row each outcome."""

    counts: Vector  # (5,)
    weights: Vector  # (5,): Σ 1/π
    squares: Vector  # (5,): Σ 1/π²
    up: Matrix  # (5, 12): Σ log(1 - u/π)
    low: Matrix  # (5, 16): Σ log(1 + v/π)

    @classmethod
    def none(cls) -> "Sums":
        rows = LOST + 1
        wide = np.zeros((rows, len(UP_SHARES))), np.zeros((rows, len(LOW_RATES)))
        return cls(np.zeros(rows), np.zeros(rows), np.zeros(rows), *wide)

    def add(self, outcomes: NDArray[np.int64], odds: Vector, explore: float) -> None:
        """Add rounds one after the other: the bits do not depend on how they come in batches."""
        for sums, terms in zip(self, terms_of(odds, explore), strict=True):
            np.add.at(sums, outcomes, terms)

    def of(self, outcomes: Sequence[int]) -> "Sums":
        """Return the sums over these outcomes."""
        return Sums(*(field[list(outcomes)].sum(axis=0) for field in self))

    def plus(self, other: "Sums") -> "Sums":
        return Sums(*(a + b for a, b in zip(self, other, strict=True)))

    def times(self, factor: float) -> "Sums":
        return Sums(*(field * factor for field in self))

    def copy(self) -> "Sums":
        return Sums(*(field.copy() for field in self))


def terms_of(odds: Vector, explore: float) -> Sums:
    """Return what each round adds to the sums, a row each round."""
    weights = 1.0 / odds
    scaled = weights[:, np.newaxis]
    # Without a floor there is no upper end, and nothing to add up for it.
    up = np.log(1.0 - UP_SHARES * explore * scaled) if explore > 0.0 else 0.0 * UP_SHARES * scaled
    return Sums(np.ones(len(odds)), weights, weights**2, up, np.log(1.0 + LOW_RATES * scaled))
