"""Products of rows with panels of support vectors: a gemm whose bits are the same everywhere.

A panel holds 32 support vectors side by side, feature after feature, and a row tile some rows. Each
product is one running sum over the features in their order, every step a fused multiply-add, which
IEEE 754 rounds in one way only. So a product has the same bits in a block of 512 rows or of one, on
every processor, and no BLAS is asked; the tile is as large as the registers, so that it is as fast
as one. Plain Python has no such instruction: `fused` computes the same bits with NumPy.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numpy.typing import DTypeLike

from selectron.arrays import Matrix, Vector
from selectron.compiler.emitting import Emission, Site, compiled_form_of
from selectron.compiler.lanes import CACHE_LINE, INDEX, LEVEL_1, emit_hint_at, spread
from selectron.compiler.numba_internals import cgutils
from selectron.compiler.verbs import helper

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


@compiled_form_of(tile)
def _emit_tile(
    row_tiles: types.Array,
    q: types.Integer,
    panels: types.Array,
    p: types.Integer,
    out: types.Array,
    first: types.Integer,
) -> Emission:
    def generate(site: Site, *values: ir.Value) -> ir.Value:
        given, q, _, p, _, first = values
        builder, many = site.builder, TILE_ROWS[row_tiles.dtype.bitwidth]
        given, kept = _array(site, row_tiles, given), _array(site, out, values[4])
        d, width = (builder.extract_value(a.shape, 1) for a in (given, kept))
        column = builder.mul(p, ir.Constant(INDEX, PANEL))
        numbers = [builder.add(first, ir.Constant(INDEX, r)) for r in range(many)]
        places = [builder.add(builder.mul(t, width), column) for t in numbers]
        targets = [builder.gep(kept.data, [place]) for place in places]
        size = builder.mul(d, ir.Constant(INDEX, many))
        rows = builder.gep(given.data, [builder.mul(q, size)])
        panel = _panel(site, panels, values[2], p, d)
        return _emit_sums(site, (row_tiles.dtype, out.dtype), d, rows, panel, targets)

    return types.void, generate


@compiled_form_of(strip)
def _emit_strip(
    x: types.Array, panels: types.Array, p: types.Integer, out: types.Array
) -> Emission:
    def generate(
        site: Site, row: ir.Value, kept: ir.Value, p: ir.Value, target: ir.Value
    ) -> ir.Value:
        given = _array(site, x, row)
        d = site.builder.extract_value(given.shape, 0)
        panel, targets = _panel(site, panels, kept, p, d), [_array(site, out, target).data]
        return _emit_sums(site, (x.dtype, out.dtype), d, given.data, panel, targets)

    return types.void, generate


def _array(site: Site, kind: types.Array, value: ir.Value) -> ir.Value:
    return site.context.make_array(kind)(*site, value)


def _panel(site: Site, kind: types.Array, panels: ir.Value, p: ir.Value, d: ir.Value) -> ir.Value:
    first = site.builder.mul(site.builder.mul(p, d), ir.Constant(INDEX, PANEL))
    return site.builder.gep(_array(site, kind, panels).data, [first])


def _emit_sums(
    site: Site,
    kinds: tuple[types.Float, types.Float],
    d: ir.Value,
    rows: ir.Value,
    panel: ir.Value,
    targets: list[ir.Value],
) -> ir.Value:
    """Sum x_k s_k over k for all rows of a row tile, and widen the sums into their targets."""
    context, builder = site
    bits, wide_bits = (kind.bitwidth for kind in kinds)
    vector, widened = (ir.VectorType(context.get_value_type(kind), PANEL) for kind in kinds)
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
        builder.store(result, place, align=wide_bits // 8)
    return context.get_dummy_value()


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
