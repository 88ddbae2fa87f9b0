"""One row of weights learns from a step, and moves by a transition matrix."""

from typing import NamedTuple, cast

from numba import njit

from selectron.arrays import Indices, Matrix, Vector
from selectron.experts.compiled import Kernel, sources_of
from selectron.experts.hearing import hear, hear_scaled
from selectron.experts.rate import Rate, finish
from selectron.experts.scaled import LOWEST, log_scaled, power_of_two, split
from selectron.experts.sharing import Row, learn_scaled
from selectron.experts.steps import FINE, Fault, first_fault, sum_of
from selectron.numeric.elementary import jitable, logarithm

SAFE_EXPONENT = -900  # weights above 2^-900 and moves above 2^-100 multiply to normal numbers


class Moves(NamedTuple):
    """Where the weight goes: transition[j, i] = P(i | j), and its transpose."""

    transition: Matrix
    origins: Matrix
    plain: bool  # no positive entry is below 2^-100
    arrived: Vector  # room for one step
    arrived_exponents: Indices


@jitable
def arrive(leaving: Vector, transition: Matrix, arrived: Vector) -> None:
    """Write Σ_j leaving(j) P(i | j)."""
    for i in range(len(arrived)):
        arrived[i] = 0.0
    for j in range(len(arrived)):
        mass, row = leaving[j], transition[j]
        for i in range(len(arrived)):
            arrived[i] += mass * row[i]


@jitable
def move_calm(row: Row, moves: Moves) -> float:
    """Learn and move the weights of a calm row; return Σ p e^(-L)."""
    for i in range(len(row.weights)):
        row.room[i] = row.weights[i] * row.likelihood[i]
    arrive(row.room, moves.transition, moves.arrived)
    total = sum_of(moves.arrived)
    for i in range(len(row.weights)):
        row.weights[i] = moves.arrived[i] / total
    return sum_of(row.room)


@jitable
def move_stiff(row: Row, moves: Moves) -> tuple[float, int]:
    """Do as `move_calm` to a stiff row; return Σ p e^(-L) as mantissa and exponent."""
    weights, exponents = row.weights, row.exponents
    largest, total = learn_scaled(row)
    lowest = 0
    for i in range(len(weights)):
        lowest = min(lowest, int(exponents[i]) - largest if weights[i] > 0.0 else 0)
    if moves.plain and lowest > SAFE_EXPONENT:
        arrive(row.room, moves.transition, moves.arrived)
        moves.arrived_exponents[:] = largest
    else:
        for i in range(len(weights)):
            moves.arrived[i], moves.arrived_exponents[i] = arrive_from_far(row, moves.origins[i])
    for i in range(len(weights)):
        weights[i], carry = split(moves.arrived[i] / total)
        exponents[i] = moves.arrived_exponents[i] + carry - largest
    return total, largest


@jitable
def arrive_from_far(row: Row, origin: Vector) -> tuple[float, int]:
    """Return Σ_j weight(j) P(i | j), however small, as number and exponent."""
    largest = LOWEST
    for j in range(len(origin)):
        if row.weights[j] * origin[j] > 0.0:
            largest = max(largest, int(row.exponents[j]))
    total = 0.0
    for j in range(len(origin)):
        total += row.weights[j] * origin[j] * power_of_two(row.exponents[j] - largest)
    return total, largest


def compile_markov_share(called: str) -> tuple[Kernel, Kernel]:
    @njit(cache=True, error_model="numpy")
    def run_calm(row: Row, moves: Moves, rate: Rate, losses: Matrix, out: Vector) -> Fault:
        _ = called
        fault = first_fault(losses)
        for t in range(len(losses) if fault[0] == FINE else 0):
            smallest, excess, eta = hear(row.weights, losses[t], rate, row.likelihood)
            out[t] = finish(rate, smallest, excess, logarithm(move_calm(row, moves)) / eta)
        return fault

    @njit(cache=True, error_model="numpy")
    def run_stiff(row: Row, moves: Moves, rate: Rate, losses: Matrix, out: Vector) -> Fault:
        _ = called
        fault = first_fault(losses)
        for t in range(len(losses) if fault[0] == FINE else 0):
            smallest, excess, eta = hear_scaled(row, losses[t], rate)
            evidence, exponent = move_stiff(row, moves)
            out[t] = finish(rate, smallest, excess, log_scaled(evidence, exponent) / eta)
        return fault

    return cast(Kernel, run_calm), cast(Kernel, run_stiff)


run_calm_moves, run_stiff_moves = compile_markov_share(
    sources_of(first_fault, hear, hear_scaled, move_calm, move_stiff, finish)
)
