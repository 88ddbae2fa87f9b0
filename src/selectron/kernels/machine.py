"""The machine of a learner with a kernel: it feeds the loops with blocks of kernel values.

A block has some rows of the stream and their kernel values against all support vectors, computed
together at the speed of a matrix product. Room for new support vectors is made between blocks:
compiled code never asks for memory. How large blocks are does not show in the results.
"""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from selectron.arrays import Array, Codes, DType, Matrix, Table, Vector
from selectron.compiler.states import States, pack
from selectron.compiler.verbs import digest, kernel
from selectron.files import DamagedFile, Description, fields, flag, whole
from selectron.kernels import KINDS, Kernel, KernelChoice
from selectron.kernels.block import Block, Scratch, as_kind, fill_block, given_block
from selectron.kernels.budgets import Exit, Unlimited
from selectron.kernels.duals import begin_dual, dual_with_room
from selectron.kernels.support import (
    MOST_RECENT,
    NOT_MULTIPLIED,
    BlockRow,
    begin_support,
    capacity_of,
    roomier,
    support_rows,
)
from selectron.kernels.tiles import PANEL
from selectron.loop import (
    DONE,
    UNSOUND,
    Learner,
    LoopRows,
    Moved,
    Rounds,
    compiled,
    lesson_of,
    run_margins,
    run_pass,
    run_scores,
)
from selectron.loop import Kernel as Loop
from selectron.numeric.coins import toss
from selectron.numeric.rows import Csr, Rows, no_rows, outside, part, shape
from selectron.scalings import Raw
from selectron.spec import Rules, State

LARGEST_BLOCK = MOST_RECENT
MOST_DEGREE = 1 << 16  # of a file: each is a multiplication a round
USUAL_BLOCK = 384  # whole tiles of rows, and 5 % faster than 512: its values leave the cache later
MOST_VALUES = 1 << 22  # kernel values a block: 32 MB
GIVEN_BLOCK = 64  # rows a call of the user's function
ENDLESS = 2**53  # support vectors, without a budget
EXITS = 0x6578697473  # the coins of exits are not those of questions

# Fields that a row or a block fills anew.
PASSING = {"recent", "recent_panels", "room", "spread", "coins"}
PASSING |= {"scores", "steps", "along", "image", "aims"}


class Stretch(NamedTuple):
    """The block at hand, and which rows of the stream it covers."""

    block: Block
    rows: Rows
    start: int
    stop: int


