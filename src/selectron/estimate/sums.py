"""The sums kept of the asked labels, by what was predicted and what was true.

The rates are a few sizes of bet that are mixed, because the best size is known only afterwards.
They were chosen on logs of image streams that judge nothing here. Every grid of rates is valid. A
poor grid makes intervals wider (up to a quarter); a finer grid costs a little of the level.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Matrix, Vector

UP_SHARES = 0.8 * 1.5 ** -np.arange(12.0)  # of the floor: a rate above the odds may lose all
LOW_RATES = 0.5 * 2.0 ** -np.arange(16.0)

# Outcomes of an asked round. A lost answer may have been anything.
TRUE_NEGATIVE, FALSE_NEGATIVE, FALSE_POSITIVE, TRUE_POSITIVE, LOST = range(5)
MISTAKES = (FALSE_NEGATIVE, FALSE_POSITIVE)


class Sums(NamedTuple):
    """Sums over the asked rounds, a row for each outcome."""

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
        """Add rounds one after the other, so that the bits do not depend on the batches."""
        for sums, terms in zip(self, terms_of(odds, explore), strict=True):
            np.add.at(sums, outcomes, terms)

    @property
    def possible(self) -> bool:
        """Whether every sum has the sign of its terms."""
        signs = 1.0, 1.0, 1.0, -1.0, 1.0
        return all((sign * field >= 0.0).all() for sign, field in zip(signs, self, strict=True))

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
    """Return what each round adds to the sums, a row for each round."""
    weights = 1.0 / odds
    scaled = weights[:, np.newaxis]
    # Without a floor there is no upper end, so its sums stay 0.
    up = np.log(1.0 - UP_SHARES * explore * scaled) if explore > 0.0 else 0.0 * UP_SHARES * scaled
    return Sums(np.ones(len(odds)), weights, weights**2, up, np.log(1.0 + LOW_RATES * scaled))
