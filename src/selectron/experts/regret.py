"""Regret: what a mixture lost against the best expert, the best α or the best k-partition.

All functions take the losses of the experts, (T, n), at rate η = 1; for another rate multiply the
losses by η. Where an expert slept, fill in what the mixture lost, as the mixture did:
`np.where(np.isnan(L), losses[:, None], L)`.
"""

from itertools import pairwise
from math import fsum
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from selectron.arrays import Indices, Matrix, Vector
from selectron.compiler.verbs import compiled
from selectron.experts.discretisation import optimal_alphas
from selectron.experts.learn_alpha import LearnAlpha, log_evidence
from selectron.experts.readings import as_float, read_array
from selectron.experts.sharing import likelihoods
from selectron.experts.steps import smallest_awake, sum_of
from selectron.numeric.elementary import jitable, logarithm

NEWTON_STEPS = 100


class BestExpert(NamedTuple):
    expert: int
    loss: float


class BestAlpha(NamedTuple):
    alpha: float
    loss: float
    quality: float  # β*, 0 at the ends of [0, 1]


class BestPartition(NamedTuple):
    experts: Indices  # (T,): whom it follows
    loss: float


def best_expert(loss_matrix: ArrayLike) -> BestExpert:
    """Return the expert with the smallest total loss.

    Examples
    --------
    >>> best_expert([[1.0, 0.5], [1.0, 2.0]])
    BestExpert(expert=0, loss=2.0)
    """
    totals = [fsum(column) for column in _read(loss_matrix).T.tolist()]
    return BestExpert(totals.index(min(totals)), min(totals))


def best_partition(loss_matrix: ArrayLike, n_switches: int) -> BestPartition:
    """Return the best sequence of experts with at most k switches, by dynamic programming, O(Tkn).

    Examples
    --------
    >>> best = best_partition([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]], n_switches=1)
    >>> best.experts.tolist(), best.loss
    ([0, 0, 1], 0.0)
    """
    losses = _read(loss_matrix)
    if not (as_float(n_switches).is_integer() and n_switches >= 0):
        raise ValueError(f"n_switches is {n_switches}; give a whole number, 0 for the best expert")
    path = np.empty(len(losses), np.int64)
    find_partition(losses, min(int(n_switches), len(losses) - 1), path)
    return BestPartition(path, fsum(losses[np.arange(len(path)), path].tolist()))


def fixed_share_losses(loss_matrix: ArrayLike, alphas: ArrayLike) -> Vector:
    """Return L_T(α), the total log-loss of Fixed-share, for each of these rates.

    Examples
    --------
    >>> fixed_share_losses([[0.0, 3.0], [3.0, 0.0]], [0.0, 0.5, 1.0]).round(4).tolist()
    [3.0, 1.2891, 0.6907]
    """
    losses = _read(loss_matrix)
    experts = LearnAlpha(losses.shape[1], alphas=alphas)
    experts.run(losses)
    return fsum(losses.min(axis=1).tolist()) - log_evidence(experts)


def best_alpha(loss_matrix: ArrayLike) -> BestAlpha:
    """Return α*, which minimises L_T(α) over [0, 1], and the quality β* of that minimum (2.15).

    No α* escapes the grid of `optimal_alphas`: one of its points loses at most 1/2 more. Every
    minimum that may be the least is then found to machine precision as a root of L_T'(α).

    Examples
    --------
    >>> best = best_alpha(([[0.0, 2.0]] * 20 + [[2.0, 0.0]] * 20) * 10)
    >>> print(round(best.alpha, 4), round(best.loss, 4), round(best.quality, 4))
    0.0484 71.7484 0.9681
    """
    losses = _read(loss_matrix)
    if 1 in losses.shape:  # nowhere to switch to
        return BestAlpha(0.0, fixed_share_losses(losses, [0.0]).item(), 0.0)
    grid = np.concatenate([[0.0], optimal_alphas(horizon=len(losses)), [1.0]])
    totals = fixed_share_losses(losses, grid)
    found = [BestAlpha(grid[j].item(), totals[j].item(), 0.0) for j in (0, -1)]
    near = np.flatnonzero(totals <= totals.min() + 0.5 + 1e-6)
    points = grid[max(near[0] - 1, 0) : near[-1] + 2].clip(1e-12, 1 - 1e-12).tolist()
    rising = [slope_of_loss(losses, alpha)[1] > 0 for alpha in points]
    for (left, right), signs in zip(pairwise(points), pairwise(rising), strict=True):
        if signs == (False, True):
            found.append(_minimum_between(losses, left, right))
    return min(found, key=lambda best: best.loss)


def regret_to_best_expert(losses: ArrayLike, loss_matrix: ArrayLike) -> float:
    """Return the total of `losses`, a mixture's, minus that of the best expert."""
    return _total(losses) - best_expert(loss_matrix).loss


def regret_to_best_partition(losses: ArrayLike, loss_matrix: ArrayLike, n_switches: int) -> float:
    """Return the total of `losses` minus that of the best partition with so many switches."""
    return _total(losses) - best_partition(loss_matrix, n_switches).loss


def regret_to_best_alpha(losses: ArrayLike, loss_matrix: ArrayLike) -> float:
    """Return the total of `losses` minus that of Fixed-share with the best α: L_T - L_T(α*)."""
    return _total(losses) - best_alpha(loss_matrix).loss


def _minimum_between(losses: Matrix, left: float, right: float) -> BestAlpha:
    """Find where the slope of L_T rises through 0, by Newton's method kept inside a bracket."""
    following = 0.5 * (left + right)
    for _ in range(NEWTON_STEPS):
        alpha = following
        loss, slope, curvature = slope_of_loss(losses, alpha)
        left, right = (left, alpha) if slope > 0 else (alpha, right)
        newton = alpha - slope / curvature if curvature > 0 else left
        following = newton if left < newton < right else 0.5 * (left + right)
        if abs(following - alpha) <= 1e-15 * alpha:
            break
    return BestAlpha(alpha, loss, alpha * (1 - alpha) * curvature / (len(losses) - 1))


def _total(losses: ArrayLike) -> float:
    return fsum(np.asarray(losses, dtype=np.float64).ravel().tolist())


def _read(loss_matrix: ArrayLike) -> Matrix:
    losses = read_array("loss_matrix", loss_matrix, "give numbers, (T, n)")
    if losses.ndim != 2 or 0 in losses.shape:
        raise ValueError(f"loss_matrix has shape {losses.shape}; give (T, n), both at least 1")
    if not (np.isfinite(losses).all() and (losses >= 0).all()):
        bad = losses[~(losses >= 0) | np.isinf(losses)][0]
        raise ValueError(
            f"loss_matrix holds {bad}; losses must be >= 0 and finite: for an expert that slept, "
            "fill in what the mixture lost"
        )
    return losses


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


@compiled
def slope_of_loss(losses: Matrix, alpha: float) -> tuple[float, float, float]:
    """Return the total loss of Fixed-share and its first two derivatives in α."""
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


@compiled
def find_partition(losses: Matrix, n_switches: int, path: Indices) -> None:
    """Write the best path with at most `n_switches` switches."""
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
