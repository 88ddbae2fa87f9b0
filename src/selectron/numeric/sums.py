"""Sums whose bits are the same on every CPU, at the speed of vector units.

Eight running sums, one a lane, are added as a fixed tree. Numba leaves a scalar sum scalar, and
fast-math would let the CPU choose the order. So this file writes the vectors down
(`compiler/lanes.py`).
"""

from collections.abc import Callable

import numpy as np
from llvmlite import ir
from numba import types

from selectron.arrays import Indices, Vector
from selectron.compiler.emitting import Emission, Site, compiled_form_of
from selectron.compiler.lanes import FLAG, INDEX, LaneLoop, emit_hint, is_zen
from selectron.compiler.numba_internals import cgutils

LANES = LaneLoop.lanes


def lane_dot(x: Vector, w: Vector) -> float:
    """Sum x_i w_i: entry i into lane i mod 8, then the lanes as a tree."""
    return lane_sum(x * w)


def fresh_dot(x: Vector, w: Vector) -> float:
    """Return the same sum of an x that comes from memory; ask the memory for the next rows."""
    return lane_dot(x, w)


def three_dots(x: Vector, *others: Vector) -> tuple[float, float, float]:
    """Return the products of x with three others, each summed in doubles as `lane_dot` does.

    One after the other they would wait for additions; side by side they share every load of x.
    """
    a, b, c = (lane_dot(x.astype(np.float64), other) for other in others)
    return a, b, c


def lane_sum(x: Vector) -> float:
    """Sum x_i in the same order."""
    lanes = np.zeros(LANES, x.dtype)
    for start in range(0, len(x), LANES):
        block = x[start : start + LANES]
        lanes[: len(block)] += block
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = lanes[:half] + lanes[half:]
    return lanes[0]  # type: ignore[no-any-return] # of the type of the entries


def largest(columns: Indices) -> int:
    """Return the largest of some unsigned numbers, 0 of none; ask the memory for the next."""
    return columns.max(initial=0)  # type: ignore[no-any-return] # unsigned, as it is compiled


def gather_dot(values: Vector, columns: Indices, w: Vector) -> float:
    """Sum x_k w[columns_k] as `lane_dot` does, with k in the place of i."""
    return lane_dot(values, w[columns])


@compiled_form_of(lane_sum)
def _emit_lane_sum(x: types.Array) -> Emission:
    return _summed(lambda site: _Sum, (x,), x.dtype)


@compiled_form_of(lane_dot)
def _emit_lane_dot(x: types.Array, w: types.Array) -> Emission:
    return _summed(lambda site: _Sum, (x, w), _wider(x, w))


@compiled_form_of(fresh_dot)
def _emit_fresh_dot(x: types.Array, w: types.Array) -> Emission:
    return _summed(lambda site: _FreshSum, (x, w), _wider(x, w))


@compiled_form_of(three_dots)
def _emit_three_dots(x: types.Array, a: types.Array, b: types.Array, c: types.Array) -> Emission:
    kind = types.UniTuple(types.float64, 3)

    def generate(site: Site, *arrays: ir.Value) -> ir.Value:
        sums = _ThreeSums(site, (x, a, b, c), arrays, types.float64).emit()
        return site.context.make_tuple(site.builder, kind, sums)

    return kind, generate


@compiled_form_of(largest)
def _emit_largest(columns: types.Array) -> Emission:
    return _summed(lambda site: _Maximum, (columns,), columns.dtype)


@compiled_form_of(gather_dot)
def _emit_gather_dot(values: types.Array, columns: types.Array, w: types.Array) -> Emission:
    def loop(site: Site) -> type[LaneLoop]:
        return _ByOne if is_zen(site.context) else _ByVectors

    return _summed(loop, (values, columns, w), _wider(values, w))


def _wider(x: types.Array, w: types.Array) -> types.Type:
    """Return the type of number that holds both kinds of entries."""
    return x.dtype if x.dtype.bitwidth >= w.dtype.bitwidth else w.dtype


