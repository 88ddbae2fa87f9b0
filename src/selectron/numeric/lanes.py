"""A dense inner product whose bits are the same on every CPU, at the speed of vector units.

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
    products = x * w
    lanes = np.zeros(LANES, products.dtype)
    for start in range(0, len(products), LANES):
        block = products[start : start + LANES]
        lanes[: len(block)] += block
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = lanes[:half] + lanes[half:]
    return lanes[0]


@overload(lane_dot, strict=False, jit_options=INLINE)
def _compiled_lane_dot(x: Any, w: Any) -> Any:
    return lambda x, w: _emit_lane_dot(x, w)


@intrinsic
def _emit_lane_dot(typing_context: Any, x: Any, w: Any) -> Any:
    wide = x.dtype if x.dtype.bitwidth >= w.dtype.bitwidth else w.dtype

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _LaneDot(context, builder, (x, w), args, wide).emit()

    return wide(x, w), generate


class _LaneDot:
    """Write the loop of `lane_dot` with explicit vectors."""

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
        step = ir.Constant(_INDEX, LANES)
        with cgutils.for_range_slice(builder, ir.Constant(_INDEX, 0), main, step, _INDEX) as (i, _):
            self._accumulate(lanes, i, self._load)
        with builder.if_then(builder.icmp_unsigned("!=", main, n)):
            self._accumulate(lanes, main, self._load_tail)
        return self._tree(builder.load(lanes))

    def _accumulate(self, lanes: Any, position: Any, load: Any) -> None:
        factors = [self._widen(load(which, position)) for which in (0, 1)]
        product = self.builder.fmul(*factors)
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
