"""What the second-order rules share: weights, A⁻¹, and room to work in."""

from typing import NamedTuple

import numpy as np

from selectron.arrays import Indices, Matrix, Vector
from selectron.compiler.verbs import helper
from selectron.numeric.elementary import sqrt
from selectron.numeric.sums import lane_dot

# A glance takes the largest variance there can be, |x|²/a; rounding must not undercut it.
SLACK = 1.0 + 1e-9
LARGEST_WIDTH = 20_000


class Covariance(NamedTuple):
    weights: Vector  # or a row a class
    A_inv: Matrix  # float64 whatever the rows are: its errors would add up
    image: Vector  # A⁻¹x of the row at hand
    support: Indices


def fresh_covariance(d: int, a: float) -> Covariance:
    """Start from A = a I."""
    if d > LARGEST_WIDTH:
        raise ValueError(
            f"a second-order rule keeps a {d} x {d} matrix ({8 * d * d / 2**30:.0f} GiB); above "
            f"{LARGEST_WIDTH} features use a first-order rule such as HalfStep() or Perceptron()"
        )
    return Covariance(np.zeros(d), np.eye(d) / a, np.zeros(d), np.zeros(d, np.int64))


def shared_covariance(d: int, n_classes: int, a: float) -> Covariance:
    """Start from A = a I with weights for each of many classes."""
    return fresh_covariance(d, a)._replace(weights=np.zeros((n_classes, d)))


@helper
def length(weights: Vector) -> float:
    return sqrt(lane_dot(weights, weights))


@helper
def positive_root(variance: float) -> float:
    """Return the square root as a unit of margins: 1 where the variance is 0."""
    return sqrt(variance) if variance > 0.0 else 1.0
