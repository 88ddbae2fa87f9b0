"""The best finite set of switching rates for Learn-α ([Mon06], section 2.3)."""

from math import sqrt
from typing import cast

import numpy as np

from selectron.arrays import Vector
from selectron.compiler.verbs import compiled
from selectron.experts.readings import as_float
from selectron.numeric.elementary import jitable, logarithm

LEAST_DELTA = 1e-12  # a million rates
NEWTON_STEPS = 200


def optimal_alphas(delta: float | None = None, *, horizon: int | None = None) -> Vector:
    """Return the fewest rates such that every α* has one with D(α* ‖ α) ≤ δ ([Mon06], 2.12).

    α_1 = 1 - e^-δ, and between neighbours the worst α* (2.14) is δ from both. The set contains 1/2
    and is symmetric about it. Rates lie O(δ) apart at the edges and O(√δ) around 1/2.

    Parameters
    ----------
    delta : float, optional
        δ > 0, the price a step of not having α* itself; from 1e-12.
    horizon : int, optional
        T steps, instead of δ: δ* = 1 / (2T), so that all of them cost half a unit of log-loss.

    Returns
    -------
    array of shape (m,), increasing; m ≈ π / √(8δ), which is 1.57 √T.

    Examples
    --------
    >>> optimal_alphas(horizon=5).round(4).tolist()
    [0.0952, 0.4664, 0.5, 0.5336, 0.9048]
    >>> len(optimal_alphas(horizon=27000))
    259
    """
    delta = _read_delta(delta, horizon)
    half = np.empty(int(1.2 / delta**0.5) + 8)
    count = lower_alphas(delta, half)
    lower = half[:count]
    return np.concatenate([lower, [0.5], 1.0 - lower[::-1]])


def discretisation_size(delta: float | None = None, *, horizon: int | None = None) -> int:
    """Return m(δ), the number of rates in `optimal_alphas`.

    Examples
    --------
    >>> [discretisation_size(horizon=T) for T in (100, 10_000, 1_000_000)]
    [17, 157, 1571]
    """
    return len(optimal_alphas(delta, horizon=horizon))


def _read_delta(delta: float | None, horizon: int | None) -> float:
    if (delta is None) == (horizon is None):
        raise ValueError(
            f"delta is {delta} and horizon is {horizon}; give one of them: the price a step, or "
            "the number of steps"
        )
    if horizon is not None:
        if not as_float(horizon) >= 1:
            raise ValueError(f"horizon is {horizon!r}; give the number of steps, at least 1")
        delta = 1 / (2 * horizon)
    delta = cast(float, delta)
    if not LEAST_DELTA <= delta < np.inf:
        raise ValueError(
            f"delta is {delta}; give a finite number from {LEAST_DELTA}: smaller ones (longer "
            "horizons) need over a million rates"
        )
    return float(delta)


@jitable
def log_one_plus(x: float) -> float:
    """Return log(1 + x) with full precision for small x."""
    near = 1.0 + x
    return logarithm(near) + (x - (near - 1.0)) / near


@jitable
def step_between(alpha: float, delta: float, worst_is_above: bool) -> float:
    """Solve D(α + d ‖ α) = δ for d > 0; D(α ‖ α + d) = δ if α itself is the worst rate."""
    d = min(sqrt(0.5 * delta), 1.0 - alpha)  # not below the solution: D ≥ 2d², and D is convex
    for _ in range(NEWTON_STEPS):
        d = min(d, 0.5 * (d + (1.0 - alpha)))
        above = alpha + d
        up, down = log_one_plus(d / alpha), log_one_plus(-d / (1.0 - alpha))
        if worst_is_above:
            excess = above * up + (1.0 - alpha - d) * down - delta
        else:
            excess = -alpha * up - (1.0 - alpha) * down - delta
        if excess <= 0.0:
            break
        d -= excess / (up - down) if worst_is_above else excess * above * (1.0 - alpha - d) / d
    return d


@compiled
def lower_alphas(delta: float, out: Vector) -> int:
    """Write the optimal rates below 1/2; return how many there are."""
    alpha = min(delta, 0.75)  # not below 1 - e^-δ, where -log(1 - α) = δ
    for _ in range(NEWTON_STEPS):
        excess = -log_one_plus(-alpha) - delta
        if excess <= 0.0:
            break
        alpha -= excess * (1.0 - alpha)
    count = 0
    while alpha < 0.5:
        out[count] = alpha
        count += 1
        worst = alpha + step_between(alpha, delta, True)
        alpha = worst + step_between(worst, delta, False)
    return count
