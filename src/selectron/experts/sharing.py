"""One row of weights learns from a step, and shares.

A row is kept in one of two ways. *Calm*: as plain numbers, where a share α of the mass goes round
at every step, so that no weight falls below about α / n. *Stiff*: as scaled numbers, where nothing
goes round (α = 0), or where an expert can keep next to nothing (α so near 1 that sums cancel).
"""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from selectron.arrays import Indices, Vector
from selectron.experts.readings import as_float
from selectron.experts.saved_state import restore
from selectron.experts.scaled import LOWEST, align, log_scaled, plain_numbers, power_of_two, split
from selectron.experts.steps import sum_of
from selectron.numeric.elementary import jitable
from selectron.numeric.sums import lane_dot

LEAST_ALPHA = 1e-280  # a smaller share drowns in the smallest numbers
LEAST_STAY = 1 / 256  # (n - 1)(1 - α) below this: the calm form would lose 8 of 53 bits


class Row(NamedTuple):
    """One distribution over experts: weights · 2^exponents; all exponents are 0 if calm."""

    calm: bool
    weights: Vector
    exponents: Indices
    likelihood: Vector  # of the step, scaled like the weights
    likelihood_exponents: Indices
    room: Vector
    spare: Vector
    spare_exponents: Indices


def start_row(prior: Vector, calm: bool) -> Row:
    n = len(prior)
    exponents = [np.zeros(n, np.int64) for _ in range(3)]
    rooms = [np.zeros(n) for _ in range(3)]
    row = Row(
        calm, prior.copy(), exponents[0], rooms[0], exponents[1], rooms[1], rooms[2], exponents[2]
    )
    if not calm:
        for i in range(n):
            row.weights[i], row.exponents[i] = split(prior[i])
    return row


def row_weights(row: Row) -> Vector:
    return row.weights.copy() if row.calm else plain_numbers(row.weights, row.exponents)


def row_state(row: Row) -> dict[str, Any]:
    return {"weights": row.weights.copy(), "exponents": row.exponents.copy()}


def restore_row(row: Row, state: dict[str, Any]) -> None:
    restore(row.weights, state, "weights")
    restore(row.exponents, state, "exponents", LOWEST)


def row_log_weights(row: Row) -> Vector:
    pairs = zip(row.weights, row.exponents, strict=True)
    return np.array([log_scaled(w, k) if w > 0 else -np.inf for w, k in pairs])


def check_alpha(alpha: float) -> float:
    rate = as_float(alpha)
    if not 0 <= rate <= 1 or 0 < rate < LEAST_ALPHA:
        raise ValueError(
            f"alpha is {alpha!r}; a switching rate is 0, or from {LEAST_ALPHA} to 1: "
            "the fraction of steps at which the best expert changes"
        )
    return rate


def is_calm(n: int, alpha: float) -> bool:
    """Tell which of the two ways a row with this switching rate needs."""
    return n > 1 and alpha > 0 and (n - 1) * (1 - alpha) >= LEAST_STAY


def transition_of(n: int, alpha: float) -> tuple[float, float]:
    """Return P(i | i) and P(i | j) of ([Mon06], equation 2.3); one expert alone stays."""
    return (1 - alpha, alpha / (n - 1)) if n > 1 else (1.0, 0.0)


def calm_transition_of(n: int, alpha: float) -> tuple[float, float]:
    """Return P(i | i) - P(i | j), rounded once so that no mass leaks, and P(i | j)."""
    return float(1 - Fraction(alpha) * n / (n - 1)), alpha / (n - 1)


@jitable
def calm_share(weights: Vector, likelihood: Vector, spread: float, move: float) -> float:
    """Learn and share in O(n) ([Mon06], equations 2.2 and 2.3); return Σ p e^(-L)."""
    evidence = lane_dot(weights, likelihood)
    scale = spread / evidence
    for i in range(len(weights)):
        weights[i] = scale * (weights[i] * likelihood[i]) + move
    return float(evidence)


@jitable
def learn_scaled(row: Row) -> tuple[int, float]:
    """Multiply by the likelihoods; write all aligned to `room`, return their exponent and sum."""
    for i in range(len(row.weights)):
        mantissa, carry = split(row.weights[i] * row.likelihood[i])
        row.weights[i] = mantissa
        row.exponents[i] += row.likelihood_exponents[i] + carry
    largest = align(row.weights, row.exponents, row.room)
    return largest, sum_of(row.room)


@jitable
def stiff_share(row: Row, stay: float, move: float) -> tuple[float, int]:
    """Do as `calm_share` to a stiff row; return Σ p e^(-L) as mantissa and exponent.

    The leader gets its own sum over the others: no sum is a difference of equals.
    """
    weights, exponents, aligned = row.weights, row.exponents, row.room
    largest, total = learn_scaled(row)
    if move == 0.0:
        for i in range(len(weights)):
            weights[i], carry = split(weights[i] / total)
            exponents[i] += carry - largest
        return total, largest
    leader = 0
    for i in range(len(weights)):
        leader = i if aligned[i] > aligned[leader] else leader
    kept = stay * aligned[leader]
    aligned[leader] = 0.0
    others, lag = sum_of(aligned), 0
    if stay == 0.0:  # however small: the leader keeps nothing of its own
        weights[leader] = 0.0
        lag = align(weights, exponents, aligned) - largest
        others = sum_of(aligned)
    for i in range(len(weights)):
        own = aligned[i] * power_of_two(lag)
        weights[i], exponents[i] = split((stay * own + move * (total - own)) / total)
    weights[leader], carry = split((kept + move * others) / total)
    exponents[leader] = carry + lag
    return total, largest
