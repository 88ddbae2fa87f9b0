"""Hearing a step: the likelihood e^(-η(L - smallest)) of every expert, and who slept.

A sleeper gets the likelihood of the mixture of those awake: it leaves its weight as it was.
"""

from selectron.arrays import Indices, Vector
from selectron.experts.rate import Rate, step_rate
from selectron.experts.scaled import align, power_of_two, scaled_exponential, split
from selectron.experts.sharing import Row
from selectron.experts.steps import mean_excess, smallest_awake, sum_awake, sum_of
from selectron.numeric.elementary import exponential, jitable
from selectron.numeric.sums import lane_dot


@jitable
def likelihoods(losses: Vector, smallest: float, eta: float, out: Vector) -> None:
    """Write e^(-η(L_i - smallest)), and 0 for those asleep."""
    for i in range(len(losses)):
        likelihood = exponential(-(eta * (losses[i] - smallest)))
        out[i] = likelihood if losses[i] == losses[i] else 0.0


@jitable
def scaled_likelihoods(
    losses: Vector, smallest: float, eta: float, out: Vector, exponents: Indices
) -> None:
    """Write e^(-η(L_i - smallest)) as mantissa and exponent, and 0 for those asleep."""
    for i in range(len(losses)):
        if losses[i] == losses[i]:
            out[i], exponents[i] = scaled_exponential(-(eta * (losses[i] - smallest)))
        else:
            out[i], exponents[i] = 0.0, 0


@jitable
def hear(
    weights: Vector, losses: Vector, rate: Rate, likelihood: Vector
) -> tuple[float, float, float]:
    """Write the likelihood of every expert; return the smallest loss, the mean's excess, and η."""
    smallest, awake = smallest_awake(losses)
    excess = mean_excess(weights, losses, smallest) if rate.tuned else 0.0
    eta = step_rate(rate, excess)
    likelihoods(losses, smallest, eta, likelihood)
    if awake < len(losses):
        mixture = lane_dot(weights, likelihood) / sum_awake(weights, losses)
        for i in range(len(losses)):
            likelihood[i] = likelihood[i] if losses[i] == losses[i] else mixture
    return smallest, excess, eta


@jitable
def hear_scaled(row: Row, losses: Vector, rate: Rate) -> tuple[float, float, float]:
    """Do as `hear` for a stiff row."""
    smallest, awake = smallest_awake(losses)
    excess = 0.0
    if rate.tuned:
        for i in range(len(losses)):
            row.room[i] = row.weights[i] * power_of_two(row.exponents[i])
        excess = mean_excess(row.room, losses, smallest)
    eta = step_rate(rate, excess)
    scaled_likelihoods(losses, smallest, eta, row.likelihood, row.likelihood_exponents)
    if awake < len(losses):
        mixture, exponent = scaled_mixture(row, losses)
        for i in range(len(losses)):
            if losses[i] != losses[i]:
                row.likelihood[i], row.likelihood_exponents[i] = mixture, exponent
    return smallest, excess, eta


@jitable
def scaled_mixture(row: Row, losses: Vector) -> tuple[float, int]:
    """Return the likelihood of the mixture of those awake, as mantissa and exponent."""
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
