"""A machine whose hypothesis is a sum over support vectors, fed by blocks of kernel values."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selectron.classifier.inputs import outside, part, shape
from selectron.classifier.machine import Machine, Snapshot, Stop
from selectron.classifier.rules import Rules
from selectron.dispatch import digest
from selectron.kernels.block import Block, BlockRow
from selectron.kernels.choice import KernelChoice
from selectron.kernels.duals import Memory, begin_dual, core_of, dual_with_room, with_core
from selectron.kernels.exits import RandomExit, Unlimited
from selectron.kernels.gallery import MOST_YOUNG
from selectron.kernels.given import given_block, support_rows
from selectron.kernels.gram import compiled_fill
from selectron.kernels.kinds import as_kind
from selectron.kernels.room import capacity_of, fresh_gallery, roomier
from selectron.kernels.rounds import compiled_leaders, compiled_rounds
from selectron.kernels.tiles import PANEL
from selectron.loop import DONE, UNSOUND, Learner, Log, compiled_margins, rules_digest
from selectron.numeric.arrays import Indices, Matrix, Signs, Vector
from selectron.numeric.coins import toss
from selectron.numeric.rows import Csr, Rows
from selectron.numeric.scalars import numbers_of, pack

LARGEST_BLOCK = MOST_YOUNG
MOST_VALUES = 1 << 22  # kernel values a block: 32 MB
GIVEN_BLOCK = 64  # rows a call of somebody else's kernel
EXITS = 0x6578697473  # the coins of exits are not those of questions


# Fields that a row or a block fills anew.
PASSING = {"young", "nursery", "room", "spread", "scores", "steps", "along", "image", "coins"}


class Stretch(NamedTuple):
    """The block at hand, and which rows of the stream it covers."""

    block: Block
    rows: Rows
    start: int
    stop: int


class KernelMachine(Machine):
    """The states of three rules, the update in dual form.

    Results do not depend on `largest_block`: it is a matter of speed.
    """

    def __init__(
        self,
        rules: Rules,
        rows: Rows,
        seed: int,
        choice: KernelChoice,
        *,
        n_classes: int = 2,
        function: Any = None,
        largest_block: int = LARGEST_BLOCK,
    ) -> None:
        self.rules = rules
        self.d = shape(rows)[1]
        self.dtype = rows.values.dtype
        self.seed = seed
        self.n_seen = self.n_asked = 0
        self.waits = False
        self.choice = choice
        self.n_classes = n_classes
        self.largest_block = min(largest_block, LARGEST_BLOCK)
        self.sparse = isinstance(rows, Csr)
        kernel = choice.function(rows, self.d) if function is None else function
        gallery = fresh_gallery(rows, self.d, self.dtype)
        memory = Memory(choice.budget, choice.removal)
        self.learner = Learner(
            rules.scaling.begin(self.d, self.dtype),
            begin_dual(rules.update, gallery, kernel, memory, n_classes),
            rules.query.begin(self.d),
        )
        self.numbers = np.array(numbers_of(self.learner))
        self.bodies = rules_digest(self.learner)
        kinds = (type(gallery), type(kernel), Block, BlockRow)
        self.fill = digest(*kinds, kernel=compiled_fill.__module__)
        self._clear()

    def _clear(self) -> None:
        self._stretch_at_hand: Stretch | None = None
        self._converted: tuple[Rows, Rows] | None = None
        self._buffer = np.empty(0)

    def __getstate__(self) -> dict[str, Any]:
        kept = self.__dict__.copy()
        del kept["_stretch_at_hand"], kept["_converted"], kept["_buffer"]
        return kept

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._clear()

    @property
    def core(self) -> Any:
        """Support vectors and coefficients as they are now."""
        return core_of(self.state.update)

    def support_vectors(self) -> Any:
        return support_rows(self.core.gallery)

    def dual_coefficients(self) -> Matrix:
        core = self.core
        coefficients: Matrix = core.coefficients[:, : core.gallery.n_support].copy()
        return coefficients

    def arrays(self) -> list[Any]:
        """List what outlasts a block."""
        return lasting(self.learner)

    def settle(self) -> None:
        """Forget the block at hand: what is left depends on the rounds alone."""
        self._begin_block()

    def room(self) -> tuple[int, int]:
        """Return how many slots there are, and how many nonzeros fit into a sparse one."""
        gallery = core_of(self.learner.update).gallery
        return capacity_of(gallery), gallery.values.shape[1] if self.sparse else 0

    def provide(self, capacity: int, nonzeros: int) -> None:
        update = dual_with_room(self.learner.update, capacity, nonzeros)
        self.learner = self.learner._replace(update=update)

    def outweighs(self, rows: Rows) -> bool:
        """Tell that a snapshot is worth it: powers overflow where plain products do not."""
        return False

    def snapshot(self) -> Snapshot:
        """Copy what a batch can change: without a budget, slots once filled stay as they are."""
        fixed: set[int] = set()
        if isinstance(self.core.budget, Unlimited):
            gallery = core_of(self.learner.update).gallery
            fixed = {id(array) for array in gallery if isinstance(array, np.ndarray)}
        copies = [None if id(a) in fixed else a.copy() for a in self.arrays()]
        counts = self.n_seen, self.n_asked, self.waits
        return Snapshot([self.learner, *copies], self.numbers.copy(), counts)

    def restore(self, snapshot: Snapshot) -> None:
        self.learner = snapshot.arrays[0]
        for now, before in zip(self.arrays(), snapshot.arrays[1:], strict=True):
            if before is not None:
                now[...] = before
        self.numbers[:] = snapshot.numbers
        self.n_seen, self.n_asked, self.waits = snapshot.counts
        self._begin_block()

    def run(self, rows: Rows, labels: Signs, *, log: Log, **options: Any) -> Stop:
        """Run the pass; what somebody else's kernel refuses leaves everything as it was."""
        if outside(rows) is not None:
            return Stop(options.get("first", 0), UNSOUND)
        before = self.snapshot() if callable(self.choice.kernel) else None
        try:
            return super().run(self._as_kept(rows), labels, log=log, **options)
        except BaseException:
            if before is not None:
                self.restore(before)
            raise

    def run_classes(self, rows: Rows, labels: Indices, log: Log) -> tuple[Stop, NDArray[np.int64]]:
        """Run a pass over class numbers; return where it stopped, and the classes predicted."""
        rows, n = self._as_kept(rows), shape(rows)[0]
        predicted, position, status = np.full(n, -1), 0, DONE
        kernel = compiled_rounds(self.bodies)
        while position < n and status == DONE:
            block, stop = self._piece(rows, position)
            coins = toss(self.seed, self.n_seen, np.empty(stop - position))
            moved, status, n_asked = kernel(
                self.learner, self.numbers, block, labels[position:stop], coins,
                log.part(position, stop), predicted[position:stop],
            )  # fmt: skip
            position += moved
            self.n_seen += moved
            self.n_asked += int(n_asked)
        return Stop(position, status), predicted

    def lesson(self, rows: Rows, labels: Signs, asked_with: Matrix, *, fresh: bool) -> int:
        if outside(rows) is not None:
            return UNSOUND
        self._stretch_at_hand = None
        block, _ = self._piece(self._as_kept(rows), 0)
        status = super().lesson(block, labels, asked_with, fresh=fresh)
        self._stretch_at_hand = None
        return status

    def margins(self, rows: Rows, *, exact: bool) -> Vector:
        n = shape(rows)[0]
        margins, kernel = np.full(n, np.nan), compiled_margins(self.bodies)
        if outside(rows) is None:
            for start, stop, block in self._apart(rows):
                kernel(self.learner, self.numbers, block, margins[start:stop], exact)
        return margins

    def leaders(self, rows: Rows) -> NDArray[np.int64]:
        """Return the class number of every row."""
        predicted = np.empty(shape(rows)[0], np.int64)
        kernel = compiled_leaders(self.bodies)
        for start, stop, block in self._apart(rows):
            kernel(self.learner, self.numbers, block, np.empty(stop - start), predicted[start:stop])
        return predicted

    def _apart(self, rows: Rows) -> Any:
        """Yield blocks that are only looked at."""
        self._begin_block()
        rows, start, n = as_kind(rows, sparse=self.sparse), 0, shape(rows)[0]
        while start < n:
            stop = min(n, start + self._block_rows())
            yield start, stop, self._filled(part(rows, start, stop))
            start = stop

    def _piece(self, rows: Rows, start: int) -> tuple[Any, int]:
        """Return the block that begins with this row, or what is left of the one at hand."""
        at_hand = self._stretch_at_hand
        if at_hand is not None and at_hand.rows is rows and at_hand.start <= start < at_hand.stop:
            return at_hand.block.rest(start - at_hand.start), at_hand.stop
        self._begin_block()
        stop = min(shape(rows)[0], start + self._block_rows())
        stretch = part(rows, start, stop)
        self._make_room(stretch, stop - start)
        block = self._filled(stretch)
        self._stretch_at_hand = Stretch(block, rows, start, stop)
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

    def _begin_block(self) -> None:
        """Let the young grow up: the next block knows them."""
        self._stretch_at_hand = None
        state = self.state
        core = core_of(state.update)
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
        capacity = capacity_of(core.gallery)
        if self._buffer.size < n * capacity:
            self._buffer = np.empty(n * capacity)
        values = self._buffer[: n * capacity].reshape(n, capacity)
        block = Block(rows, 0, values, np.empty((n, 0)), np.empty(n), np.empty(n))
        compiled_fill(self.fill)(core.kernel, core.gallery, block)
        return block


def lasting(state: Any) -> list[Any]:
    """List the arrays of a state, depth first, without those that a row or a block fills anew."""
    listed: list[Any] = []
    for name, field in zip(state._fields, state, strict=True):
        if name in PASSING:
            continue
        if isinstance(field, tuple):
            listed.extend(lasting(field))
        elif isinstance(field, np.ndarray):
            listed.append(field)
    return listed
