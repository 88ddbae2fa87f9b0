"""Inner products of sparse rows: weights are gathered from wherever the columns say."""

from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic, overload

from selectron.dispatch import INLINE
from selectron.numeric.ahead import emit_hint, is_zen
from selectron.numeric.arrays import Indices, Vector
from selectron.numeric.lane_loop import OverArrays
from selectron.numeric.lanes import lane_dot, wider
from selectron.numeric.operands import FLAG, INDEX


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