def _summed(
    loop: Callable[[Site], type[LaneLoop]], kinds: tuple[types.Array, ...], wide: types.Type
) -> Emission:
    """Return the one sum of a loop over arrays of these kinds."""

    def generate(site: Site, *arrays: ir.Value) -> ir.Value:
        (found,) = loop(site)(site, kinds, arrays, wide).emit()
        return found

    return wide, generate


class _Sum(LaneLoop):
    """The sum of the products of one or two arrays."""

    def blocks(self, position: ir.Value, mask: ir.Value | None) -> tuple[ir.Value, ...]:
        factors = [self.widen(operand.load(position, mask)) for operand in self.operands]
        return (self.builder.fmul(*factors) if len(factors) == 2 else factors[0],)


class _FreshSum(_Sum):
    """The same sum of rows that come from memory."""

    stride = 8

    def blocks(self, position: ir.Value, mask: ir.Value | None) -> tuple[ir.Value, ...]:
        if not is_zen(self.site.context):
            emit_hint(self.builder, self.operands[0].data, position)
        return super().blocks(position, mask)


class _ThreeSums(LaneLoop):
    """The sums of the products of one array with three others."""

    n_sums, stride = 3, 2

    def blocks(self, position: ir.Value, mask: ir.Value | None) -> tuple[ir.Value, ...]:
        x, *others = (self.widen(operand.load(position, mask)) for operand in self.operands)
        return tuple(self.builder.fmul(x, other) for other in others)


class _Maximum(LaneLoop):
    """The largest entry of an array of unsigned numbers."""

    lanes, nothing = 16, 0

    def blocks(self, position: ir.Value, mask: ir.Value | None) -> tuple[ir.Value, ...]:
        (columns,) = self.operands
        emit_hint(self.builder, columns.data, position)
        return (columns.load(position, mask),)

    def combine(self, running: ir.Value, block: ir.Value) -> ir.Value:
        return self.builder.select(self.builder.icmp_unsigned(">", block, running), block, running)


class _ByVectors(LaneLoop):
    """The CPU's own instruction gathers the weights of a block."""

    def blocks(self, position: ir.Value, mask: ir.Value | None) -> tuple[ir.Value, ...]:
        values, columns, w = self.operands
        emit_hint(self.builder, values.data, position)
        gathered = w.gather(columns.load(position, mask), mask)
        return (self.builder.fmul(self.widen(values.load(position, mask)), self.widen(gathered)),)


class _ByOne(_ByVectors):
    """Whole blocks are loaded one by one, and every lane is a number of its own.

    Zen takes a gather apart into more steps than that. The rest of a row uses one gather, which
    has no branches.
    """

    def steps(self, running: list[ir.Value], start: ir.Value, stride: int) -> ir.Value:
        builder, number = self.builder, self.vector.element
        nothing = ir.Constant(number, self.nothing)
        sums = [cgutils.alloca_once_value(builder, nothing) for _ in range(self.lanes)]

        def take(position: ir.Value) -> None:
            emit_hint(builder, self.operands[0].data, position)
            for lane, total in enumerate(sums):
                product = self._product(builder.add(position, ir.Constant(INDEX, lane)))
                builder.store(builder.fadd(builder.load(total), product), total)

        stop = self.loop(start, self.lanes, take)
        lanes = ir.Constant(self.vector, ir.Undefined)
        for lane, total in enumerate(sums):
            lanes = builder.insert_element(lanes, builder.load(total), ir.Constant(FLAG, lane))
        builder.store(lanes, running[0])
        return stop

    def _product(self, position: ir.Value) -> ir.Value:
        values, columns, w = self.operands
        column = self.builder.zext(columns.entry(position), INDEX)
        return self.builder.fmul(self.widen(values.entry(position)), self.widen(w.entry(column)))
