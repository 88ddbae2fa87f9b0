"""A learner with a kernel at work: the states of its rules, and the loops that move them."""

from typing import Any

import numpy as np

from selectron.arrays import Codes, Matrix, Vector
from selectron.classifier.dual_rules import dual_rules
from selectron.classifier.inputs import no_rows, outside, shape
from selectron.classifier.kernel_blocks import LARGEST_BLOCK, USUAL_BLOCK, BlockMachine
from selectron.classifier.machine import Snapshot, Stop
from selectron.classifier.rules import Rules, Wishes
from selectron.compiler.numbers import numbers_of
from selectron.compiler.verbs import digest
from selectron.kernels.block import Block, BlockRow
from selectron.kernels.choice import KernelChoice
from selectron.kernels.duals import Memory, begin_dual, core_of
from selectron.kernels.exits import Unlimited
from selectron.kernels.given import support_rows
from selectron.kernels.gram import compiled_fill
from selectron.kernels.room import fresh_gallery
from selectron.loop import (
    DONE,
    UNSOUND,
    Learner,
    Log,
    compiled_margins,
    compiled_scores,
    rules_digest,
)
from selectron.numeric.rows import Csr, Rows

# Fields that a row or a block fills anew.
PASSING = {"young", "nursery", "room", "spread", "coins"}
PASSING |= {"scores", "steps", "along", "image", "aims"}


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
        largest_block: int = USUAL_BLOCK,
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
            rules.query.many(self.d, n_classes) if self.many else rules.query.begin(self.d),
        )
        self.numbers = np.array(numbers_of(self.learner))
        self.bodies = rules_digest(self.learner)
        kinds = (type(gallery), type(kernel), Block, BlockRow)
        self.fill = digest(*kinds, kernel=compiled_fill.__module__)
        self._clear()

    def __getstate__(self) -> dict[str, Any]:
        kept = self.__dict__.copy()
        del kept["_at_hand"], kept["_converted"], kept["_scratch"], kept["_busy"]
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
        entries = None if self.ledger is None else self.ledger.state()
        return Snapshot([self.learner, *copies], self.numbers.copy(), counts, entries)

    def restore(self, snapshot: Snapshot) -> None:
        self.learner = snapshot.arrays[0]
        for now, before in zip(self.arrays(), snapshot.arrays[1:], strict=True):
            if before is not None:
                now[...] = before
        self.numbers[:] = snapshot.numbers
        self.n_seen, self.n_asked, self.waits = snapshot.counts
        if self.ledger is not None and snapshot.ledger is not None:
            self.ledger.restore(snapshot.ledger)
        self.settle()

    def rules_for(self, wishes: Wishes, n_classes: int) -> Rules:
        return dual_rules(*wishes, self.choice, n_classes)

    def for_classes(self, rules: Rules, n_classes: int) -> "KernelMachine":
        machine = KernelMachine(
            rules,
            no_rows(self.d, self.dtype, sparse=self.sparse),
            self.seed,
            self.choice,
            n_classes=n_classes,
            function=self.core.kernel,
            largest_block=self.largest_block,
        )
        machine.ledger = self.ledger
        machine.provide(*self.room())
        return machine

    def run(self, rows: Rows, labels: Codes, *, log: Log, **options: Any) -> Stop:
        """Run the pass; what somebody else's kernel refuses leaves everything as it was."""
        if outside(rows) is not None:
            return Stop(options.get("first", 0), UNSOUND)
        with self._busy:
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

    def lesson(self, rows: Rows, labels: Codes, asked_with: Matrix, *, fresh: bool) -> int:
        if outside(rows) is not None:
            return UNSOUND
        with self._busy:
            self._at_hand = None
            rows, position, status = self._as_kept(rows), 0, DONE
            while position < len(labels) and status == DONE:
                block, stop = self._piece(rows, position)
                told = asked_with[position:stop]
                status = super().lesson(block, labels[position:stop], told, fresh=fresh)
                position = stop
            self._at_hand = None
            return status

    def margins(self, rows: Rows, *, exact: bool) -> Vector:
        n = shape(rows)[0]
        margins, kernel = np.full(n, np.nan), compiled_margins(self.bodies)
        if outside(rows) is None:
            with self._busy:
                for start, stop, block in self._apart(rows):
                    kernel(self.learner, self.numbers, block, margins[start:stop], exact)
        return margins

    def scores(self, rows: Rows) -> Matrix:
        n = shape(rows)[0]
        scores, kernel = np.full((n, self.n_classes), np.nan), compiled_scores(self.bodies)
        if outside(rows) is None:
            with self._busy:
                for start, stop, block in self._apart(rows):
                    kernel(self.learner, self.numbers, block, scores[start:stop])
        return scores


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
