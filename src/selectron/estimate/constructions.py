"""Two constructions of intervals that hold at all times: thinning, and empirical Bernstein.

A construction bets against every possible total S of an event. Its wealth, as a function of S, is a
mixture Σ w e^(slope · S + offset). For the true total the wealth is a supermartingale that starts
at 1, so it ever reaches 1/δ with probability at most δ (Ville). The totals at which the wealth has
reached 1/δ are ruled out, at all times at once.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from selectron.arrays import Vector
from selectron.estimate.sums import LOW_RATES, UP_SHARES, Sums


def log_shares(weights: Vector) -> Vector:
    """Return the logarithms of weights scaled to sum to 1."""
    shares: Vector = np.log(weights / weights.sum())
    return shares


UP_WEIGHTS = log_shares(1.0 / ((np.arange(12) + 1.0) * (np.arange(12) + 2.0)))
LOW_WEIGHTS = log_shares(1.0 / (np.arange(16) + 2.0))
EXCESS = (-np.log1p(-UP_SHARES) - UP_SHARES) / UP_SHARES**2  # ψ(z)/z²
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

        Newton's method on a convex function, from a total at which one term alone reaches the
        bound. Every step stays on that side, so the result never rules out too much.
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


@dataclass(frozen=True)
class Thinning:
    """Intervals from two products over the events that were asked (construction T).

    Parameters
    ----------
    risk : bool
        Cover the cumulative risk of independent draws as well as the realised total.

    Notes
    -----
    Whether round t has the event (a mistake, say) is fixed before its coin; its label is asked with
    probability π_t. A bet does not change in a round without the event. In a round with the event
    the bet takes the factor (1 - u/π_t)/(1 - u) if asked, 1/(1 - u) if not. The mean factor is
    (π - u + 1 - π)/(1 - u) = 1. So for 0 < u < π_t the bet is a martingale, whatever the stream and
    the learner make of the past. After S events the bet, and the bet with v > 0 for -u, are

        E_u = (1 - u)^(-S) Π (1 - u/π_i)  and  F_v = (1 + v)^(-S) Π (1 + v/π_i),

    products over the events asked. Each exceeds 1/δ with probability at most δ for the true S. E is
    large if S is put too high, F if S is put too low. Rounds with π = 1, whose labels are all
    known, do not change the bets. Mixtures over u and v are bets as well.

    Of the risk: if the stream is independent draws, let R be the sum of the probabilities of the
    event given the past. A round's mean factor before the normaliser is 1 - ur <= e^(-ur). So with
    e^(uR) and e^(-vR) for (1 - u)^(-S) and (1 + v)^(-S) the products cover R, and S too. The
    intervals are wider by about the factor 1/√(1 - π).
    """

    risk: bool = False

    def too_many(self, sums: Sums, explore: float) -> Mixture:
        """Return the evidence against a total, large if it is too high."""
        rates = UP_SHARES * explore
        return Mixture(UP_WEIGHTS, rates if self.risk else -np.log1p(-rates), sums.up)

    def too_few(self, sums: Sums, explore: float) -> Mixture:
        """Return the evidence against a total, large if it is too low."""
        slopes = -LOW_RATES if self.risk else -np.log1p(LOW_RATES)
        return Mixture(LOW_WEIGHTS, slopes, sums.low)


@dataclass(frozen=True)
class Bernstein:
    """Intervals from the sum of the weights 1/π and the sum of their squares (empirical Bernstein).

    These intervals are never narrower than those of `Thinning`. They are here because the method is
    known, needs two sums instead of 28, and checks the other construction.

    Parameters
    ----------
    risk : bool
        As in `Thinning`. The two sums cover both; without `risk`, known labels limit the interval.

    Notes
    -----
    Let L_t = 1/π_t in a round that was asked and has the event, and 0 otherwise. Its mean given the
    past is M_t, 1 with the event and 0 without. For y >= 0, e^(y - y²/2) <= 1 + y. Therefore
    E exp(vL - v²L²/2) <= 1 + vM <= e^(vM), and

        F_v = exp(v (ΣL - S) - v²/2 ΣL²)

    is a supermartingale. For 0 <= y <= z < 1, exp(-y - y² ψ(z)/z²) <= 1 - y with
    ψ(z) = -log(1 - z) - z. Where π >= explore, y = uL is at most z = u/explore, so

        E_u = exp(u (S - ΣL) - ψ(z)/z² u² ΣL²)

    is a supermartingale too (Fan, Grama, Liu 2015; Howard, Ramdas, McAuliffe, Sekhon 2021, Theorem
    4, with their prediction of L set to 0, which costs nothing unless the event is common). Each
    factor is at most that of `Thinning` at the same rate.
    """

    risk: bool = False

    def too_many(self, sums: Sums, explore: float) -> Mixture:
        """Return the evidence against a total, large if it is too high."""
        rates = UP_SHARES * explore
        weights, squares = sums.weights[..., np.newaxis], sums.squares[..., np.newaxis]
        return Mixture(UP_WEIGHTS, rates, -rates * weights - EXCESS * rates**2 * squares)

    def too_few(self, sums: Sums, explore: float) -> Mixture:
        """Return the evidence against a total, large if it is too low."""
        weights, squares = sums.weights[..., np.newaxis], sums.squares[..., np.newaxis]
        offsets = LOW_RATES * weights - 0.5 * LOW_RATES**2 * squares
        return Mixture(LOW_WEIGHTS, -LOW_RATES, offsets)


Construction = Thinning | Bernstein  # how sums become evidence against a total
