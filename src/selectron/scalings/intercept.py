"""Rows as they come, or with a constant feature. These scalings keep no statistics."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from selectron.arrays import DType, Indices, Vector
from selectron.compiler.verbs import Verb
from selectron.numeric.rows import DenseRow, Row, SparseRow
from selectron.protocol import (
    Presented,
    ScalingState,
    absorb,
    has_statistics,
    in_file,
    present,
    ready,
    room_for,
)
from selectron.spec import Scaling


@dataclass(frozen=True)
class Raw(Scaling):
    """Hand every row to the update rule as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron.numeric.rows import DenseRow
    >>> present(Raw().begin(2, float), DenseRow(np.array([3.0, 4.0]))).values.tolist()
    [3.0, 4.0]
    """

    def begin(self, d: int, dtype: DType) -> "RawState":
        return RawState(True)


class RawState(NamedTuple):
    ready: bool  # always True: an empty tuple would have no type of its own in compiled code


@present.of(RawState)
def raw_present(scaling: RawState, x: Row) -> Row:
    return x


@dataclass(frozen=True)
class Intercept(Scaling):
    """Append the feature 1 to every row: the separator need not pass through the origin.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron.numeric.rows import DenseRow
    >>> present(Intercept().begin(2, float), DenseRow(np.array([3.0, 4.0]))).values.tolist()
    [3.0, 4.0, 1.0]
    """

    EXTRA: ClassVar = 1

    def begin(self, d: int, dtype: DType) -> "InterceptState":
        return InterceptState(np.zeros(d + 1, dtype), np.zeros(d + 1, np.uint32), d)


class InterceptState(NamedTuple):
    values: Vector  # room for one row and its constant
    indices: Indices
    d: int


@Verb
def with_constant(x: Row, scaling: InterceptState) -> Row:
    """Copy the row into the room and append the constant."""


@with_constant.of(DenseRow)
def dense_with_constant(x: DenseRow, scaling: InterceptState) -> DenseRow:
    for i in range(scaling.d):
        scaling.values[i] = x.values[i]
    scaling.values[scaling.d] = 1.0
    return DenseRow(scaling.values)


@with_constant.of(SparseRow)
def sparse_with_constant(x: SparseRow, scaling: InterceptState) -> SparseRow:
    n = len(x.values)
    for k in range(n):
        scaling.values[k] = x.values[k]
        scaling.indices[k] = x.indices[k]
    scaling.values[n] = 1.0
    scaling.indices[n] = scaling.d
    return SparseRow(scaling.values[: n + 1], scaling.indices[: n + 1])


@present.of(InterceptState)
def intercept_present(scaling: InterceptState, x: Row) -> Presented:
    return with_constant(x, scaling)


@absorb.of(RawState, InterceptState)
def nothing_to_absorb(scaling: ScalingState, x: Row) -> ScalingState:
    return scaling


@has_statistics.of(RawState, InterceptState)
def no_statistics(scaling: ScalingState) -> bool:
    return False


@ready.of(RawState, InterceptState)
def always_ready(scaling: ScalingState) -> bool:
    return True


in_file(RawState, "ready")
in_file(InterceptState, "d")
room_for(InterceptState, "values", "indices")
