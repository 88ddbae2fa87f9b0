"""Markov-share: a mixture of experts whose best one moves by any given transition matrix."""

from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from selectron.arrays import Matrix, Vector
from selectron.experts.mixture import Mixture
from selectron.experts.moves import Moves, run_calm_moves, run_stiff_moves
from selectron.experts.rate import Eta, rate_from_state, rate_state
from selectron.experts.readings import read_array
from selectron.experts.saved_state import check_shares, field
from selectron.experts.sharing import (
    LEAST_ALPHA,
    restore_row,
    row_log_weights,
    row_state,
    row_weights,
    start_row,
)
from selectron.experts.steps import Fault


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
        self._row = start_row(self._prior, bool((self.transition >= LEAST_ALPHA).all()))
        self._moves = Moves(
            self.transition,
            np.ascontiguousarray(self.transition.T),
            bool((self.transition[self.transition > 0] > 2.0**-100).all()),
            np.empty(self.n),
            np.empty(self.n, np.int64),
        )

    @property
    def weights(self) -> Vector:
        return row_weights(self._row)

    def state(self) -> dict[str, Any]:
        transition = {"transition": self.transition.copy()}
        return {**transition, **row_state(self._row), **rate_state(self._rate)}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        experts = cls(field(state, "transition"))
        experts._rate = rate_from_state(state)
        restore_row(experts._row, state)
        check_shares("weights", lambda: experts.weights)
        return experts

    def _advance(self, losses: Matrix, out: Vector) -> Fault:
        run = run_calm_moves if self._row.calm else run_stiff_moves
        return cast(Fault, run(self._row, self._moves, self._rate, losses, out))

    def _log_weights(self) -> Vector:
        return row_log_weights(self._row)


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
