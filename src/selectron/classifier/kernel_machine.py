"""A learner with a kernel at work: the states of its rules, and the loops that move them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from selectron.classifier.inputs import outside, shape
from selectron.classifier.kernel_blocks import LARGEST_BLOCK, BlockMachine
from selectron.classifier.machine import Snapshot, Stop
from selectron.classifier.rules import Rules
from selectron.dispatch import digest
from selectron.kernels.block import Block, BlockRow
from selectron.kernels.choice import KernelChoice
from selectron.kernels.duals import Memory, begin_dual, core_of
from selectron.kernels.exits import Unlimited
from selectron.kernels.given import support_rows
from selectron.kernels.gram import compiled_fill
from selectron.kernels.room import fresh_gallery
from selectron.kernels.rounds import compiled_leaders, compiled_rounds
from selectron.loop import DONE, UNSOUND, Learner, Log, compiled_margins, rules_digest
from selectron.numeric.arrays import Indices, Matrix, Signs, Vector
from selectron.numeric.coins import toss
from selectron.numeric.rows import Csr, Rows
from selectron.numeric.scalars import numbers_of

# Fields that a row or a block fills anew.
PASSING = {"young", "nursery", "room", "spread", "scores", "steps", "along", "image", "coins"}


class KernelMachine(BlockMachine):
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

    def __getstate__(self) -> dict[str, Any]:
        kept = self.__dict__.copy()
        del kept["_at_hand"], kept["_converted"], kept["_buffer"]
        return kept

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.numbers = np.array(self.numbers)  # a prediction writes there too
        self._clear()

    def support_vectors(self) -> Any:
        return support_rows(self.core.gallery)

    def dual_coefficients(self) -> Matrix:
        core = self.core
        coefficients: Matrix = core.coefficients[:, : core.gallery.n_support].copy()
        return coefficients

    def arrays(self) -> list[Any]:
        """List what outlasts a block."""
        return lasting(self.learner)

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
        self.settle()

    def run(self, rows: Rows, labels: Signs, *, log: Log, **options: Any) -> Stop:
        """Run the pass; what somebody else's kernel refuses leaves everything as it was."""
        if outside(rows) is not None:
            return Stop(options.get("first", 0), UNSOUND)
        before = self.snapshot() if callable(self.choice.kernel) else None
        try:
            stop = super().run(self._as_kept(rows), labels, log=log, **options)
        except BaseException:
            if before is not None:
                self.restore(before)
            raise
        if stop.status == DONE:  # nobody comes back to these rows
            self._at_hand = self._converted = None
        return stop

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
        self._at_hand = None
        block, _ = self._piece(self._as_kept(rows), 0)
        status = super().lesson(block, labels, asked_with, fresh=fresh)
        self._at_hand = None
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
