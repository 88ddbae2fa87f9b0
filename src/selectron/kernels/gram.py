"""Kernel values of a block of rows against all support vectors, compiled."""

from functools import cache
from typing import Any

from numba import njit

from selectron.compiler.verbs import KERNEL, Verb, shelved
from selectron.kernels.block import Block
from selectron.kernels.functions import own_similarity, similarities
from selectron.kernels.gallery import DensePanels, SparseSlots, clear, slot_product, spread_out
from selectron.kernels.tiles import PANEL, bind_sheaves, strip, tile
from selectron.loop import Kernel, quietly
from selectron.numeric.rows import row, square_norm


@Verb
def block_products(gallery: Any, block: Block) -> None:
    """Write the products of all rows with all support vectors into the block."""


@block_products.of(DensePanels)
def panel_products(gallery: DensePanels, block: Block) -> None:
    rows, sheaves, out = block.rows.values, block.sheaves, block.values
    bind_sheaves(rows, sheaves)
    many = sheaves.shape[2]
    for p in range((gallery.n_support + PANEL - 1) // PANEL):
        for q in range(len(sheaves)):
            tile(sheaves, q, gallery.panels, p, out, q * many)
        if len(sheaves) == 0:
            for t in range(len(rows)):
                strip(rows[t], gallery.panels, p, out[t, p * PANEL :])


@block_products.of(SparseSlots)
def slot_products(gallery: SparseSlots, block: Block) -> None:
    for t in range(len(block.squares)):
        x = row(block.rows, t)
        spread_out(gallery.spread, x)
        for j in range(gallery.n_support):
            block.values[t, j] = slot_product(gallery, j)
        clear(gallery.spread, x)


@cache
def compiled_fill(bodies: str) -> Kernel:
    """Compile the filling of a block."""

    @njit(**KERNEL)
    @shelved(bodies)
    def fill_block(kernel, gallery, block):  # type: ignore[no-untyped-def]
        _ = bodies  # captured, hence part of the cache key: an edited kernel is compiled anew
        m = gallery.n_support
        block_products(gallery, block)
        for t in range(len(block.squares)):
            square = square_norm(row(block.rows, t))
            block.raw_squares[t] = square
            block.squares[t] = own_similarity(kernel, square)
            similarities(kernel, block.values[t, :m], gallery.squares, square, gallery.room)

    return quietly(fill_block)
