"""Where support vectors are kept: in panels if they are dense, nonzeros only if they are sparse.

A slot is the place of one support vector. Those that entered within the block at hand are *young*:
the block's kernel values do not know them, so a row is held against them when its turn comes.
"""

from typing import Any, NamedTuple

import numpy as np

from selectron.arrays import Indices, Matrix, Vector
from selectron.compiler.verbs import Verb, helper
from selectron.kernels.block import BlockRow
from selectron.kernels.functions import Given, similarities
from selectron.kernels.tiles import PANEL, strip, tile
from selectron.numeric.sums import gather_dot

MOST_YOUNG = 512
NONE_MET = (-1, 0)


class Young(NamedTuple):
    """The support vectors that entered within the block, by order of entry."""

    slots: Indices
    births: Indices  # their positions in the block
    squares: Vector  # their |s|²
    values: Vector  # of the row at hand against them
    ahead: Matrix  # of the rows of one sheaf against them
    met: Indices  # which sheaf, and how many of the young ones it has met
    room: Vector
    n: int


class DensePanels(NamedTuple):
    panels: Any  # (capacity / 32, d, 32)
    nursery: Any  # (MOST_YOUNG / 32, d, 32): the young ones once more, side by side
    squares: Vector  # |s|² by slot
    room: Vector
    young: Young
    n_support: int


class SparseSlots(NamedTuple):
    values: Matrix  # (capacity, most nonzeros)
    columns: Any  # the same shape, uint32
    lengths: Indices
    spread: Vector  # (d,): the row at hand, zeros in between
    squares: Vector
    room: Vector
    young: Young
    n_support: int


@Verb
def meet_young(gallery: Any, x: BlockRow) -> None:
    """Write the products of the row with the young ones into `young.values`."""


@Verb
def keep(gallery: Any, slot: int, x: BlockRow) -> Any:
    """Return the gallery with the row in this slot; what was there is gone."""


@Verb
def catch_up(kernel: Any, gallery: Any, x: BlockRow) -> None:
    """Bring the kernel values of the row up to date with the young ones."""


@meet_young.of(DensePanels)
def meet_young_panels(gallery: DensePanels, x: BlockRow) -> None:
    young, met, many = gallery.young, gallery.young.met, x.sheaves.shape[2]
    panels = (young.n + PANEL - 1) // PANEL
    q, known = x.position // many, 0
    if q < len(x.sheaves):
        if met[0] != q:  # a whole sheaf takes hardly longer than one row
            for p in range(panels):
                tile(x.sheaves, q, gallery.nursery, p, young.ahead, 0)
            met[0], met[1] = q, young.n
        known = met[1]
        for i in range(known):
            young.values[i] = young.ahead[x.position % many, i]
    if known < young.n:
        for p in range(known // PANEL, panels):
            strip(x.row.values, gallery.nursery, p, young.values[p * PANEL :])


@meet_young.of(SparseSlots)
def meet_young_slots(gallery: SparseSlots, x: BlockRow) -> None:
    young = gallery.young
    spread_out(gallery.spread, x.row)
    for i in range(young.n):
        young.values[i] = slot_product(gallery, young.slots[i])
    clear(gallery.spread, x.row)


@helper
def spread_out(room: Vector, x: Any) -> None:
    for k in range(len(x.values)):
        room[x.indices[k]] = x.values[k]


@helper
def clear(room: Vector, x: Any) -> None:
    for k in range(len(x.values)):
        room[x.indices[k]] = 0.0


@helper
def slot_product(gallery: SparseSlots, slot: int) -> float:
    n = gallery.lengths[slot]
    return np.float64(
        gather_dot(gallery.values[slot, :n], gallery.columns[slot, :n], gallery.spread)
    )


@catch_up.otherwise
def hold_against_young(kernel: Any, gallery: Any, x: BlockRow) -> None:
    young = gallery.young
    if young.n > 0:
        meet_young(gallery, x)
        similarities(kernel, young.values[: young.n], young.squares, x.raw_square, young.room)
        for i in range(young.n):
            x.values[young.slots[i]] = young.values[i]


@catch_up.of(Given)
def look_up_young(kernel: Given, gallery: Any, x: BlockRow) -> None:
    young = gallery.young
    for i in range(young.n):
        x.values[young.slots[i]] = x.within[young.births[i]]


@helper
def born(young: Young, slot: int, x: BlockRow) -> Young:
    young.slots[young.n] = slot
    young.births[young.n] = x.position
    young.squares[young.n] = x.raw_square
    slots, births, squares, values, ahead, met, room, n = young
    return Young(slots, births, squares, values, ahead, met, room, n + 1)


@keep.of(DensePanels)
def keep_in_panels(gallery: DensePanels, slot: int, x: BlockRow) -> DensePanels:
    values, n = x.row.values, gallery.young.n
    for k in range(len(values)):
        gallery.panels[slot // PANEL, k, slot % PANEL] = values[k]
        gallery.nursery[n // PANEL, k, n % PANEL] = values[k]
    gallery.squares[slot] = x.raw_square
    return DensePanels(
        gallery.panels,
        gallery.nursery,
        gallery.squares,
        gallery.room,
        born(gallery.young, slot, x),
        max(gallery.n_support, slot + 1),
    )


@keep.of(SparseSlots)
def keep_in_slots(gallery: SparseSlots, slot: int, x: BlockRow) -> SparseSlots:
    n = len(x.row.values)
    for k in range(n):
        gallery.values[slot, k] = x.row.values[k]
        gallery.columns[slot, k] = x.row.indices[k]
    gallery.lengths[slot] = n
    gallery.squares[slot] = x.raw_square
    return SparseSlots(
        gallery.values,
        gallery.columns,
        gallery.lengths,
        gallery.spread,
        gallery.squares,
        gallery.room,
        born(gallery.young, slot, x),
        max(gallery.n_support, slot + 1),
    )
