"""Sums whose bits are the same on every CPU, at the speed of vector units.

Eight running sums, one a lane, are added as a fixed tree. Numba leaves scalar accumulators scalar,
and fastmath would let the CPU choose the order; so the vectors are written down explicitly.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.extending import intrinsic, overload

from selectron.arrays import Indices, Vector
from selectron.compiler.lanes import FLAG, INDEX, LaneLoop, OverArrays
from selectron.compiler.numba_internals import cgutils
from selectron.compiler.prefetch import emit_hint, is_zen
from selectron.compiler.verbs import INLINE

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


def gather_dot(values: Vector, columns: Indices, w: Vector) -> Any:
    """Sum x_k w[columns_k] as `lane_dot` does, with k in the place of i; call the values behind."""
    return lane_dot(values, w[columns])


@overload(gather_dot, strict=False, jit_options=INLINE)
def _compiled_gather_dot(values: Any, columns: Any, w: Any) -> Any:
    return lambda values, columns, w: _emit_gather_dot(values, columns, w)


@intrinsic
def _emit_gather_dot(typing_context: Any, values: Any, columns: Any, w: Any) -> Any:
    kinds, wide = (values, columns, w), wider(values, w)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        loop = _ByOne if is_zen(context) else _ByVectors
        (total,) = loop(context, builder, kinds, args, wide).emit()
        return total

    return wide(values, columns, w), generate


class _ByVectors(OverArrays):
    """The CPU's own instruction gathers the weights of a block."""

    def blocks(self, position: Any, mask: Any) -> tuple[Any, ...]:
        values, columns, w = self.operands
        emit_hint(self.builder, values.data, position)
        gathered = w.gather(columns.load(position, mask), mask)
        return (self.builder.fmul(self.widen(values.load(position, mask)), self.widen(gathered)),)


class _ByOne(_ByVectors):
    """Whole blocks are loaded one by one, and every lane is a number of its own.

    Zen takes its gathers apart into more steps than that; for the rest of a row one is used, which
    has no branches.
    """

    def steps(self, running: list[Any], start: Any, stride: int) -> Any:
        builder, number = self.builder, self.vector.element
        nothing = ir.Constant(number, self.nothing)
        sums = [cgutils.alloca_once_value(builder, nothing) for _ in range(self.lanes)]

        def take(position: Any) -> None:
            emit_hint(builder, self.operands[0].data, position)
            for lane, total in enumerate(sums):
                product = self._product(builder.add(position, ir.Constant(INDEX, lane)))
                builder.store(builder.fadd(builder.load(total), product), total)

        stop = self.end_of_steps(self.lanes)
        self.loop(start, stop, self.lanes, take)
        lanes = ir.Constant(self.vector, ir.Undefined)
        for lane, total in enumerate(sums):
            lanes = builder.insert_element(lanes, builder.load(total), ir.Constant(FLAG, lane))
        builder.store(lanes, running[0])
        return stop

    def _product(self, position: Any) -> Any:
        values, columns, w = self.operands
        column = self.builder.zext(columns.entry(position), INDEX)
        return self.builder.fmul(self.widen(values.entry(position)), self.widen(w.entry(column)))
