"""A belief that leans to the directions in which rows spread, before any label."""

from typing import NamedTuple

from selectron.compiler.verbs import helper
from selectron.numeric.elementary import sqrt
from selectron.updates.moments import FIRST_BLUR

LEAN = 0.06  # what each row z of a warm-up adds to V = I: this times z zᵀ


class Leaning(NamedTuple):
    """What rows without labels have done to V = I + LEAN Σ z zᵀ."""

    n_rows: int
    squares: float  # Σ |z|⁴
    overlap: float  # the sum over all pairs of (z.z')²
    most: float  # no unit row has a larger variance


@helper
def leant(leaning: Leaning, square_length: float, variance: float) -> Leaning:
    """Return what has been done after a row of this variance is added."""
    squares = leaning.squares + square_length * square_length
    overlap = leaning.overlap + (variance - square_length) / LEAN
    # The largest eigenvalue of Σ z zᵀ is at most the length of the matrix of all products z.z'.
    most = 1.0 + LEAN * sqrt(squares + 2.0 * max(overlap, 0.0))
    return Leaning(leaning.n_rows + 1, squares, overlap, most)


@helper
def first_blur(leaning: Leaning) -> float:
    """Return the blur that is to a row's variance, on average, what it is to 1 without a lean."""
    return FIRST_BLUR * (1.0 + LEAN * 2.0 * leaning.overlap / leaning.n_rows)
