"""Dense sums whose bits are the same on every CPU, at the speed of vector units.

Eight running sums, one a lane, are added as a fixed tree. Numba leaves scalar accumulators scalar,
and fastmath would let the CPU choose the order; so the vectors are written down explicitly. LLVM
splits them into whatever registers there are: the order of additions does not change.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic, overload

from selectron.dispatch import INLINE
from selectron.numeric.arrays import Vector

LANES = 8
_INDEX = ir.IntType(64)


def lane_dot(x: Vector, w: Vector) -> Any:
    """Sum x_i w_i: entry i into lane i mod 8, then the lanes as a tree."""
    return lane_sum(x * w)


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


@overload(lane_dot, strict=False, jit_options=INLINE)
def _compiled_lane_dot(x: Any, w: Any) -> Any:
    return lambda x, w: _emit_lane_dot(x, w)


@overload(lane_sum, strict=False, jit_options=INLINE)
def _compiled_lane_sum(x: Any) -> Any:
    return lambda x: _emit_lane_sum(x)


@intrinsic
def _emit_lane_sum(typing_context: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _LaneSum(context, builder, (x,), args, x.dtype).emit()

    return x.dtype(x), generate


@intrinsic
def _emit_lane_dot(typing_context: Any, x: Any, w: Any) -> Any:
    wide = x.dtype if x.dtype.bitwidth >= w.dtype.bitwidth else w.dtype

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _LaneSum(context, builder, (x, w), args, wide).emit()

    return wide(x, w), generate


class _LaneSum:
    """Write the loop with explicit vectors: the sum of the products of one or two arrays."""

    def __init__(self, context: Any, builder: Any, kinds: Any, values: Any, wide: Any) -> None:
        self.builder = builder
        structs = [
            context.make_array(k)(context, builder, v) for k, v in zip(kinds, values, strict=True)
        ]
        self.data = [struct.data for struct in structs]
        self.length = builder.extract_value(structs[0].shape, 0)
        self.narrow = [ir.VectorType(context.get_value_type(k.dtype), LANES) for k in kinds]
        self.align = [k.dtype.bitwidth // 8 for k in kinds]
        self.vector = ir.VectorType(context.get_value_type(wide), LANES)

    def emit(self) -> Any:
        builder, n = self.builder, self.length
        main = builder.and_(n, ir.Constant(_INDEX, -LANES))
        lanes = cgutils.alloca_once_value(builder, ir.Constant(self.vector, [0.0] * LANES))
        self._loop(main, lambda i: self._accumulate(lanes, i, self._load))
        with builder.if_then(builder.icmp_unsigned("!=", main, n)):
            self._accumulate(lanes, main, self._load_tail)
        return self._tree(builder.load(lanes))

    def _loop(self, stop: Any, body: Any) -> None:
        """Step through the row; not unrolled: a short row would spend its time in remainders."""
        builder, module = self.builder, self.builder.module
        position = cgutils.alloca_once_value(builder, ir.Constant(_INDEX, 0))
        test, block, end = (
            builder.append_basic_block(f"lanes.{n}") for n in ("test", "body", "end")
        )
        builder.branch(test)
        builder.position_at_end(test)
        i = builder.load(position)
        builder.cbranch(builder.icmp_unsigned("<", i, stop), block, end)
        builder.position_at_end(block)
        body(i)
        builder.store(builder.add(i, ir.Constant(_INDEX, LANES)), position)
        back = builder.branch(test)
        rolled = module.add_metadata([ir.MetaDataString(module, "llvm.loop.unroll.disable")])
        loop = module.add_metadata([rolled])
        loop.operands = (loop, rolled)  # loop metadata names itself first
        back.set_metadata("llvm.loop", loop)
        builder.position_at_end(end)

    def _accumulate(self, lanes: Any, position: Any, load: Any) -> None:
        factors = [self._widen(load(which, position)) for which in range(len(self.data))]
        product = self.builder.fmul(*factors) if len(factors) == 2 else factors[0]
        self.builder.store(self.builder.fadd(self.builder.load(lanes), product), lanes)

    def _pointer(self, which: int, position: Any) -> Any:
        pointer = self.builder.gep(self.data[which], [position])
        return self.builder.bitcast(pointer, self.narrow[which].as_pointer())

    def _load(self, which: int, position: Any) -> Any:
        return self.builder.load(self._pointer(which, position), align=self.align[which])

    def _load_tail(self, which: int, position: Any) -> Any:
        """Load what is left of the row into the first lanes, and 0 into the others."""
        builder, vector = self.builder, self.narrow[which]
        left = builder.sub(self.length, position)
        counts = ir.VectorType(_INDEX, LANES)
        spread = builder.insert_element(
            ir.Constant(counts, ir.Undefined), left, ir.Constant(ir.IntType(32), 0)
        )
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        spread = builder.shuffle_vector(spread, spread, zeros)
        mask = builder.icmp_unsigned("<", ir.Constant(counts, list(range(LANES))), spread)
        pointer = self._pointer(which, position)
        kind = ir.FunctionType(vector, [pointer.type, ir.IntType(32), mask.type, vector])
        name = f"llvm.masked.load.v{LANES}f{8 * self.align[which]}.p0"
        masked_load = cgutils.get_or_insert_function(builder.module, kind, name)
        align = ir.Constant(ir.IntType(32), self.align[which])
        return builder.call(masked_load, [pointer, align, mask, ir.Constant(vector, [0.0] * LANES)])

    def _widen(self, loaded: Any) -> Any:
        return loaded if loaded.type == self.vector else self.builder.fpext(loaded, self.vector)

    def _tree(self, lanes: Any) -> Any:
        builder, width = self.builder, LANES
        while width > 1:
            width //= 2
            halves = [
                builder.shuffle_vector(
                    lanes,
                    lanes,
                    ir.Constant(ir.VectorType(ir.IntType(32), width), list(range(a, a + width))),
                )
                for a in (0, width)
            ]
            lanes = builder.fadd(*halves)
        return builder.extract_element(lanes, ir.Constant(ir.IntType(32), 0))
