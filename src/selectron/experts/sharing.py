"""One row of weights learns from the losses of a step, and shares.

A row is kept in one of two ways. A *calm* row has plain numbers: a share α of the mass moves at
every step, so that no weight falls below about α / n. A *stiff* row has scaled numbers: there no
mass moves (α = 0), or an expert can keep next to nothing (α so near 1 that sums cancel).

A row learns from the likelihood e^(-η(L - smallest)) of every expert. An expert that slept gets the
likelihood of the mixture of all experts that are awake, which leaves its weight as it was.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from selectron.arrays import Indices, Vector
from selectron.experts.rate import Rate, step_rate
from selectron.experts.readings import State, as_float, check_shares, restore
from selectron.experts.scaled import (
    LOWEST,
    align,
    log_scaled,
    plain_numbers,
    power_of_two,
    scaled_exponential,
    split,
)
from selectron.experts.steps import mean_excess, smallest_awake, sum_awake, sum_of
from selectron.numeric.elementary import exponential, jitable
from selectron.numeric.sums import lane_dot

LEAST_ALPHA = 1e-280  # a smaller share would be lost to underflow
LEAST_STAY = 1 / 256  # (n - 1)(1 - α) below this: the calm form would lose 8 of 53 bits


class Row(NamedTuple):
    """One distribution over experts: weights · 2^exponents; all exponents are 0 if calm."""

    weights: Vector
    exponents: Indices
    likelihood: Vector  # of the step, scaled like the weights
    likelihood_exponents: Indices
    room: Vector
    spare: Vector
    spare_exponents: Indices

    @classmethod
    def start(cls, prior: Vector, calm: bool) -> "Row":
        a, b, c = (np.zeros(len(prior), np.int64) for _ in range(3))
        likelihood, room, spare = (np.zeros(len(prior)) for _ in range(3))
        row = cls(prior.copy(), a, likelihood, b, room, spare, c)
        if not calm:
            for i in range(len(prior)):
                row.weights[i], row.exponents[i] = split(prior[i])
        return row

    def plain_weights(self) -> Vector:
        return plain_numbers(self.weights, self.exponents)

    def log_weights(self) -> Vector:
        pairs = zip(self.weights, self.exponents, strict=True)
        return np.array([log_scaled(w, k) if w > 0 else -np.inf for w, k in pairs])

    def state(self) -> State:
        return {"weights": self.weights.copy(), "exponents": self.exponents.copy()}

    def restore(self, state: State, calm: bool) -> None:
        """Write the weights of a state, or refuse them."""
        restore(self.weights, state, "weights")
        restore(self.exponents, state, "exponents", LOWEST)
        if calm and self.exponents.any():
            raise ValueError("'exponents' of the state are not 0, as those of plain weights are")
        check_shares("weights", self.plain_weights)


def check_alpha(alpha: float) -> float:
    rate = as_float(alpha)
    if not 0 <= rate <= 1 or 0 < rate < LEAST_ALPHA:
        raise ValueError(
            f"alpha is {alpha!r}; a switching rate is 0, or from {LEAST_ALPHA} to 1: "
            "the fraction of steps at which the best expert changes"
        )
    return rate


def is_calm(n: int, alpha: float) -> bool:
    """Return whether a row with this switching rate can be calm."""
    return n > 1 and alpha > 0 and (n - 1) * (1 - alpha) >= LEAST_STAY


def transition_of(n: int, alpha: float) -> tuple[float, float]:
    """Return P(i | i) and P(i | j) of ([Mon06], equation 2.3); one expert alone stays."""
    return (1 - alpha, alpha / (n - 1)) if n > 1 else (1.0, 0.0)


def calm_transition_of(n: int, alpha: float) -> tuple[float, float]:
    """Return P(i | i) - P(i | j), rounded once so that no mass leaks, and P(i | j)."""
    return float(1 - Fraction(alpha) * n / (n - 1)), alpha / (n - 1)


@jitable
def likelihoods(losses: Vector, smallest: float, eta: float, out: Vector) -> None:
    """Write e^(-η(L_i - smallest)), and 0 for an expert that slept."""
    for i in range(len(losses)):
        likelihood = exponential(-(eta * (losses[i] - smallest)))
        out[i] = likelihood if losses[i] == losses[i] else 0.0


@jitable
def scaled_likelihoods(
    losses: Vector, smallest: float, eta: float, out: Vector, exponents: Indices
) -> None:
    """Write e^(-η(L_i - smallest)) as mantissa and exponent, and 0 for an expert that slept."""
    for i in range(len(losses)):
        if losses[i] == losses[i]:
            out[i], exponents[i] = scaled_exponential(-(eta * (losses[i] - smallest)))
        else:
            out[i], exponents[i] = 0.0, 0


@jitable
def step_likelihoods(
    row: Row, calm: bool, losses: Vector, rate: Rate
) -> tuple[float, float, float]:
    """Write the likelihood of every expert; return the smallest loss, the mean's excess, and η."""
    smallest, awake = smallest_awake(losses)
    excess = 0.0
    if rate.tuned:
        for i in range(len(losses)):
            row.room[i] = row.weights[i] * power_of_two(row.exponents[i])
        excess = mean_excess(row.room, losses, smallest)
    eta = step_rate(rate, excess)
    if calm:
        likelihoods(losses, smallest, eta, row.likelihood)
    else:
        scaled_likelihoods(losses, smallest, eta, row.likelihood, row.likelihood_exponents)
    if awake < len(losses):
        wake_row(row, calm, losses)
    return smallest, excess, eta


@jitable
def wake_row(row: Row, calm: bool, losses: Vector) -> None:
    """Give experts that slept the likelihood of the mixture of all awake experts."""
    if calm:
        mass = lane_dot(row.weights, row.likelihood)
        mixture, exponent = mass / sum_awake(row.weights, losses), 0
    else:
        mixture, exponent = scaled_mixture(row, losses)
    for i in range(len(losses)):
        if losses[i] != losses[i]:
            row.likelihood[i], row.likelihood_exponents[i] = mixture, exponent


@jitable
def scaled_mixture(row: Row, losses: Vector) -> tuple[float, int]:
    """Return the likelihood of the mixture of all awake experts, as mantissa and exponent."""
    awake, exponents = row.spare, row.spare_exponents
    for i in range(len(losses)):
        awake[i] = row.weights[i] if losses[i] == losses[i] else 0.0
    mass_exponent = align(awake, row.exponents, row.room)
    mass = sum_of(row.room)
    for i in range(len(losses)):
        awake[i], carry = split(awake[i] * row.likelihood[i])
        exponents[i] = row.exponents[i] + row.likelihood_exponents[i] + carry
    exponent = align(awake, exponents, row.room)
    mixture, carry = split(sum_of(row.room) / mass)
    return mixture, exponent - mass_exponent + carry


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
    """Do as `calm_share` does, to a stiff row; return Σ p e^(-L) as mantissa and exponent.

    The leader gets a sum over all other experts, so that no sum is a difference of equals.
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
