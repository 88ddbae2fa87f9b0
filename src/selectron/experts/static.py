"""Static-expert: the Bayesian mixture of experts of which one is best all along.

The mixture keeps the total loss of each expert, and weighs the experts by these totals.
"""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from selectron.arrays import Matrix, Vector
from selectron.compiler.verbs import compiled
from selectron.experts.mixture import LEAST_PRIOR, Mixture
from selectron.experts.rate import Eta, Rate, finish, known_rate, rate_from_state, rate_state
from selectron.experts.readings import State, check_shares, field_length, restore
from selectron.experts.steps import (
    FINE,
    MAGNITUDE_BITS,
    TOO_MUCH,
    Fault,
    first_fault,
    mean_excess,
    smallest_awake,
    sum_of,
)
from selectron.numeric.elementary import exponential, jitable, logarithm

MOST_TOTAL = 1.7e308


class StaticExpert(Mixture):
    """Weigh experts by e^(-η · total loss) ([Mon06], equations 2.1 to 2.3 with α = 0).

    Its total loss is at most log(n) / η above that of the best expert, on any sequence.
    The mixture keeps totals, not weights: rounding errors do not add up, and losses may be as large
    as their sum is a number, 1.7e308.

    Parameters
    ----------
    n : int
        How many experts.
    eta : float or "adahedge" or AdaHedge, default=1.0
        Learning rate; see `selectron.experts.AdaHedge`. Tuned, this is AdaHedge itself: each
        rate weighs all losses so far.
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
        weights = np.empty(self.n)
        weigh_totals(self._totals, self._rate, weights)
        return weights

    def state(self) -> State:
        return {
            "prior": self._prior.copy(),
            "high": self._totals.high.copy(),
            "low": self._totals.low.copy(),
            **rate_state(self._rate),
        }

    @classmethod
    def from_state(cls, state: State) -> Self:
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
        return run_static(self._totals, self._rate, losses, out)

    def _log_weights(self) -> Vector:
        high, low = self._totals.high, self._totals.low
        best = high.argmin()
        lead = (high - high[best]) + (low - low[best])
        logs: Vector = self._totals.log_prior - known_rate(self._rate) * lead
        return logs


class Totals(NamedTuple):
    """The total loss of each expert, to twice the usual precision: high + low."""

    high: Vector
    low: Vector
    log_prior: Vector
    weights: Vector  # room for one step


def start_totals(prior: Vector) -> Totals:
    n = len(prior)
    log_prior = np.array([logarithm(p) for p in prior])
    return Totals(np.zeros(n), np.zeros(n), log_prior, np.empty(n))


@jitable
def two_sum(a: float, b: float) -> tuple[float, float]:
    """Return a + b as rounded, and the exact rounding error."""
    total = a + b
    shadow = total - a
    return total, (a - (total - shadow)) + (b - shadow)


@jitable
def posterior(totals: Totals, eta: float, losses: Vector) -> tuple[float, float, float]:
    """Weigh awake experts against their smallest total; return that and the log of the sum."""
    high, low, weights = totals.high, totals.low, totals.weights
    least = MAGNITUDE_BITS
    for i in range(len(high)):
        awake = MAGNITUDE_BITS if losses[i] == losses[i] else np.int64(0)
        least = min(least, (np.float64(high[i]).view(np.int64) & awake) | (MAGNITUDE_BITS ^ awake))
    best = np.int64(least).view(np.float64)
    rest = np.inf  # the low part of the smallest: of large totals it is large as well
    for i in range(len(high)):
        rest = min(rest, low[i] if (high[i] == best) & (losses[i] == losses[i]) else np.inf)
    for i in range(len(high)):
        log_weight = totals.log_prior[i] - eta * ((high[i] - best) + (low[i] - rest))
        weights[i] = log_weight if losses[i] == losses[i] else -np.inf
    for i in range(len(high)):
        weights[i] = exponential(weights[i])
    return best, rest, logarithm(sum_of(weights))


@jitable
def add_losses(totals: Totals, losses: Vector, awake: bool, mix: float) -> None:
    """Add its loss to every awake expert, or the mixture's loss to every expert that slept."""
    high, low = totals.high, totals.low
    for i in range(len(losses)):
        loss = losses[i] if losses[i] == losses[i] else 0.0
        slept = 0.0 if losses[i] == losses[i] else mix
        total, dropped = two_sum(high[i], loss if awake else slept)
        high[i], low[i] = two_sum(total, low[i] + dropped)


@jitable
def first_beyond(totals: Totals, losses: Matrix) -> Fault:
    """Return at which step, and by which expert's loss, a total may overflow."""
    most = 0.0
    for i in range(len(totals.high)):
        most = max(most, totals.high[i])
    for t in range(losses.shape[0]):
        largest, whose = 0.0, 0
        for i in range(losses.shape[1]):
            if losses[t, i] > largest:
                largest, whose = losses[t, i], i
        most += largest
        if most > MOST_TOTAL:
            return TOO_MUCH, t, whose
    return FINE, 0, 0


@compiled
def run_static(totals: Totals, rate: Rate, losses: Matrix, out: Vector) -> Fault:
    n, known = losses.shape[1], False
    before = after = (0.0, 0.0, 0.0)
    fault = first_fault(losses)
    if fault[0] == FINE:
        fault = first_beyond(totals, losses)
    for t in range(len(losses) if fault[0] == FINE else 0):
        smallest, awake = smallest_awake(losses[t])
        eta = known_rate(rate)
        before = after if known and awake == n else posterior(totals, eta, losses[t])
        excess = mean_excess(totals.weights, losses[t], smallest) if rate.tuned else 0.0
        add_losses(totals, losses[t], True, 0.0)
        mix = smallest  # the limit, if the rate has no bound yet
        if eta > 0.0:
            after = posterior(totals, eta, losses[t])
            grown = (after[0] - before[0]) + (after[1] - before[1])
            mix = grown - (after[2] - before[2]) / eta
        out[t] = finish(rate, smallest, excess, smallest - mix)
        if awake < n:
            add_losses(totals, losses[t], False, out[t])
        known = awake == n and not rate.tuned
    return fault


@compiled
def weigh_totals(totals: Totals, rate: Rate, out: Vector) -> None:
    out[:] = 0.0
    posterior(totals, known_rate(rate), out)
    total = sum_of(totals.weights)
    for i in range(len(out)):
        out[i] = totals.weights[i] / total
