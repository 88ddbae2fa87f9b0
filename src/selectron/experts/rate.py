"""The learning rate η, given by the user or tuned by the losses.

Weights fall as e^(-ηL). η = 1 is [Mon06], where a loss is a negative log-probability. Losses in
other units (seconds, Joules) want another rate; AdaHedge finds one from the losses alone.
"""

from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from selectron.arrays import Vector
from selectron.experts.readings import State, as_float, field_number
from selectron.numeric.elementary import jitable, logarithm


@dataclass(frozen=True)
class AdaHedge:
    """Tune η by what mixing has cost so far (de Rooij et al., JMLR 15, 2014, section 2).

    η_t = factor · log n / G_t, where G adds up, step by step, the weighted mean of the losses minus
    the mix loss -log(Σ p e^(-ηL)) / η. Scaling all losses by c scales η by 1/c and changes no
    weight. As long as every step had equal losses, G is 0 and η is `cap`; without a cap the first
    step that tells experts apart is weighed at the rate it leads to.

    Parameters
    ----------
    factor : float, default=1.0
        Multiplies the rate: above 1 it commits sooner.
    cap : float, default=inf
        The largest rate, in 1 / (unit of the losses).
    """

    factor: float = 1.0
    cap: float = float("inf")

    def __post_init__(self) -> None:
        for name, value in (("factor", self.factor), ("cap", self.cap)):
            if not as_float(value) > 0:
                raise ValueError(f"{name} is {value!r}; AdaHedge needs {name} > 0")
        if self.factor == float("inf"):
            raise ValueError("factor is inf; AdaHedge needs a finite one, of 1 or some more")


class Rate(NamedTuple):
    """The rate as the compiled loops carry it."""

    tuned: bool
    fixed: float  # η, unless tuned
    scale: float  # factor · log n
    cap: float
    gap: Vector  # (1,): G


LARGEST_RATE = 1.7e308  # for losses so small that their inverse is infinite
MOST, TINIEST = 1.7976931348623157e308, 5e-324  # the largest and the smallest number
Eta = float | str | AdaHedge


def make_rate(eta: Eta, n: int) -> Rate:
    """Read the rate that a user gave: a number, "adahedge" or an AdaHedge."""
    if isinstance(eta, str) and eta == "adahedge":
        eta = AdaHedge()
    if isinstance(eta, AdaHedge):
        scale = float(eta.factor * logarithm(float(n)))
        return Rate(True, 1.0, scale, float(eta.cap), np.zeros(1))
    if not 0 < as_float(eta) < float("inf"):
        raise ValueError(f'eta is {eta!r}; give a finite rate > 0, or "adahedge" to have it tuned')
    return Rate(False, float(eta), 0.0, float("inf"), np.zeros(1))


def rate_state(rate: Rate) -> State:
    if not rate.tuned:
        return {"eta": rate.fixed}
    return {"eta_scale": rate.scale, "eta_cap": rate.cap, "eta_gap": float(rate.gap[0])}


def rate_from_state(state: State) -> Rate:
    if "eta" in state:
        return Rate(False, field_number(state, "eta", 0.0, MOST), 0.0, inf, np.zeros(1))
    scale = field_number(state, "eta_scale", -TINIEST, MOST)  # 0 for one expert
    cap = field_number(state, "eta_cap", 0.0, inf)
    gap = field_number(state, "eta_gap", -TINIEST, MOST)
    return Rate(True, 1.0, scale, cap, np.array([gap]))


@jitable
def known_rate(rate: Rate) -> float:
    """Return η before the step's losses are seen; 0 if no step has told experts apart yet."""
    if not rate.tuned:
        return rate.fixed
    if rate.gap[0] > 0.0:
        return min(min(rate.cap, LARGEST_RATE), float(rate.scale / rate.gap[0]))
    return rate.cap if rate.cap < np.inf else 0.0


@jitable
def step_rate(rate: Rate, excess: float) -> float:
    """Return η for a step whose mean loss exceeds its smallest by `excess`."""
    eta = known_rate(rate)
    if eta == 0.0:
        eta = min(LARGEST_RATE, float(rate.scale / excess)) if excess > 0.0 else 1.0
    return eta


@jitable
def finish(rate: Rate, smallest: float, excess: float, log_evidence: float) -> float:
    """Return the step's loss, given log(Σ p e^(-η(L - smallest))) / η; let a tuned rate see it."""
    mix_excess = max(0.0, -log_evidence)
    if rate.tuned:
        unbounded = rate.gap[0] == 0.0 and rate.cap == np.inf  # its limit mixes at no cost
        rate.gap[0] += excess if unbounded else max(0.0, excess - mix_excess)
    return smallest + mix_excess
