"""Where support vectors are kept: in panels if they are dense, nonzeros only if they are sparse.

A slot is the place of one support vector. Those that entered within the block at hand are *recent*:
the block's kernel values do not know them, so a row is held against them when its turn comes.
Room for more slots is made between blocks: compiled code never asks for memory.
"""

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from selectron.arrays import Array, Indices, Matrix, Table, Vector
from selectron.compiler.verbs import Verb, helper
from selectron.kernels import Given, similarities
from selectron.kernels.tiles import PANEL, strip, tile, tile_rows
from selectron.numeric.rows import Csr, Rows, SparseRow, square_norm
from selectron.numeric.sums import gather_dot
from selectron.protocol import flaw, out_of_range
from selectron.spec import NOT_NEGATIVE, Range, State

MOST_RECENT = 512
NOT_MULTIPLIED = (-1, 0)


class BlockRow(NamedTuple):
    """One row, and its kernel values against the support vectors."""

    row: State  # dense or sparse, as the support vectors are
    row_tiles: Matrix  # of the block
    position: int  # in the block
    values: Vector  # by slot; those of slots filled within the block come at the row's turn
    within: Vector  # against the rows of the block, where the user's function computes them
    raw_square: float  # |x|²
    square: float  # k(x, x)


@square_norm.of(BlockRow)
def block_square_norm(x: BlockRow) -> float:
    return x.square


class Recent(NamedTuple):
    """The support vectors that entered within the block at hand, in order of entry."""

    slots: Indices
    births: Indices  # their positions in the block
    squares: Vector  # their |s|²
    values: Vector  # of the row at hand against them
    ahead: Matrix  # of the rows of one row tile against them
    multiplied: Indices  # which row tile, and how many of the recent ones `ahead` knows
    room: Vector
    n: int


class DensePanels(NamedTuple):
    """Dense support vectors, 32 side by side."""

    panels: Matrix  # (capacity / 32, d, 32)
    recent_panels: Matrix  # (MOST_RECENT / 32, d, 32): the recent ones once more, side by side
    squares: Vector  # |s|² by slot
    room: Vector
    recent: Recent
    n_support: int


class SparseSlots(NamedTuple):
    """Sparse support vectors, one a row."""

    values: Matrix  # (capacity, most nonzeros)
    columns: Indices  # the same shape, uint32
    lengths: Indices
    spread: Vector  # (d,): the row at hand, zeros in between
    squares: Vector
    room: Vector
    recent: Recent
    n_support: int


Support = DensePanels | SparseSlots
SomeSupport = TypeVar("SomeSupport", DensePanels, SparseSlots)


@Verb
def multiply_recent(support: Support, x: BlockRow) -> None:
    """Write the products of the row with the recent ones into `recent.values`."""


@Verb
def keep(support: Support, slot: int, x: BlockRow) -> Support:
    """Return the support with the row in this slot, over what was there."""


@Verb.with_body
def catch_up(kernel: State, support: Support, x: BlockRow) -> None:
    """Bring the kernel values of the row up to date with the recent ones."""
    recent = support.recent
    if recent.n > 0:
        multiply_recent(support, x)
        similarities(kernel, recent.values[: recent.n], recent.squares, x.raw_square, recent.room)
        for i in range(recent.n):
            x.values[recent.slots[i]] = recent.values[i]


