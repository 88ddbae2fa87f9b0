"""Mixtures of exponentials in an unknown total, and where they grow too large to be believed.

Every construction here ends in Σ w e^(slope · S + offset), which for the true total S is a
supermartingale that starts at 1: it ever reaches 1/δ with probability at most δ (Ville). So the
totals at which it has reached 1/δ are ruled out, at all times at once.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from selectron.arrays import Vector

STEPS = 100
PRECISE = 1e-13


class Mixture(NamedTuple):
    """The logarithm of Σ w e^(slope · S + offset): convex in S, and all slopes have one sign."""

    log_weights: Vector  # (k,)
    slopes: Vector  # (k,)
    offsets: Vector  # (..., k)

    def at(self, total: ArrayLike) -> Vector:
        """Return the logarithm of the mixture at this total."""
        return self._with_slope(np.asarray(total, float))[0]

    def crossing(self, bound: ArrayLike) -> Vector:
        """Return the total at which the logarithm reaches the bound.

        Newton's method on a convex function, from a point where one term alone has reached it:
        every step stays on that side, so what is returned never rules out too much.
        """
        bound = np.asarray(bound, float)
        alone = (bound[..., np.newaxis] - self.log_weights - self.offsets) / self.slopes
        total = alone.min(axis=-1) if self.slopes[0] > 0.0 else alone.max(axis=-1)
        for _ in range(STEPS):
            value, slope = self._with_slope(total)
            step = np.where(value > bound, (value - bound) / slope, 0.0)
            total = total - step
            if np.all(np.abs(step) <= PRECISE * (1.0 + np.abs(total))):
                break
        return np.asarray(total)

    def _with_slope(self, total: Vector) -> tuple[Vector, Vector]:
        exponents = self.log_weights + self.slopes * total[..., np.newaxis] + self.offsets
        largest = exponents.max(axis=-1)
        terms = np.exp(exponents - largest[..., np.newaxis])
        whole = terms.sum(axis=-1)
        return largest + np.log(whole), (terms * self.slopes).sum(axis=-1) / whole


def log_shares(weights: Vector) -> Vector:
    """Return the logarithms of weights scaled to sum to 1."""
    shares: Vector = np.log(weights / weights.sum())
    return shares
