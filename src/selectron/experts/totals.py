"""Total losses instead of weights: how Static-expert learns and what it weighs."""

from typing import NamedTuple, cast

import numpy as np
from numba import njit

from selectron.arrays import Matrix, Vector
from selectron.experts.compiled import Kernel, sources_of
from selectron.experts.rate import Rate, finish, known_rate
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


class Totals(NamedTuple):
    """The losses of each expert so far, to twice the usual precision: high + low."""

    high: Vector
    low: Vector
    log_prior: Vector
    weights: Vector  # room for one step


def start_totals(prior: Vector) -> Totals:
    n = len(prior)
    log_prior = np.array([logarithm(p) for p in prior])
    return Totals(np.zeros(n), np.zeros(n), log_prior, np.empty(n))


def totals_weights(totals: Totals, rate: Rate) -> Vector:
    weights = np.empty(len(totals.high))
    weigh_totals(totals, rate, weights)
    return weights


def totals_log_weights(totals: Totals, rate: Rate) -> Vector:
    eta = known_rate(rate)
    best = totals.high.argmin()
    lead = (totals.high - totals.high[best]) + (totals.low - totals.low[best])
    logs: Vector = totals.log_prior - eta * lead
    return logs


@jitable
def two_sum(a: float, b: float) -> tuple[float, float]:
    """Return a + b, and exactly what rounding it has dropped."""
    total = a + b
    shadow = total - a
    return total, (a - (total - shadow)) + (b - shadow)


@jitable
def posterior(totals: Totals, eta: float, losses: Vector) -> tuple[float, float, float]:
    """Weigh those awake against the smallest total among them; return it and the log of the sum."""
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
    """Add their losses to those awake, or the mixture's loss to those asleep."""
    high, low = totals.high, totals.low
    for i in range(len(losses)):
        loss = losses[i] if losses[i] == losses[i] else 0.0
        slept = 0.0 if losses[i] == losses[i] else mix
        total, dropped = two_sum(high[i], loss if awake else slept)
        high[i], low[i] = two_sum(total, low[i] + dropped)


@jitable
def first_beyond(totals: Totals, losses: Matrix) -> Fault:
    """Return at which step, and by whose loss, a total may leave the numbers."""
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


def compile_static(called: str) -> tuple[Kernel, Kernel]:
    @njit(cache=True, error_model="numpy")
    def run(totals: Totals, rate: Rate, losses: Matrix, out: Vector) -> Fault:
        _ = called
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

    @njit(cache=True, error_model="numpy")
    def weigh(totals: Totals, rate: Rate, out: Vector) -> None:
        _ = called
        out[:] = 0.0
        posterior(totals, known_rate(rate), out)
        total = sum_of(totals.weights)
        for i in range(len(out)):
            out[i] = totals.weights[i] / total

    return cast(Kernel, run), cast(Kernel, weigh)


run_static, weigh_totals = compile_static(
    sources_of(first_fault, posterior, mean_excess, add_losses, finish)
)
