"""A machine that is fed by blocks of kernel values, and makes room for support vectors."""

from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from selectron.classifier.inputs import part, shape
from selectron.classifier.machine import Machine
from selectron.compiler.numbers import pack
from selectron.kernels.block import Block
from selectron.kernels.choice import KernelChoice
from selectron.kernels.duals import core_of, dual_with_room, with_core
from selectron.kernels.exits import RandomExit
from selectron.kernels.gallery import MOST_YOUNG, NONE_MET
from selectron.kernels.given import given_block
from selectron.kernels.gram import compiled_fill
from selectron.kernels.kinds import as_kind
from selectron.kernels.room import capacity_of, roomier
from selectron.kernels.scratch import Scratch
from selectron.kernels.tiles import PANEL
from selectron.numeric.coins import toss
from selectron.numeric.rows import Csr, Rows

LARGEST_BLOCK = MOST_YOUNG
USUAL_BLOCK = 384  # whole sheaves, and 5 % faster than 512: its values leave the cache later
MOST_VALUES = 1 << 22  # kernel values a block: 32 MB
GIVEN_BLOCK = 64  # rows a call of somebody else's kernel
EXITS = 0x6578697473  # the coins of exits are not those of questions


class Stretch(NamedTuple):
    """The block at hand, and which rows of the stream it covers."""

    block: Block
    rows: Rows
    start: int
    stop: int


class BlockMachine(Machine):
    """A machine with an update in dual form; how large its blocks are does not show in results."""

    choice: KernelChoice
    sparse: bool
    largest_block: int
    fill: str  # a digest of the code that fills blocks
    _at_hand: Stretch | None
    _converted: tuple[Rows, Rows] | None
    _scratch: Scratch
    _busy: Any  # held from the filling of a block to its last row: predictions fill blocks too

    def _clear(self) -> None:
        self._at_hand = None
        self._converted = None
        self._scratch = Scratch(self.dtype)
        self._busy = RLock()

    @property
    def core(self) -> Any:
        """Support vectors and coefficients as they are now."""
        return core_of(self.state.update)

    def room(self) -> tuple[int, int]:
        """Return how many slots there are, and how many nonzeros fit into a sparse one."""
        gallery = core_of(self.learner.update).gallery
        return capacity_of(gallery), gallery.values.shape[1] if self.sparse else 0

    def provide(self, capacity: int, nonzeros: int) -> None:
        update = dual_with_room(self.learner.update, capacity, nonzeros)
        self.learner = self.learner._replace(update=update)

    def _apart(self, rows: Rows) -> Any:
        """Yield blocks that are only looked at."""
        self.settle()
        rows, start, n = as_kind(rows, sparse=self.sparse), 0, shape(rows)[0]
        while start < n:
            stop = min(n, start + self._block_rows())
            yield start, stop, self._filled(part(rows, start, stop))
            start = stop

    def _piece(self, rows: Rows, start: int) -> tuple[Any, int]:
        """Return the block that begins with this row, or what is left of the one at hand."""
        at_hand = self._at_hand
        if at_hand is not None and at_hand.rows is rows and at_hand.start <= start < at_hand.stop:
            return at_hand.block.rest(start - at_hand.start), at_hand.stop
        self.settle()
        stop = min(shape(rows)[0], start + self._block_rows())
        stretch = part(rows, start, stop)
        self._make_room(stretch, stop - start)
        block = self._filled(stretch)
        self._at_hand = Stretch(block, rows, start, stop)
        return block, stop

    def _as_kept(self, rows: Rows) -> Rows:
        """Return the rows as the support vectors are; an oracle's batch is converted once."""
        if isinstance(rows, Csr) == self.sparse:
            return rows
        if self._converted is None or self._converted[0] is not rows:
            self._converted = rows, as_kind(rows, sparse=self.sparse)
        return self._converted[1]

    def _block_rows(self) -> int:
        if callable(self.choice.kernel):
            return min(self.largest_block, GIVEN_BLOCK)
        fit = MOST_VALUES // max(1, int(self.core.gallery.n_support))
        return max(1, min(self.largest_block, max(fit, PANEL)))

    def settle(self) -> None:
        """Forget the block at hand: what is left depends on the rounds alone."""
        self._at_hand = None
        state = self.state
        core = core_of(state.update)
        core.gallery.young.met[:] = NONE_MET
        gallery = core.gallery._replace(young=core.gallery.young._replace(n=0))
        update = with_core(state.update, core._replace(gallery=gallery))
        pack(state._replace(update=update), self.numbers)
        if isinstance(core.budget, RandomExit):
            toss(self.seed ^ EXITS, int(core.budget.clock[0]), core.budget.coins)

    def _make_room(self, rows: Rows, n: int) -> None:
        slots, width = self.room()
        needed = self.core.gallery.n_support + n
        if self.choice.budget is not None:
            needed = min(needed, self.choice.budget)
        capacity = roomier(slots, needed)
        if self.choice.budget is not None:
            capacity = min(capacity, roomier(0, self.choice.budget))
        nonzeros = int(np.diff(rows.starts).max()) if isinstance(rows, Csr) else 0
        if capacity > slots or nonzeros > width:
            self.provide(capacity, nonzeros)

    def _filled(self, rows: Rows) -> Block:
        n, core = shape(rows)[0], self.core
        if callable(self.choice.kernel):
            return given_block(self.choice.kernel, rows, core.gallery)
        values = self._scratch.values(n, capacity_of(core.gallery))
        sheaves = self._scratch.sheaves(0 if self.sparse else n, self.d)
        block = Block(rows, sheaves, 0, values, np.empty((n, 0)), np.empty(n), np.empty(n))
        compiled_fill(self.fill)(core.kernel, core.gallery, block)
        return block
