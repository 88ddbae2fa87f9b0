"""Sparse rows seen from their mean: dense numbers that are never written down."""

from typing import NamedTuple

import numpy as np

from selectron.numeric.arrays import Indices, Vector
from selectron.numeric.gathering import gather_dot
from selectron.numeric.lanes import lane_dot
from selectron.numeric.rows import add_scaled, dot, square_norm


class ShiftedRow(NamedTuple):
    """z = [scale · x - shift · M, bias], with M the sum of many rows."""

    values: Vector  # of x
    indices: Indices
    total: Vector  # M
    scale: float
    shift: float
    unit: float  # what makes x a unit row, as it is in M
    bias: float
    square_length: float


@dot.of(ShiftedRow)
def shifted_dot(z: ShiftedRow, w: Vector) -> float:
    d = len(z.total)
    own = np.float64(gather_dot(z.values, z.indices, w))
    common = np.float64(lane_dot(z.total, w[:d]))
    return np.float64(z.scale * own - z.shift * common + z.bias * w[d])


@add_scaled.of(ShiftedRow)
def add_scaled_shifted(z: ShiftedRow, scale: float, w: Vector) -> None:
    d = len(z.total)
    common = scale * z.shift
    for i in range(d):
        w[i] -= common * z.total[i]
    own = scale * z.scale
    for k in range(len(z.values)):
        w[z.indices[k]] += own * z.values[k]
    w[d] += scale * z.bias


@square_norm.of(ShiftedRow)
def shifted_square_norm(z: ShiftedRow) -> float:
    return z.square_length
