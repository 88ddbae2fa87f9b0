"""Blocks: some rows of the stream with their kernel values, computed together."""

from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from selectron.arrays import Matrix, Table, Vector
from selectron.compiler.verbs import Verb
from selectron.kernels import KernelFunction, own_similarity, similarities
from selectron.kernels.support import (
    BlockRow,
    DensePanels,
    SparseSlots,
    Support,
    capacity_of,
    clear,
    slot_product,
    spread_out,
    support_rows,
)
from selectron.kernels.tiles import PANEL, fill_row_tiles, strip, tile, tile_rows
from selectron.numeric.rows import Csr, Dense, Rows, row, square_norm


class Block(NamedTuple):
    """Some rows of the stream, and their kernel values against the support vectors so far.

    The columns of the rows were looked at before any kernel value was computed.
    """

    rows: Rows
    row_tiles: Matrix  # the rows once more, as `tile` reads them; none if few or sparse
    first: int  # rows before it have had their turn
    values: Matrix  # (at least n, capacity)
    within: Matrix  # (n, n), or empty
    raw_squares: Vector
    squares: Vector

    def rest(self, first: int) -> "Block":
        return self._replace(first=first)


@row.of(Block)
def block_row(X: Block, t: int) -> BlockRow:
    k = X.first + t
    values, within = X.values[k], X.within[k]
    return BlockRow(row(X.rows, k), X.row_tiles, k, values, within, X.raw_squares[k], X.squares[k])


@Verb
def block_products(support: Support, block: Block) -> None:
    """Write the products of all rows with all support vectors into the block."""


@block_products.of(DensePanels)
def panel_products(support: DensePanels, block: Block) -> None:
    rows, row_tiles, out = block.rows.values, block.row_tiles, block.values
    fill_row_tiles(rows, row_tiles)
    many = row_tiles.shape[2]
    for p in range((support.n_support + PANEL - 1) // PANEL):
        for q in range(len(row_tiles)):
            tile(row_tiles, q, support.panels, p, out, q * many)
        if len(row_tiles) == 0:
            for t in range(len(rows)):
                strip(rows[t], support.panels, p, out[t, p * PANEL :])


@block_products.of(SparseSlots)
def slot_products(support: SparseSlots, block: Block) -> None:
    for t in range(len(block.squares)):
        x = row(block.rows, t)
        spread_out(support.spread, x)
        for j in range(support.n_support):
            block.values[t, j] = slot_product(support, j)
        clear(support.spread, x)


def fill_block(function, support, block):  # type: ignore[no-untyped-def]
    """Write the kernel values of a block of rows against all support vectors."""
    m = support.n_support
    block_products(support, block)
    for t in range(len(block.squares)):
        square = square_norm(row(block.rows, t))
        block.raw_squares[t] = square
        block.squares[t] = own_similarity(function, square)
        similarities(function, block.values[t, :m], support.squares, square, support.room)


def given_block(kernel: KernelFunction, rows: Rows, support: Support) -> Block:
    """Ask the user's function for the values of a block against support vectors and its own rows.

    What it computes is its own affair: we cannot promise that its bits are the same on every
    machine, or in blocks of another size.
    """
    X = as_matrix(rows)
    n, m = X.shape[0], support.n_support
    values = np.zeros((n, capacity_of(support)))
    if m:
        values[:, :m] = _asked(kernel, X, support_rows(support))
    within = _asked(kernel, X, X)
    squares = within.diagonal().copy()
    no_tiles = np.empty((0, 0, tile_rows(X.dtype)), X.dtype)
    return Block(rows, no_tiles, 0, values, within, squares, squares)


def as_matrix(rows: Rows) -> Table:
    """Return rows as users know them."""
    if isinstance(rows, Dense):
        return rows.values
    from scipy.sparse import csr_matrix  # noqa: PLC0415 - seldom needed

    first, last = rows.starts[0], rows.starts[-1]
    parts = rows.values[first:last], rows.indices[first:last].view(np.int32), rows.starts - first
    return csr_matrix(parts, (len(rows.starts) - 1, rows.width))


def _asked(kernel: KernelFunction, X: Table, Y: Table) -> Matrix:
    values = np.ascontiguousarray(kernel(X, Y), np.float64)
    if values.shape != (X.shape[0], Y.shape[0]):
        raise ValueError(
            f"the kernel gave an array of shape {values.shape} for {X.shape[0]} and {Y.shape[0]} "
            "rows: return one value for every pair"
        )
    return values


def as_kind(rows: Rows, *, sparse: bool) -> Rows:
    """Return the rows dense or sparse; those that are so already as they are."""
    if isinstance(rows, Csr) == sparse:
        return rows
    if isinstance(rows, Csr):
        return Dense(np.ascontiguousarray(as_matrix(rows).toarray()))
    present = rows.values != 0.0
    starts = np.concatenate([[0], np.cumsum(present.sum(axis=1))]).astype(np.int64)
    columns = np.nonzero(present)[1].astype(np.uint32)
    return Csr(rows.values[present], columns, starts, rows.values.shape[1])


class Scratch:
    """Memory that every block writes anew: kernel values, and rows in tiles."""

    def __init__(self, dtype: DTypeLike) -> None:
        self.dtype = dtype
        self._values = np.empty(0)
        self._tiles = np.empty(0, dtype)

    def row_tiles(self, n: int, d: int) -> Matrix:
        """Return room for n rows; none for so few that they are faster one by one."""
        many = tile_rows(self.dtype)
        groups = -(-n // many) if n >= many else 0
        if self._tiles.size < groups * d * many:
            self._tiles = np.empty(groups * d * many, self.dtype)
        return self._tiles[: groups * d * many].reshape(groups, d, many)

    def values(self, n: int, width: int) -> Matrix:
        """Return room for as many kernel values for each of n rows, and for a last tile's."""
        places = n + tile_rows(self.dtype)
        if self._values.size < places * width:
            self._values = np.empty(places * width)
        return self._values[: places * width].reshape(places, width)