class KernelMachine:
    """The states of three rules, the update rule in dual form."""

    reads_ahead = True  # a block is computed before the loop sees its rows

    def __init__(
        self,
        rules: Rules,
        rows: Rows,
        seed: int,
        choice: KernelChoice,
        *,
        n_classes: int = 2,
        function: Kernel | None = None,
        largest_block: int = USUAL_BLOCK,
    ) -> None:
        self.rules, self.seed, self.choice, self.n_classes = rules, seed, choice, n_classes
        self.d, self.dtype = shape(rows)[1], rows.values.dtype
        self.largest_block = min(largest_block, LARGEST_BLOCK)
        self.sparse = isinstance(rows, Csr)
        function = choice.function(rows, self.d) if function is None else function
        support = begin_support(rows, self.d, self.dtype)
        query = rules.query
        learner = Learner(
            rules.scaling.begin(self.d, self.dtype),
            begin_dual(rules.update, support, function, choice, n_classes),
            query.many(self.d, n_classes) if n_classes > 2 else query.begin(self.d),
        )
        self.states = States(learner)
        kinds: list[type] = [type(support), type(function), Block, BlockRow]
        self.fill = digest(*kinds, kernel=fill_block.__module__)
        self._begin_scratch()

    def _begin_scratch(self) -> None:
        self._at_hand: Stretch | None = None
        self._converted: tuple[Rows, Rows] | None = None
        self._scratch = Scratch(self.dtype)

    def __getstate__(self) -> dict[str, object]:
        passing = "_at_hand", "_converted", "_scratch"
        return {name: value for name, value in self.__dict__.items() if name not in passing}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._begin_scratch()

    # --- what is kept

    @property
    def store(self) -> State:
        """Support vectors and coefficients as they are now."""
        return self.states.now.update.store

    def support_vectors(self) -> Table:
        """Return the rows kept, as a matrix."""
        return support_rows(self.store.support)

    def dual_coefficients(self) -> Matrix:
        """Return the coefficients of the rows kept, a row a class."""
        store = self.store
        coefficients: Matrix = store.coefficients[:, : store.support.n_support].copy()
        return coefficients

    def describe(self) -> Description:
        """Return what a file has to say about kernel, memory and room."""
        if callable(self.choice.kernel):
            raise ValueError(
                "a learner whose kernel is a function cannot be saved: name a kernel, or pickle it"
            )
        function = self.store.kernel
        return {
            "machine": "kernel",
            "choice": asdict(self.choice),
            "function": {"name": type(function).__name__} | function._asdict(),
            "sparse": self.sparse,
            "room": self.room(),
        }

    def companions(self) -> dict[str, Array]:
        """Return arrays beside those of the states: there are none."""
        return {}

    @classmethod
    def described(
        cls, setting: tuple[Rules, int, DType, int, int], described: Description, n_numbers: int
    ) -> "KernelMachine":
        """Make a machine with room for the arrays of a file, which has so many numbers."""
        fields(described, "the machine", ("machine", "choice", "function", "sparse", "room"))
        rules, d, dtype, seed, n_classes = setting
        if not isinstance(rules.scaling, Raw):
            raise DamagedFile(f"{rules.scaling!r:.40} beside a kernel")
        numbers = dict(described["function"])
        kind = KINDS[numbers.pop("name")]
        whole(numbers.get("degree", 1), "degree", 1, MOST_DEGREE)
        capacity, nonzeros = described["room"]
        whole(capacity, "slots", 0, n_numbers)
        if capacity % PANEL:
            raise DamagedFile(f"{capacity} slots are no whole panels")
        whole(nonzeros, "nonzeros", 0, n_numbers // max(1, capacity))
        machine = cls(
            rules,
            no_rows(d, dtype, sparse=flag(described["sparse"], "sparse")),
            seed,
            KernelChoice(**described["choice"]),
            n_classes=n_classes,
            function=kind(**numbers),
        )
        machine.provide(capacity, nonzeros)
        return machine

    def arrays(self) -> list[Array]:
        return lasting(self.states.tree)

    def outweighs(self, rows: Rows) -> bool:
        return False  # powers overflow where plain products do not: a snapshot is worth it

    def snapshot(self) -> tuple[Learner, list[Array | None], Vector]:
        """Copy what a batch can change: without a budget, slots once filled stay as they are."""
        fixed: set[int] = set()
        if isinstance(self.store.budget, Unlimited):
            support = self.states.tree.update.store.support
            fixed = {id(array) for array in support if isinstance(array, np.ndarray)}
        copies = [None if id(a) in fixed else a.copy() for a in self.arrays()]
        return self.states.tree, copies, self.states.numbers.copy()

    def restore(self, snapshot: tuple[Learner, list[Array | None], Vector]) -> None:
        with self.states.busy:
            learner, copies, numbers = snapshot
            self.states.adopt(learner)
            for now, before in zip(self.arrays(), copies, strict=True):
                if before is not None:
                    now[...] = before
            self.states.numbers[:] = numbers
            self.settle()

    def for_classes(self, rules: Rules, n_classes: int) -> "KernelMachine":
        machine = KernelMachine(
            rules,
            no_rows(self.d, self.dtype, sparse=self.sparse),
            self.seed,
            self.choice,
            n_classes=n_classes,
            function=self.store.kernel,
            largest_block=self.largest_block,
        )
        machine.provide(*self.room())
        return machine

    # --- loops over blocks

    def run(self, rounds: Rounds) -> Moved:
        moved = self._play(rounds)
        at_hand = self._at_hand
        if at_hand is not None and at_hand.stop == shape(at_hand.rows)[0] and moved.status == DONE:
            self._at_hand = self._converted = None  # the pass does not come back to these rows
        return moved

    def _play(self, rounds: Rounds) -> Moved:
        return Moved(*self._call(run_pass, *rounds))

    def _call(self, loop: Loop, *args: object) -> Any:
        states = self.states
        return compiled(loop, states.kinds)(states.tree, states.numbers, *args)

    def lesson(self, rows: Rows, labels: Codes, told: Matrix, *, fresh: bool) -> int:
        if outside(rows) is not None:
            return UNSOUND
        with self.states.busy:
            self._at_hand = None
            position, status = 0, DONE
            while position < len(labels) and status == DONE:
                block, stop = self.piece(rows, position)
                part_ = labels[position:stop], told[position:stop]
                status = self._play(lesson_of(block, *part_, fresh=fresh)).status
                position = stop
            self._at_hand = None
            return status

    def margins(self, rows: Rows, *, exact: bool) -> Vector:
        margins = np.full(shape(rows)[0], np.nan)
        for start, stop, block in self._apart(rows):
            self._call(run_margins, block, margins[start:stop], exact)
        return margins

    def scores(self, rows: Rows) -> Matrix:
        scores = np.full((shape(rows)[0], self.n_classes), np.nan)
        for start, stop, block in self._apart(rows):
            self._call(run_scores, block, scores[start:stop])
        return scores

    def _apart(self, rows: Rows) -> Iterator[tuple[int, int, Block]]:
        """Yield blocks that are only looked at; none of rows that cannot be read."""
        if outside(rows) is not None:
            return
        rows, start, n = as_kind(rows, sparse=self.sparse), 0, shape(rows)[0]
        while start < n:
            with self.states.busy:
                self.settle()
                stop = min(n, start + self._block_rows())
                yield start, stop, self._filled(part(rows, start, stop))
            start = stop

    def piece(self, rows: Rows, start: int) -> tuple[LoopRows, int]:
        """Return the block that begins with this row, or what is left of the one at hand."""
        rows, at_hand = self._as_kept(rows), self._at_hand
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
        fit = MOST_VALUES // max(1, int(self.store.support.n_support))
        return max(1, min(self.largest_block, max(fit, PANEL)))

    def settle(self) -> None:
        """Forget the block at hand: what is left depends on the rounds alone."""
        self._at_hand = None
        state = self.states.now
        store = state.update.store
        store.support.recent.multiplied[:] = NOT_MULTIPLIED
        support = store.support._replace(recent=store.support.recent._replace(n=0))
        update = state.update._replace(store=store._replace(support=support))
        pack(state._replace(update=update), self.states.numbers)
        if isinstance(store.budget, Exit) and store.budget.by_coin:
            toss(self.seed ^ EXITS, int(store.budget.clock[0]), store.budget.coins)

    def room(self) -> tuple[int, int]:
        """Return how many slots there are, and how many nonzeros fit into a sparse one."""
        support = self.states.tree.update.store.support
        return capacity_of(support), support.values.shape[1] if self.sparse else 0

    def provide(self, capacity: int, nonzeros: int) -> None:
        """Make room for so many support vectors, sparse ones of so many nonzeros."""
        tree, numbers = self.states.tree, self.states.numbers
        self.states.adopt(tree._replace(update=dual_with_room(tree.update, capacity, nonzeros)))
        self.states.numbers[:] = numbers

    def _make_room(self, rows: Rows, n: int) -> None:
        slots, width = self.room()
        most = self.choice.budget or ENDLESS
        needed = min(self.store.support.n_support + n, most)
        capacity = min(roomier(slots, needed), roomier(0, most))
        nonzeros = int(np.diff(rows.starts).max()) if isinstance(rows, Csr) else 0
        if capacity > slots or nonzeros > width:
            self.provide(capacity, nonzeros)

    def _filled(self, rows: Rows) -> Block:
        n, store = shape(rows)[0], self.store
        if callable(self.choice.kernel):
            return given_block(self.choice.kernel, rows, store.support)
        values = self._scratch.values(n, capacity_of(store.support))
        tiles = self._scratch.row_tiles(0 if self.sparse else n, self.d)
        block = Block(rows, tiles, 0, values, np.empty((n, 0)), np.empty(n), np.empty(n))
        kernel(fill_block, self.fill)(store.kernel, store.support, block)
        return block


def lasting(state: State) -> list[Array]:
    """List the arrays of a state, depth first, without those that a row or a block fills anew."""
    listed: list[Array] = []
    for name, field in zip(state._fields, state, strict=True):
        if name in PASSING:
            continue
        if isinstance(field, tuple):
            listed.extend(lasting(field))
        elif isinstance(field, np.ndarray):
            listed.append(field)
    return listed
