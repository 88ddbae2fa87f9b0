"""Construction T: what the events that were asked say of all events, by two products.

Whether round t has the event (a mistake, say) is fixed before its coin; its label is asked with
probability π_t. Let a bet stay as it is in a round without the event, and in one with it take the
factor (1 - u/π_t)/(1 - u) if asked, 1/(1 - u) if not. Its mean is (π - u + 1 - π)/(1 - u) = 1: for
0 < u < π_t the bet is a martingale, whatever the stream and the learner make of the past. After S
events it is

    E_u = (1 - u)^(-S) Π (1 - u/π_i),  and with v > 0 for -u  F_v = (1 + v)^(-S) Π (1 + v/π_i),

products over the events asked. Neither grows beyond 1/δ but with probability δ, and both do if S
is far from the truth: E if it is put too high, F if too low. The bets do not move in rounds with
π = 1, whose labels are all known. Mixtures over u and v (see `grids`) are bets as well.

Of the risk. If the stream is independent draws, let R be the sum of the probabilities of the event
given the past. A round's mean factor is then 1 - ur before the normaliser, and 1 - ur <= e^(-ur):
with e^(uR) and e^(-vR) for (1 - u)^(-S) and (1 + v)^(-S) the products cover R, and S too; they are
wider by about the factor 1/√(1 - π).
"""

from dataclasses import dataclass

import numpy as np

from selectron.estimate.grids import LOW_RATES, LOW_WEIGHTS, UP_SHARES, UP_WEIGHTS
from selectron.estimate.mixture import Mixture
from selectron.estimate.sums import Sums


@dataclass(frozen=True)
class Thinning:
    """Intervals from the two products.

    Parameters
    ----------
    risk : bool
        Cover the cumulative risk of independent draws as well as the realised total.
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
