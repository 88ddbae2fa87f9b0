"""Room for support vectors, made between blocks: compiled code never asks for memory."""

from typing import Any

import numpy as np

from selectron.kernels.support import MOST_RECENT, NONE_MET, DensePanels, Recent, SparseSlots
from selectron.kernels.tiles import PANEL, tile_rows
from selectron.numeric.rows import Csr, Rows


def begin_support(rows: Rows, d: int, dtype: Any) -> DensePanels | SparseSlots:
    """Begin with no support vectors, for rows of this kind."""
    recent = Recent(
        np.zeros(MOST_RECENT, np.int64),
        np.zeros(MOST_RECENT, np.int64),
        np.zeros(MOST_RECENT),
        np.zeros(MOST_RECENT),
        np.zeros((tile_rows(dtype), MOST_RECENT)),
        np.array(NONE_MET),
        np.zeros(MOST_RECENT),
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
            recent,
            0,
        )
    panels = np.zeros((0, d, PANEL), dtype)
    recent_panels = np.zeros((MOST_RECENT // PANEL, d, PANEL), dtype)
    return DensePanels(panels, recent_panels, np.zeros(0), np.zeros(0), recent, 0)


def capacity_of(support: DensePanels | SparseSlots) -> int:
    return len(support.squares)


def roomier(capacity: int, needed: int) -> int:
    """Return a capacity of whole panels that doubles, so that copying stays cheap."""
    if needed <= capacity:
        return capacity
    grown = max(needed, 2 * capacity)
    return -(-grown // PANEL) * PANEL


def with_room(support: Any, capacity: int, nonzeros: int) -> Any:
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


def widened(array: Any, *shape: int) -> Any:
    """Return the array with more room along its first axes, zeros where nothing was."""
    whole = shape + array.shape[len(shape) :]
    if whole == array.shape:
        return array
    grown = np.zeros(whole, array.dtype)
    grown[tuple(slice(n) for n in array.shape)] = array
    return grown
