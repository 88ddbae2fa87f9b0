"""Where support vectors are kept: in panels if they are dense, nonzeros only if they are sparse.

A slot is the place of one support vector. Those that entered within the block at hand are *recent*:
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

MOST_RECENT = 512
NONE_MET = (-1, 0)


class Recent(NamedTuple):
    """The support vectors that entered within the block, by order of entry."""

    slots: Indices
    births: Indices  # their positions in the block
    squares: Vector  # their |s|²
    values: Vector  # of the row at hand against them
    ahead: Matrix  # of the rows of one row tile against them
    met: Indices  # which row tile, and how many of the recent ones it has met
    room: Vector
    n: int


class DensePanels(NamedTuple):
    panels: Any  # (capacity / 32, d, 32)
    recent_panels: Any  # (MOST_RECENT / 32, d, 32): the recent ones once more, side by side
    squares: Vector  # |s|² by slot
    room: Vector
    recent: Recent
    n_support: int


class SparseSlots(NamedTuple):
    values: Matrix  # (capacity, most nonzeros)
    columns: Any  # the same shape, uint32
    lengths: Indices
    spread: Vector  # (d,): the row at hand, zeros in between
    squares: Vector
    room: Vector
    recent: Recent
    n_support: int


@Verb
def meet_young(support: Any, x: BlockRow) -> None:
    """Write the products of the row with the recent ones into `recent.values`."""


@Verb
def keep(support: Any, slot: int, x: BlockRow) -> Any:
    """Return the support with the row in this slot; what was there is gone."""


@Verb
def catch_up(kernel: Any, support: Any, x: BlockRow) -> None:
    """Bring the kernel values of the row up to date with the recent ones."""


@meet_young.of(DensePanels)
def meet_young_panels(support: DensePanels, x: BlockRow) -> None:
    recent, met, many = support.recent, support.recent.met, x.row_tiles.shape[2]
    panels = (recent.n + PANEL - 1) // PANEL
    q, known = x.position // many, 0
    if q < len(x.row_tiles):
        if met[0] != q:  # a whole row tile takes hardly longer than one row
            for p in range(panels):
                tile(x.row_tiles, q, support.recent_panels, p, recent.ahead, 0)
            met[0], met[1] = q, recent.n
        known = met[1]
        for i in range(known):
            recent.values[i] = recent.ahead[x.position % many, i]
    if known < recent.n:
        for p in range(known // PANEL, panels):
            strip(x.row.values, support.recent_panels, p, recent.values[p * PANEL :])


@meet_young.of(SparseSlots)
def meet_young_slots(support: SparseSlots, x: BlockRow) -> None:
    recent = support.recent
    spread_out(support.spread, x.row)
    for i in range(recent.n):
        recent.values[i] = slot_product(support, recent.slots[i])
    clear(support.spread, x.row)


@helper
def spread_out(room: Vector, x: Any) -> None:
    for k in range(len(x.values)):
        room[x.indices[k]] = x.values[k]


@helper
def clear(room: Vector, x: Any) -> None:
    for k in range(len(x.values)):
        room[x.indices[k]] = 0.0


@helper
def slot_product(support: SparseSlots, slot: int) -> float:
    n = support.lengths[slot]
    return np.float64(
        gather_dot(support.values[slot, :n], support.columns[slot, :n], support.spread)
    )


@catch_up.otherwise
def hold_against_young(kernel: Any, support: Any, x: BlockRow) -> None:
    recent = support.recent
    if recent.n > 0:
        meet_young(support, x)
        similarities(kernel, recent.values[: recent.n], recent.squares, x.raw_square, recent.room)
        for i in range(recent.n):
            x.values[recent.slots[i]] = recent.values[i]


@catch_up.of(Given)
def look_up_young(kernel: Given, support: Any, x: BlockRow) -> None:
    recent = support.recent
    for i in range(recent.n):
        x.values[recent.slots[i]] = x.within[recent.births[i]]


@helper
def born(recent: Recent, slot: int, x: BlockRow) -> Recent:
    recent.slots[recent.n] = slot
    recent.births[recent.n] = x.position
    recent.squares[recent.n] = x.raw_square
    slots, births, squares, values, ahead, met, room, n = recent
    return Recent(slots, births, squares, values, ahead, met, room, n + 1)


@keep.of(DensePanels)
def keep_in_panels(support: DensePanels, slot: int, x: BlockRow) -> DensePanels:
    values, n = x.row.values, support.recent.n
    for k in range(len(values)):
        support.panels[slot // PANEL, k, slot % PANEL] = values[k]
        support.recent_panels[n // PANEL, k, n % PANEL] = values[k]
    support.squares[slot] = x.raw_square
    return DensePanels(
        support.panels,
        support.recent_panels,
        support.squares,
        support.room,
        born(support.recent, slot, x),
        max(support.n_support, slot + 1),
    )


@keep.of(SparseSlots)
def keep_in_slots(support: SparseSlots, slot: int, x: BlockRow) -> SparseSlots:
    n = len(x.row.values)
    for k in range(n):
        support.values[slot, k] = x.row.values[k]
        support.columns[slot, k] = x.row.indices[k]
    support.lengths[slot] = n
    support.squares[slot] = x.raw_square
    return SparseSlots(
        support.values,
        support.columns,
        support.lengths,
        support.spread,
        support.squares,
        support.room,
        born(support.recent, slot, x),
        max(support.n_support, slot + 1),
    )
