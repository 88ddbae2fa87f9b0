"""Sums whose bits are the same on every CPU, at the speed of vector units.

Eight running sums, one a lane, are added as a fixed tree. Numba leaves scalar accumulators scalar,
and fastmath would let the CPU choose the order; so the vectors are written down explicitly.
"""

from typing import Any

import numpy as np
from numba.extending import intrinsic, overload

from selectron.dispatch import INLINE
from selectron.numeric.ahead import emit_hint, is_zen
from selectron.numeric.arrays import Indices, Vector
from selectron.numeric.lane_loop import LaneLoop, OverArrays

LANES = LaneLoop.lanes


def lane_dot(x: Vector, w: Vector) -> Any:
    """Sum x_i w_i: entry i into lane i mod 8, then the lanes as a tree."""
    return lane_sum(x * w)


def fresh_dot(x: Vector, w: Vector) -> Any:
    """Return the same sum of an x that comes from memory, and call the rows behind it."""
    return lane_dot(x, w)


def lane_sum(x: Vector) -> Any:
    """Sum x_i in the same order."""
    lanes = np.zeros(LANES, x.dtype)
    for start in range(0, len(x), LANES):
        block = x[start : start + LANES]
        lanes[: len(block)] += block
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = lanes[:half] + lanes[half:]
    return lanes[0]


def largest(columns: Indices) -> Any:
    """Return the largest of some unsigned numbers, 0 of none; call those behind."""
    return columns.max(initial=0)


@overload(lane_dot, strict=False, jit_options=INLINE)
def _compiled_lane_dot(x: Any, w: Any) -> Any:
    return lambda x, w: _emit_lane_dot(x, w)


@overload(fresh_dot, strict=False, jit_options=INLINE)
def _compiled_fresh_dot(x: Any, w: Any) -> Any:
    return lambda x, w: _emit_fresh_dot(x, w)


@overload(lane_sum, strict=False, jit_options=INLINE)
def _compiled_lane_sum(x: Any) -> Any:
    return lambda x: _emit_lane_sum(x)


@overload(largest, strict=False, jit_options=INLINE)
def _compiled_largest(columns: Any) -> Any:
    return lambda columns: _emit_largest(columns)


@intrinsic
def _emit_lane_sum(typing_context: Any, x: Any) -> Any:
    return x.dtype(x), generator(_Sum, (x,), x.dtype)


@intrinsic
def _emit_lane_dot(typing_context: Any, x: Any, w: Any) -> Any:
    wide = wider(x, w)
    return wide(x, w), generator(_Sum, (x, w), wide)


@intrinsic
def _emit_fresh_dot(typing_context: Any, x: Any, w: Any) -> Any:
    wide = wider(x, w)
    return wide(x, w), generator(_FreshSum, (x, w), wide)


@intrinsic
def _emit_largest(typing_context: Any, columns: Any) -> Any:
    return columns.dtype(columns), generator(_Maximum, (columns,), columns.dtype)


def wider(x: Any, w: Any) -> Any:
    """Return the type of number that holds both kinds of entries."""
    return x.dtype if x.dtype.bitwidth >= w.dtype.bitwidth else w.dtype


def generator(loop: type[OverArrays], kinds: tuple[Any, ...], wide: Any) -> Any:
    """Return what emits a loop over arrays of these kinds, for an intrinsic."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        (found,) = loop(context, builder, kinds, args, wide).emit()
        return found

    return generate


class _Sum(OverArrays):
    """The sum of the products of one or two arrays."""

    def blocks(self, position: Any, mask: Any) -> tuple[Any, ...]:
        factors = [self.widen(operand.load(position, mask)) for operand in self.operands]
        return (self.builder.fmul(*factors) if len(factors) == 2 else factors[0],)


class _FreshSum(_Sum):
    stride = 8

    def __init__(self, context: Any, *rest: Any) -> None:
        super().__init__(context, *rest)
        self.hints = not is_zen(context)

    def blocks(self, position: Any, mask: Any) -> tuple[Any, ...]:
        if self.hints:
            emit_hint(self.builder, self.operands[0].data, position)
        return super().blocks(position, mask)


class _Maximum(OverArrays):
    lanes, nothing = 16, 0

    def blocks(self, position: Any, mask: Any) -> tuple[Any, ...]:
        (columns,) = self.operands
        emit_hint(self.builder, columns.data, position)
        return (columns.load(position, mask),)

    def combine(self, running: Any, block: Any) -> Any:
        return self.builder.select(self.builder.icmp_unsigned(">", block, running), block, running)
