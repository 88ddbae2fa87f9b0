"""Where Learn-α keeps its rows.

Calm rows lie side by side: entry (i, j) of `calm` belongs to expert i and switching rate j, so that
every loop runs along j, vectorises, and adds up over i in order. A row is left *before* sharing,
p = scale · calm + floor, and shared when the next step reads it: one pass over memory a step.
*Restless* rows, where that would be a difference of equals (α near 1), share at once instead:
scale = 1, floor = 0. *Stiff* rows, where nothing goes round (α = 0) or stays (α = 1), are apart.
"""

from typing import NamedTuple

import numpy as np

from selectron.arrays import Indices, Matrix, Vector
from selectron.experts.scaled import split
from selectron.experts.sharing import calm_transition_of, is_calm, transition_of


class AlphaRows(NamedTuple):
    """m distributions over n experts, c of them calm, and one distribution over the m."""

    calm: Matrix  # (n, c)
    scale: Vector  # (c,)
    floor: Vector
    spread: Vector  # P(i | i) - P(i | j)
    move: Vector  # P(i | j)
    restless_stay: Vector  # P(i | i) of the last calm columns, which share at once
    stiff: Matrix  # (m - c, n): mantissas
    stiff_exponents: Indices
    stiff_stay: Vector  # (m - c,)
    stiff_move: Vector
    mantissas: Vector  # (m,): weights of the rows, calm ones first
    exponents: Indices


class Room(NamedTuple):
    """Space for one step."""

    shares: Vector  # (m,)
    evidence: Vector
    term_exponents: Indices
    likelihood: Vector  # (n,)
    mantissas: Vector  # the same as scaled numbers
    exponents: Indices
    weights: Vector
    weight_exponents: Indices
    room: Vector
    spare: Vector
    spare_exponents: Indices


def start_rows(prior: Vector, calm: Vector, stiff: Vector) -> AlphaRows:
    """Lay out rows of these rates; restless ones are at the end of the calm."""
    n, c, k = len(prior), len(calm), len(stiff)
    restless = [a for a in calm if not is_calm(n, a)]
    spread, move = np.array([calm_transition_of(n, a) for a in calm]).reshape(c, 2).T
    stiff_stay, stiff_move = np.array([transition_of(n, a) for a in stiff]).reshape(k, 2).T
    mantissas, exponents = zip(*(split(p) for p in prior), strict=True)
    return AlphaRows(
        calm=np.repeat(prior, c).reshape(n, c),
        scale=np.ones(c),
        floor=np.zeros(c),
        spread=spread.copy(),
        move=move.copy(),
        restless_stay=np.array([transition_of(n, a)[0] for a in restless]),
        stiff=np.tile(np.array(mantissas, np.float64), (k, 1)),
        stiff_exponents=np.tile(np.array(exponents, np.int64), (k, 1)),
        stiff_stay=stiff_stay.copy(),
        stiff_move=stiff_move.copy(),
        mantissas=np.ones(c + k),
        exponents=np.zeros(c + k, np.int64),
    )


def make_room(n: int, m: int) -> Room:
    def numbers() -> Vector:
        return np.zeros(n)

    def integers() -> Indices:
        return np.zeros(n, np.int64)

    return Room(
        shares=np.zeros(m),
        evidence=np.zeros(m),
        term_exponents=np.zeros(m, np.int64),
        likelihood=numbers(),
        mantissas=numbers(),
        exponents=integers(),
        weights=numbers(),
        weight_exponents=integers(),
        room=numbers(),
        spare=numbers(),
        spare_exponents=integers(),
    )
