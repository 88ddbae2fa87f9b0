"""Room for support vectors, made between blocks: compiled code never asks for memory."""

from typing import Any

import numpy as np

from selectron.kernels.gallery import MOST_YOUNG, NONE_MET, DensePanels, SparseSlots, Young
from selectron.kernels.tiles import PANEL, sheaf_rows
from selectron.numeric.rows import Csr, Rows


def fresh_gallery(rows: Rows, d: int, dtype: Any) -> DensePanels | SparseSlots:
    """Begin with no support vectors, for rows of this kind."""
    young = Young(
        np.zeros(MOST_YOUNG, np.int64),
        np.zeros(MOST_YOUNG, np.int64),
        np.zeros(MOST_YOUNG),
        np.zeros(MOST_YOUNG),
        np.zeros((sheaf_rows(dtype), MOST_YOUNG)),
        np.array(NONE_MET),
        np.zeros(MOST_YOUNG),
        0,
    )
    if isinstance(rows, Csr):
        return SparseSlots(
            np.zeros((0, 0), dtype),
            np.zeros((0, 0), np.uint32),
            np.zeros(0, np.int64),
            np.zeros(d, dtype),
            np.zeros(0),
            np.zeros(0),
            young,
            0,
        )
    panels = np.zeros((0, d, PANEL), dtype)
    nursery = np.zeros((MOST_YOUNG // PANEL, d, PANEL), dtype)
    return DensePanels(panels, nursery, np.zeros(0), np.zeros(0), young, 0)


def capacity_of(gallery: DensePanels | SparseSlots) -> int:
    return len(gallery.squares)


def roomier(capacity: int, needed: int) -> int:
    """Return a capacity of whole panels that doubles, so that copying stays cheap."""
    if needed <= capacity:
        return capacity
    grown = max(needed, 2 * capacity)
    return -(-grown // PANEL) * PANEL


def with_room(gallery: Any, capacity: int, nonzeros: int) -> Any:
    """Return the gallery with this many slots, sparse ones of at least so many nonzeros."""
    squares, room = widened(gallery.squares, capacity), np.zeros(capacity)
    if isinstance(gallery, DensePanels):
        panels = widened(gallery.panels, capacity // PANEL)
        return gallery._replace(panels=panels, squares=squares, room=room)
    width = roomier(gallery.values.shape[1], nonzeros)
    return gallery._replace(
        values=widened(gallery.values, capacity, width),
        columns=widened(gallery.columns, capacity, width),
        lengths=widened(gallery.lengths, capacity),
        squares=squares,
        room=room,
    )


def widened(array: Any, *shape: int) -> Any:
    """Return the array with more room along its first axes, zeros where nothing was."""
    whole = shape + array.shape[len(shape) :]
    if whole == array.shape:
        return array
    grown = np.zeros(whole, array.dtype)
    grown[tuple(slice(n) for n in array.shape)] = array
    return grown
