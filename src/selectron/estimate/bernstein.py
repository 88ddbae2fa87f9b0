"""Empirical Bernstein: the same claim from two sums, the weights and their squares.

Let L_t = 1/π_t in a round that was asked and has the event, and 0 otherwise; its mean given the
past is M_t, 1 with the event and 0 without. For y >= 0 is e^(y - y²/2) <= 1 + y, so that
E exp(vL - v²L²/2) <= 1 + vM <= e^(vM), and

    F_v = exp(v (ΣL - S) - v²/2 ΣL²)

is a supermartingale. For 0 <= y <= z < 1 is exp(-y - y² ψ(z)/z²) <= 1 - y with
ψ(z) = -log(1 - z) - z; where π >= explore, y = uL is at most z = u/explore, and

    E_u = exp(u (S - ΣL) - ψ(z)/z² u² ΣL²)

is one as well (Fan, Grama, Liu 2015; Howard, Ramdas, McAuliffe, Sekhon 2021, Theorem 4, with their
prediction of L set to 0, which costs nothing unless the event is common). The mixture is over the
rates of `grids`. Each factor is at most that of `thinning` at the same rate, so this is never
narrower; it is here because it is known, keeps two sums instead of 28, and checks the other.
"""

from dataclasses import dataclass

import numpy as np

from selectron.estimate.grids import LOW_RATES, LOW_WEIGHTS, UP_SHARES, UP_WEIGHTS
from selectron.estimate.mixture import Mixture
from selectron.estimate.sums import Sums

EXCESS = (-np.log1p(-UP_SHARES) - UP_SHARES) / UP_SHARES**2  # ψ(z)/z²


@dataclass(frozen=True)
class Bernstein:
    """Intervals from the sum of the weights and of their squares.

    Parameters
    ----------
    risk : bool
        As in `Thinning`. The two sums cover both; without it, the labels known count as such.
    """

    risk: bool = False

    def too_many(self, sums: Sums, explore: float) -> Mixture:
        """Return the evidence against a total, large if it is too high."""
        rates = UP_SHARES * explore
        return Mixture(
            UP_WEIGHTS,
            rates,
            -rates * sums.weights[..., np.newaxis]
            - EXCESS * rates**2 * sums.squares[..., np.newaxis],
        )

    def too_few(self, sums: Sums, explore: float) -> Mixture:
        """Return the evidence against a total, large if it is too low."""
        return Mixture(
            LOW_WEIGHTS,
            -LOW_RATES,
            LOW_RATES * sums.weights[..., np.newaxis]
            - 0.5 * LOW_RATES**2 * sums.squares[..., np.newaxis],
        )
