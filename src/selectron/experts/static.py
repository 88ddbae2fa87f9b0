"""Static-expert: the Bayesian mixture of experts of which one is best all along."""

from typing import Any, Self, cast

from numpy.typing import ArrayLike

from selectron.arrays import Matrix, Vector
from selectron.experts.mixture import LEAST_PRIOR, Mixture
from selectron.experts.rate import Eta, rate_from_state, rate_state
from selectron.experts.saved_state import check_shares, field_length, restore
from selectron.experts.steps import Fault
from selectron.experts.totals import (
    MOST_TOTAL,
    run_static,
    start_totals,
    totals_log_weights,
    totals_weights,
)


class StaticExpert(Mixture):
    """Weigh experts by e^(-η · total loss) ([Mon06], equations 2.1 to 2.3 with α = 0).

    Its total loss is at most log(n) / η above that of the best expert, on any sequence.
    Totals are kept, not weights: no rounding adds up, and losses may be as large as their sum is
    a number, 1.7e308.

    Parameters
    ----------
    n : int
        How many experts.
    eta : float or "adahedge" or AdaHedge, default=1.0
        Learning rate; see `selectron.experts.AdaHedge`. Tuned, this is AdaHedge itself: all
        losses so far are weighed anew at each rate.
    prior : array of shape (n,), optional
        Weights to begin with; 1/n each if left out.

    Examples
    --------
    >>> experts = StaticExpert(3)
    >>> print(round(experts.update([0.1, 0.7, 2.0]), 6))
    0.668937
    >>> experts.weights.round(4).tolist()
    [0.5888, 0.3231, 0.0881]
    >>> print(round(experts.predict([1.0, 2.0, 3.0]), 6), experts.vote(["a", "b", "b"]))
    1.499269 a
    """

    def __init__(self, n: int, *, eta: Eta = 1.0, prior: ArrayLike | None = None) -> None:
        super().__init__(n, eta, prior)
        self._totals = start_totals(self._prior)

    @property
    def weights(self) -> Vector:
        return totals_weights(self._totals, self._rate)

    def state(self) -> dict[str, Any]:
        return {
            "prior": self._prior.copy(),
            "high": self._totals.high.copy(),
            "low": self._totals.low.copy(),
            **rate_state(self._rate),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        experts = cls(field_length(state, "prior"))
        experts._rate = rate_from_state(state)
        restore(experts._prior, state, "prior", LEAST_PRIOR / experts.n)
        experts._totals = start_totals(experts._prior)
        restore(experts._totals.high, state, "high")
        restore(experts._totals.low, state, "low", -MOST_TOTAL)
        check_shares("prior", lambda: experts._prior)
        check_shares("high", lambda: experts.weights)
        return experts

    def _advance(self, losses: Matrix, out: Vector) -> Fault:
        return cast(Fault, run_static(self._totals, self._rate, losses, out))

    def _log_weights(self) -> Vector:
        return totals_log_weights(self._totals, self._rate)
