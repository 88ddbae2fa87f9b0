"""Products of rows with panels of support vectors: a gemm whose bits are the same everywhere.

A panel holds 32 support vectors side by side, feature after feature. Each product is one running
sum over the features in their order, every step a fused multiply-add, which IEEE 754 rounds in one
way only. So a product has the same bits in a block of 512 rows or of one, on every processor, and
no BLAS is asked; the tile is as large as the registers, so that it is as fast as one.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from selectron.dispatch import INLINE
from selectron.kernels.fused import fused
from selectron.numeric.arrays import Matrix, Vector
from selectron.numeric.lane_loop import INDEX, spread

PANEL = 32
TILE_ROWS = {64: 6, 32: 12}  # by bits of a number: 24 of the 32 vector registers hold sums


def tile_rows(rows: Matrix) -> int:
    """Return how many rows `tile` takes at once."""
    return TILE_ROWS[rows.dtype.itemsize * 8]


def tile(rows: Matrix, first: int, panels: Any, p: int, out: Matrix) -> None:
    """Write the products of some rows from `first` on with panel p into their places in `out`."""
    for t in range(first, first + tile_rows(rows)):
        strip(rows[t], panels, p, out[t, PANEL * p : PANEL * (p + 1)])


def strip(x: Vector, panels: Any, p: int, out: Vector) -> None:
    """Write the products of one row with panel p into the first 32 places of `out`."""
    total = np.zeros(PANEL, x.dtype)
    for k in range(len(x)):
        total = fused(x[k], panels[p, k], total)
    out[:PANEL] = total


@overload(tile_rows, strict=False, jit_options=INLINE)
def _compiled_tile_rows(rows: Any) -> Any:
    n = TILE_ROWS[rows.dtype.bitwidth]
    return lambda rows: n


@overload(tile, strict=False, jit_options=INLINE)
def _compiled_tile(rows: Any, first: Any, panels: Any, p: Any, out: Any) -> Any:
    return lambda rows, first, panels, p, out: _emit_tile(rows, first, panels, p, out)


@overload(strip, strict=False, jit_options=INLINE)
def _compiled_strip(x: Any, panels: Any, p: Any, out: Any) -> Any:
    return lambda x, panels, p, out: _emit_strip(x, panels, p, out)


@intrinsic
def _emit_tile(typing_context: Any, rows: Any, first: Any, panels: Any, p: Any, out: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        given, kept = (
            _array(context, builder, rows, args[0]),
            _array(context, builder, out, args[4]),
        )
        d, width = (builder.extract_value(a.shape, 1) for a in (given, kept))
        numbers = [
            builder.add(args[1], ir.Constant(INDEX, r))
            for r in range(TILE_ROWS[rows.dtype.bitwidth])
        ]
        places = [builder.gep(given.data, [builder.mul(t, d)]) for t in numbers]
        column = builder.mul(args[3], ir.Constant(INDEX, PANEL))
        targets = [
            builder.gep(kept.data, [builder.add(builder.mul(t, width), column)]) for t in numbers
        ]
        panel = _panel(context, builder, panels, args[2], args[3], d)
        _emit_sums(context, builder, (rows.dtype, out.dtype), d, places, panel, targets)
        return context.get_dummy_value()

    return types.void(rows, types.int64, panels, types.int64, out), generate


@intrinsic
def _emit_strip(typing_context: Any, x: Any, panels: Any, p: Any, out: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        given, kept = _array(context, builder, x, args[0]), _array(context, builder, out, args[3])
        d = builder.extract_value(given.shape, 0)
        panel = _panel(context, builder, panels, args[1], args[2], d)
        _emit_sums(context, builder, (x.dtype, out.dtype), d, [given.data], panel, [kept.data])
        return context.get_dummy_value()

    return types.void(x, panels, types.int64, out), generate


def _array(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return context.make_array(kind)(context, builder, value)


def _panel(context: Any, builder: Any, kind: Any, panels: Any, p: Any, d: Any) -> Any:
    first = builder.mul(builder.mul(p, d), ir.Constant(INDEX, PANEL))
    return builder.gep(_array(context, builder, kind, panels).data, [first])


def _emit_sums(
    context: Any, builder: Any, kinds: Any, d: Any, places: Any, panel: Any, targets: Any
) -> None:
    """Sum x_k s_k over k for all rows at once, and widen the sums into their targets."""
    number, wide = (context.get_value_type(kind) for kind in kinds)
    vector, widened = ir.VectorType(number, PANEL), ir.VectorType(wide, PANEL)
    name = f"llvm.fma.v{PANEL}f{kinds[0].bitwidth}"
    kind = ir.FunctionType(vector, [vector] * 3)
    fma = cgutils.get_or_insert_function(builder.module, kind, name)
    zeros = ir.Constant(vector, [0.0] * PANEL)
    sums = [cgutils.alloca_once_value(builder, zeros) for _ in places]
    with cgutils.for_range(builder, d) as loop:
        place = builder.gep(panel, [builder.mul(loop.index, ir.Constant(INDEX, PANEL))])
        place = builder.bitcast(place, vector.as_pointer())
        s = builder.load(place, align=kinds[0].bitwidth // 8)
        for start, total in zip(places, sums, strict=True):
            x = spread(builder, builder.load(builder.gep(start, [loop.index])), PANEL)
            builder.store(builder.call(fma, [x, s, builder.load(total)]), total)
    for target, total in zip(targets, sums, strict=True):
        result = builder.load(total)
        result = result if vector == widened else builder.fpext(result, widened)
        place = builder.bitcast(target, widened.as_pointer())
        builder.store(result, place, align=kinds[1].bitwidth // 8)