@multiply_recent.of(DensePanels)
def panel_products_of_recent(support: DensePanels, x: BlockRow) -> None:
    recent, done, many = support.recent, support.recent.multiplied, x.row_tiles.shape[2]
    panels = (recent.n + PANEL - 1) // PANEL
    q, known = x.position // many, 0
    if q < len(x.row_tiles):
        if done[0] != q:  # a whole row tile takes hardly longer than one row
            for p in range(panels):
                tile(x.row_tiles, q, support.recent_panels, p, recent.ahead, 0)
            done[0], done[1] = q, recent.n
        known = done[1]
        for i in range(known):
            recent.values[i] = recent.ahead[x.position % many, i]
    if known < recent.n:
        for p in range(known // PANEL, panels):
            strip(x.row.values, support.recent_panels, p, recent.values[p * PANEL :])


@multiply_recent.of(SparseSlots)
def slot_products_of_recent(support: SparseSlots, x: BlockRow) -> None:
    recent = support.recent
    spread_out(support.spread, x.row)
    for i in range(recent.n):
        recent.values[i] = slot_product(support, recent.slots[i])
    clear(support.spread, x.row)


@helper
def spread_out(room: Vector, x: SparseRow) -> None:
    for k in range(len(x.values)):
        room[x.indices[k]] = x.values[k]


@helper
def clear(room: Vector, x: SparseRow) -> None:
    for k in range(len(x.values)):
        room[x.indices[k]] = 0.0


@helper
def slot_product(support: SparseSlots, slot: int) -> float:
    n = support.lengths[slot]
    return np.float64(
        gather_dot(support.values[slot, :n], support.columns[slot, :n], support.spread)
    )


@catch_up.of(Given)
def look_up_recent(kernel: Given, support: Support, x: BlockRow) -> None:
    recent = support.recent
    for i in range(recent.n):
        x.values[recent.slots[i]] = x.within[recent.births[i]]


@helper
def with_entry(support: SomeSupport, slot: int, x: BlockRow) -> SomeSupport:
    """Return the support after a row was written into this slot: it is one of the recent ones."""
    recent = support.recent
    recent.slots[recent.n] = slot
    recent.births[recent.n] = x.position
    recent.squares[recent.n] = support.squares[slot] = x.raw_square
    recent = recent._replace(n=recent.n + 1)
    return support._replace(recent=recent, n_support=max(support.n_support, slot + 1))


@keep.of(DensePanels)
def keep_in_panels(support: DensePanels, slot: int, x: BlockRow) -> DensePanels:
    values, n = x.row.values, support.recent.n
    for k in range(len(values)):
        support.panels[slot // PANEL, k, slot % PANEL] = values[k]
        support.recent_panels[n // PANEL, k, n % PANEL] = values[k]
    return with_entry(support, slot, x)


@keep.of(SparseSlots)
def keep_in_slots(support: SparseSlots, slot: int, x: BlockRow) -> SparseSlots:
    n = len(x.row.values)
    for k in range(n):
        support.values[slot, k] = x.row.values[k]
        support.columns[slot, k] = x.row.indices[k]
    support.lengths[slot] = n
    return with_entry(support, slot, x)


# Room, made between blocks.


def begin_support(rows: Rows, d: int, dtype: DTypeLike) -> Support:
    """Begin with no support vectors, for rows of this kind."""
    slots, births = np.zeros((2, MOST_RECENT), np.int64)
    squares, values, room = np.zeros((3, MOST_RECENT))
    ahead, multiplied = np.zeros((tile_rows(dtype), MOST_RECENT)), np.array(NOT_MULTIPLIED)
    recent = Recent(slots, births, squares, values, ahead, multiplied, room, 0)
    if isinstance(rows, Csr):
        entries = np.zeros((0, 0), dtype), np.zeros((0, 0), np.uint32), np.zeros(0, np.int64)
        return SparseSlots(*entries, np.zeros(d, dtype), np.zeros(0), np.zeros(0), recent, 0)
    panels = np.zeros((0, d, PANEL), dtype)
    recent_panels = np.zeros((MOST_RECENT // PANEL, d, PANEL), dtype)
    return DensePanels(panels, recent_panels, np.zeros(0), np.zeros(0), recent, 0)


def capacity_of(support: Support) -> int:
    return len(support.squares)


def roomier(capacity: int, needed: int) -> int:
    """Return a capacity of whole panels that doubles, so that copying stays cheap."""
    if needed <= capacity:
        return capacity
    grown = max(needed, 2 * capacity)
    return -(-grown // PANEL) * PANEL


def with_room(support: Support, capacity: int, nonzeros: int) -> Support:
    """Return the support with this many slots, sparse ones of at least so many nonzeros."""
    squares, room = widened(support.squares, capacity), np.zeros(capacity)
    if isinstance(support, DensePanels):
        panels = widened(support.panels, capacity // PANEL)
        return support._replace(panels=panels, squares=squares, room=room)
    width = roomier(support.values.shape[1], nonzeros)
    return support._replace(
        values=widened(support.values, capacity, width),
        columns=widened(support.columns, capacity, width),
        lengths=widened(support.lengths, capacity),
        squares=squares,
        room=room,
    )


def widened(array: Array, *shape: int) -> Array:
    """Return the array with more room along its first axes, zeros where nothing was."""
    whole = shape + array.shape[len(shape) :]
    if whole == array.shape:
        return array
    grown = np.zeros(whole, array.dtype)
    grown[tuple(slice(n) for n in array.shape)] = array
    return grown


def support_rows(support: Support) -> Table:
    """Return the support vectors as a matrix, in the order of their slots."""
    m = support.n_support
    if isinstance(support, DensePanels):
        d = support.panels.shape[1]
        rows = support.panels.transpose(0, 2, 1).reshape(-1, d)[:m]
        return np.ascontiguousarray(rows)
    from scipy.sparse import csr_matrix  # noqa: PLC0415

    lengths = support.lengths[:m]
    filled = np.arange(support.values.shape[1]) < lengths[:, np.newaxis]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    parts = support.values[:m][filled], support.columns[:m][filled].view(np.int32), starts
    return csr_matrix(parts, (m, len(support.spread)))


@flaw.of(DensePanels)
def wrong_panels(support: DensePanels) -> str:
    return out_of_range(support, n_support=Range(0, capacity_of(support)), squares=NOT_NEGATIVE)


@flaw.of(SparseSlots)
def wrong_slots(support: SparseSlots) -> str:
    """A slot says how many of its columns count; each is a column of the rows to come."""
    (capacity, width), d = support.values.shape, len(support.spread)
    columns, lengths = Range(0, d - 1), Range(0, width)
    wrong = out_of_range(support, n_support=Range(0, capacity), columns=columns, lengths=lengths)
    return wrong or out_of_range(support, squares=NOT_NEGATIVE)
