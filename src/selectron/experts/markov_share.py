"""Markov-share: a mixture of experts whose best one moves by any given transition matrix."""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from selectron.arrays import Indices, Matrix, Vector
from selectron.compiler.verbs import compiled
from selectron.experts.mixture import Mixture
from selectron.experts.rate import Eta, Rate, finish, rate_from_state, rate_state
from selectron.experts.readings import State, field, read_array
from selectron.experts.scaled import LOWEST, log_scaled, power_of_two, split
from selectron.experts.sharing import LEAST_ALPHA, Row, learn_scaled, step_likelihoods
from selectron.experts.steps import FINE, Fault, first_fault, sum_of
from selectron.numeric.elementary import jitable

SAFE_EXPONENT = -900  # weights above 2^-900 and moves above 2^-100 multiply to normal numbers


class MarkovShare(Mixture):
    """Move the weights by a transition matrix at every step ([Mon06], equation 2.2).

    p(i) ∝ Σ_j p(j) e^(-ηL(j)) P(i | j), in O(n²) a step. With zeros in the matrix the weights are
    kept as logarithms, so that a path of moves is followed however unlikely it has become.

    Parameters
    ----------
    transition : array of shape (n, n)
        Row j is P(· | j), the distribution of the next best expert; rows sum to 1 within 1e-9.
    eta, prior
        As in `FixedShare`.

    Examples
    --------
    >>> around = MarkovShare([[0.9, 0.1, 0.0], [0.0, 0.9, 0.1], [0.1, 0.0, 0.9]])
    >>> print(round(around.run([[0.0, 3.0, 3.0]] * 5).sum(), 4))
    1.5084
    >>> around.weights.round(4).tolist()
    [0.8948, 0.1046, 0.0006]
    """

    def __init__(
        self, transition: ArrayLike, *, eta: Eta = 1.0, prior: ArrayLike | None = None
    ) -> None:
        self.transition = _read_transition(transition)
        super().__init__(len(self.transition), eta, prior)
        self._calm = bool((self.transition >= LEAST_ALPHA).all())
        self._row = Row.start(self._prior, self._calm)
        self._moves = Moves(
            self.transition,
            np.ascontiguousarray(self.transition.T),
            bool((self.transition[self.transition > 0] > 2.0**-100).all()),
            np.empty(self.n),
            np.empty(self.n, np.int64),
        )

    @property
    def weights(self) -> Vector:
        return self._row.plain_weights()

    def state(self) -> State:
        transition = {"transition": self.transition.copy()}
        return {**transition, **self._row.state(), **rate_state(self._rate)}

    @classmethod
    def from_state(cls, state: State) -> Self:
        experts = cls(field(state, "transition"))
        experts._rate = rate_from_state(state)
        experts._row.restore(state, experts._calm)
        return experts

    def _advance(self, losses: Matrix, out: Vector) -> Fault:
        return run_moves(self._row, self._calm, self._moves, self._rate, losses, out)

    def _log_weights(self) -> Vector:
        return self._row.log_weights()


def _read_transition(transition: ArrayLike) -> Matrix:
    matrix = read_array("transition", transition, "give a square matrix, (n, n)").copy()
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise ValueError(f"transition has shape {matrix.shape}; give a square matrix, (n, n)")
    for j, row in enumerate(matrix.tolist()):
        if not all(0 <= p <= 1 for p in row):
            raise ValueError(f"row {j} of transition is {row}; probabilities lie in [0, 1]")
        if not abs(sum(row) - 1) <= 1e-9:
            raise ValueError(
                f"row {j} of transition sums to {sum(row)}; divide it by its sum, so that it "
                "is the distribution of the next expert"
            )
    return matrix


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
    """Do as `move_calm` does, to a stiff row; return Σ p e^(-L) as mantissa and exponent."""
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


@compiled
def run_moves(row: Row, calm: bool, moves: Moves, rate: Rate, losses: Matrix, out: Vector) -> Fault:
    fault = first_fault(losses)
    for t in range(len(losses) if fault[0] == FINE else 0):
        smallest, excess, eta = step_likelihoods(row, calm, losses[t], rate)
        if calm:
            evidence, exponent = move_calm(row, moves), 0
        else:
            evidence, exponent = move_stiff(row, moves)
        out[t] = finish(rate, smallest, excess, log_scaled(evidence, exponent) / eta)
    return fault
