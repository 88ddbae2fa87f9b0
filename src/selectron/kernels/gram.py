"""Kernel values of a block of rows against all support vectors, compiled."""

from typing import Any

from selectron.compiler.verbs import Verb
from selectron.kernels.block import Block
from selectron.kernels.functions import own_similarity, similarities
from selectron.kernels.support import DensePanels, SparseSlots, clear, slot_product, spread_out
from selectron.kernels.tiles import PANEL, fill_row_tiles, strip, tile
from selectron.numeric.rows import row, square_norm


@Verb
def block_products(support: Any, block: Block) -> None:
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
