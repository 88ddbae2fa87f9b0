"""The losses of a step: whether they are valid, which experts slept, and sums over them."""

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.numeric.elementary import jitable

Fault = tuple[int, int, int]  # what is wrong, at which step, with which expert
FINE, OUT_OF_RANGE, ALL_ASLEEP, TOO_MUCH = 0, 1, 2, 3
MAGNITUDE_BITS = np.int64(
    0x7FFFFFFFFFFFFFFF
)  # all bits but the sign; as integers, nan is above infinity


@jitable
def first_fault(losses: Matrix) -> Fault:
    """Return what is wrong with the losses, and in which row and column."""
    for t in range(losses.shape[0]):
        row = losses[t]
        bad = awake = 0
        for i in range(len(row)):
            bad += 1 if (row[i] < 0.0) | (row[i] == np.inf) else 0
            awake += 1 if row[i] == row[i] else 0
        if bad > 0:
            for i in range(len(row)):
                if (row[i] < 0.0) | (row[i] == np.inf):
                    return OUT_OF_RANGE, t, i
        if awake == 0:
            return ALL_ASLEEP, t, 0
    return FINE, 0, 0


@jitable
def smallest_awake(losses: Vector) -> tuple[float, int]:
    """Return the smallest loss and how many experts are awake (nan: asleep)."""
    least = MAGNITUDE_BITS  # non-negative numbers are ordered as their bits, and integers vectorise
    awake = 0
    for i in range(len(losses)):
        least = min(least, np.float64(losses[i]).view(np.int64) & MAGNITUDE_BITS)
        awake += 1 if losses[i] == losses[i] else 0
    return np.int64(least).view(np.float64), awake


@jitable
def mean_excess(weights: Vector, losses: Vector, smallest: float) -> float:
    """Return by how much the weighted mean loss of awake experts exceeds the smallest loss."""
    total = mass = 0.0
    for i in range(len(weights)):
        if losses[i] == losses[i]:
            total += weights[i] * (losses[i] - smallest)
            mass += weights[i]
    return total / mass if mass > 0.0 else 0.0


@jitable
def sum_of(values: Vector) -> float:
    """Add up in a fixed order, four sums side by side."""
    a = b = c = d = 0.0
    main = len(values) - len(values) % 4
    for i in range(0, main, 4):
        a += values[i]
        b += values[i + 1]
        c += values[i + 2]
        d += values[i + 3]
    for i in range(main, len(values)):
        a += values[i]
    return (a + b) + (c + d)


@jitable
def sum_awake(weights: Vector, losses: Vector) -> float:
    total = 0.0
    for i in range(len(weights)):
        total += weights[i] if losses[i] == losses[i] else 0.0
    return total
