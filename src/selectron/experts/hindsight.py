"""Kernels of `regret`: the slope of Fixed-share's loss in α, and the best k-partition."""

from typing import cast

import numpy as np
from numba import njit

from selectron.arrays import Indices, Matrix, Vector
from selectron.experts.compiled import Kernel, sources_of
from selectron.experts.hearing import likelihoods
from selectron.experts.steps import smallest_awake, sum_of
from selectron.numeric.elementary import jitable, logarithm


@jitable
def share_slopes(weights: Matrix, likelihood: Vector, alpha: float) -> float:
    """Learn and share in weights (row 0) and their first two derivatives in α (rows 1 and 2)."""
    n = len(likelihood)
    stay, move, towards = 1.0 - alpha, alpha / (n - 1), 1.0 / (n - 1)
    for d in range(3):
        for i in range(n):
            weights[d, i] *= likelihood[i]
    totals = sum_of(weights[0]), sum_of(weights[1]), sum_of(weights[2])
    for i in range(n):
        w, v, u = weights[0, i], weights[1, i], weights[2, i]
        shift_w = towards * (totals[0] - w) - w  # what α moves to i
        shift_v = towards * (totals[1] - v) - v
        weights[0, i] = (stay * w + move * (totals[0] - w)) / totals[0]
        weights[1, i] = (stay * v + move * (totals[1] - v) + shift_w) / totals[0]
        weights[2, i] = (stay * u + move * (totals[2] - u) + 2.0 * shift_v) / totals[0]
    return totals[0]


def compile_hindsight(called: str) -> Kernel:
    @njit(cache=True, error_model="numpy")
    def slope_of_loss(losses: Matrix, alpha: float) -> tuple[float, float, float]:
        _ = called
        n = losses.shape[1]
        weights, likelihood = np.zeros((3, n)), np.empty(n)
        weights[0] = 1.0 / n
        loss = 0.0
        for t in range(len(losses)):
            smallest, _ = smallest_awake(losses[t])
            likelihoods(losses[t], smallest, 1.0, likelihood)
            loss += smallest - logarithm(share_slopes(weights, likelihood, alpha))
        first, second = sum_of(weights[1]), sum_of(weights[2])
        return loss, -first, first * first - second

    return cast(Kernel, slope_of_loss)


slope_of_loss = compile_hindsight(sources_of(likelihoods, share_slopes, smallest_awake))


@njit(cache=True, error_model="numpy")
def find_partition(losses: Matrix, n_switches: int, path: Indices) -> None:
    """Write the best path with at most so many switches."""
    steps, n = losses.shape
    cost = np.zeros((n_switches + 1, n))
    switched = np.zeros((steps, n_switches + 1, n), np.bool_)
    leaders = np.zeros((steps, n_switches + 1), np.int64)  # best end, with k switches, after t
    for t in range(steps):
        for k in range(n_switches, -1, -1):
            for i in range(n):
                if t > 0 and k > 0 and cost[k - 1, leaders[t - 1, k - 1]] < cost[k, i]:
                    cost[k, i] = cost[k - 1, leaders[t - 1, k - 1]]
                    switched[t, k, i] = True
                cost[k, i] += losses[t, i]
            leaders[t, k] = np.argmin(cost[k])
    k, i = n_switches, leaders[steps - 1, n_switches]
    for t in range(steps - 1, -1, -1):
        path[t] = i
        if switched[t, k, i]:
            k, i = k - 1, leaders[t - 1, k - 1]
