"""Products of rows with panels of support vectors: a gemm whose bits are the same everywhere.

A panel holds 32 support vectors side by side, feature after feature, and a row tile some rows. Each
product is one running sum over the features in their order, every step a fused multiply-add, which
IEEE 754 rounds in one way only. So a product has the same bits in a block of 512 rows or of one, on
every processor, and no BLAS is asked; the tile is as large as the registers, so that it is as fast
as one. Plain Python has no such instruction: `fused` computes the same bits with NumPy.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload
from numpy.typing import DTypeLike

from selectron.arrays import Matrix, Vector
from selectron.compiler.lanes import INDEX, spread
from selectron.compiler.numba_internals import BaseContext as Context
from selectron.compiler.numba_internals import cgutils
from selectron.compiler.prefetch import CACHE_LINE, LEVEL_1, emit_hint_at
from selectron.compiler.verbs import INLINE, helper

Builder: TypeAlias = ir.IRBuilder
Value: TypeAlias = ir.Value
Array: TypeAlias = types.Array
Kind: TypeAlias = types.Type
Body = Callable[..., None]
Emission = tuple[Kind, Callable[..., Value]]
Number = float | np.floating

PANEL = 32
TILE_ROWS = {64: 6, 32: 12}  # rows, by bits of a number: 24 of the 32 vector registers hold sums
SPLITTER = 134217729.0  # 2²⁷ + 1 cuts a double into halves whose products are exact
AHEAD = 32  # features: what of a panel is called from memory early


def tile_rows(dtype: DTypeLike) -> int:
    """Return how many rows of such numbers `tile` takes at once."""
    return TILE_ROWS[np.dtype(dtype).itemsize * 8]


@helper
def fill_row_tiles(rows: Matrix, row_tiles: Matrix) -> None:
    """Lay the rows side by side, feature after feature; zeros stand for those that the last lacks.

    A tile then reads one stretch of memory instead of one for every row.
    """
    n, many = len(rows), row_tiles.shape[2]
    for q in range(len(row_tiles)):
        bound = min(many, n - q * many)
        for k in range(rows.shape[1]):
            for r in range(bound):
                row_tiles[q, k, r] = rows[q * many + r, k]
            for r in range(bound, many):
                row_tiles[q, k, r] = 0.0


def tile(row_tiles: Matrix, q: int, panels: Matrix, p: int, out: Matrix, first: int) -> None:
    """Write the products of row tile q with panel p into the rows of `out` from `first` on."""
    for r in range(row_tiles.shape[2]):
        strip(row_tiles[q, :, r], panels, p, out[first + r, PANEL * p : PANEL * (p + 1)])


def strip(x: Vector, panels: Matrix, p: int, out: Vector) -> None:
    """Write the products of one row with panel p into the first 32 places of `out`."""
    total = np.zeros(PANEL, x.dtype)
    for k in range(len(x)):
        total = fused(x[k], panels[p, k], total)
    out[:PANEL] = total


@overload(tile, strict=False, jit_options=INLINE)
def _compiled_tile(
    row_tiles: Array, q: Kind, panels: Array, p: Kind, out: Array, first: Kind
) -> Body:
    return lambda row_tiles, q, panels, p, out, first: _emit_tile(
        row_tiles, q, panels, p, out, first
    )


@overload(strip, strict=False, jit_options=INLINE)
def _compiled_strip(x: Array, panels: Array, p: Kind, out: Array) -> Body:
    return lambda x, panels, p, out: _emit_strip(x, panels, p, out)


@intrinsic
def _emit_tile(
    typing: Context,
    row_tiles: Array,
    q: Kind,
    panels: Array,
    p: Kind,
    out: Array,
    first: Kind,
) -> Emission:
    def generate(context: Context, builder: Builder, signature: Kind, args: list[Value]) -> Value:
        given = _array(context, builder, row_tiles, args[0])
        kept = _array(context, builder, out, args[4])
        many = TILE_ROWS[_bits(row_tiles.dtype)]
        d, width = (builder.extract_value(a.shape, 1) for a in (given, kept))
        column = builder.mul(args[3], ir.Constant(INDEX, PANEL))
        numbers = [builder.add(args[5], ir.Constant(INDEX, r)) for r in range(many)]
        targets = [
            builder.gep(kept.data, [builder.add(builder.mul(t, width), column)]) for t in numbers
        ]
        size = builder.mul(d, ir.Constant(INDEX, many))
        rows = builder.gep(given.data, [builder.mul(args[1], size)])
        panel = _panel(context, builder, panels, args[2], args[3], d)
        _emit_sums(context, builder, (row_tiles.dtype, out.dtype), d, rows, panel, targets)
        return context.get_dummy_value()

    return types.void(row_tiles, types.int64, panels, types.int64, out, types.int64), generate


@intrinsic
def _emit_strip(typing: Context, x: Array, panels: Array, p: Kind, out: Array) -> Emission:
    def generate(context: Context, builder: Builder, signature: Kind, args: list[Value]) -> Value:
        given, kept = _array(context, builder, x, args[0]), _array(context, builder, out, args[3])
        d = builder.extract_value(given.shape, 0)
        panel = _panel(context, builder, panels, args[1], args[2], d)
        _emit_sums(context, builder, (x.dtype, out.dtype), d, given.data, panel, [kept.data])
        return context.get_dummy_value()

    return types.void(x, panels, types.int64, out), generate


def _bits(kind: Kind) -> int:
    assert isinstance(kind, types.Float)
    return int(kind.bitwidth)


def _array(context: Context, builder: Builder, kind: Array, value: Value) -> Value:
    return context.make_array(kind)(context, builder, value)


def _panel(
    context: Context, builder: Builder, kind: Array, panels: Value, p: Value, d: Value
) -> Value:
    first = builder.mul(builder.mul(p, d), ir.Constant(INDEX, PANEL))
    return builder.gep(_array(context, builder, kind, panels).data, [first])


def _emit_sums(
    context: Context,
    builder: Builder,
    kinds: tuple[Kind, Kind],
    d: Value,
    rows: Value,
    panel: Value,
    targets: list[Value],
) -> None:
    """Sum x_k s_k over k for all rows of a row tile, and widen the sums into their targets."""
    number, wide = (context.get_value_type(kind) for kind in kinds)
    bits = _bits(kinds[0])
    vector, widened = ir.VectorType(number, PANEL), ir.VectorType(wide, PANEL)
    name = f"llvm.fma.v{PANEL}f{bits}"
    kind = ir.FunctionType(vector, [vector] * 3)
    fma = cgutils.get_or_insert_function(builder.module, kind, name)
    zeros = ir.Constant(vector, [0.0] * PANEL)
    sums = [cgutils.alloca_once_value(builder, zeros) for _ in targets]
    with cgutils.for_range(builder, d) as loop:
        place = builder.gep(panel, [builder.mul(loop.index, ir.Constant(INDEX, PANEL))])
        for offset in range(0, PANEL, CACHE_LINE * 8 // bits):
            later = ir.Constant(INDEX, AHEAD * PANEL + offset)
            emit_hint_at(builder, builder.gep(place, [later]), LEVEL_1)
        place = builder.bitcast(place, vector.as_pointer())
        s = builder.load(place, align=bits // 8)
        start = builder.gep(rows, [builder.mul(loop.index, ir.Constant(INDEX, len(targets)))])
        for r, total in enumerate(sums):
            number_at = builder.gep(start, [ir.Constant(INDEX, r)])
            x = spread(builder, builder.load(number_at), PANEL)
            builder.store(builder.call(fma, [x, s, builder.load(total)]), total)
    for target, total in zip(targets, sums, strict=True):
        result = builder.load(total)
        result = result if vector == widened else builder.fpext(result, widened)
        place = builder.bitcast(target, widened.as_pointer())
        builder.store(result, place, align=_bits(kinds[1]) // 8)


def fused(x: Number, s: Vector, total: Vector) -> Vector:
    """Return x s + total, rounded once to the type of `total`; overflow apart.

    [BM08]: the exact result is a sum of three doubles. Rounding the two small ones to odd, and
    adding them to the large one, rounds the whole as if at once.
    """
    a, b, c = np.float64(x), s.astype(np.float64), total.astype(np.float64)
    high, low = _product(a, b)
    c_high, c_low = _sum(c, low)
    large, small = _sum(high, c_high)
    tail = _odd(*_sum(c_low, small))
    if total.dtype == np.float64:
        return np.asarray(large + tail)
    return np.asarray(_odd(*_sum(large, tail))).astype(np.float32)


def _product(a: Number, b: Vector) -> tuple[Vector, Vector]:
    p = a * b
    a_high = SPLITTER * a - (SPLITTER * a - a)
    b_high = SPLITTER * b - (SPLITTER * b - b)
    a_low, b_low = a - a_high, b - b_high
    return p, a_low * b_low - (((p - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _sum(a: Vector | Number, b: Vector) -> tuple[Vector, Vector]:
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _odd(total: Vector, rest: Vector) -> Vector:
    """Round total + rest to odd: where there is a rest, an even last bit gives way towards it."""
    even = np.asarray(total).view(np.int64) & 1 == 0
    moved = np.nextafter(total, np.where(rest > 0.0, np.inf, -np.inf))
    return np.where((rest != 0.0) & even, moved, total)
