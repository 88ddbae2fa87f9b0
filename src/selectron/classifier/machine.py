"""What a learner's machine is, and the machine of rules on rows as they are.

A machine holds the states of three rules and calls the compiled loops that move them. It knows
nothing of labels' names, rounds, tickets or threads: those are the run's (`run.py`). Kernels
(`kernels/machine.py`) and committees of learners of any make (`tracking/machine.py`) have machines
of their own.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, Self, TypeAlias

import numpy as np

from selectron.arrays import Array, Codes, DType, Matrix, Vector
from selectron.compiler.states import (
    Snapshot,
    States,
    carried,
    kinds_among,
    nodes,
    own_arrays,
    pack,
)
from selectron.files import Description, Reader, Tensors
from selectron.loop import (
    DONE,
    Kernel,
    Learner,
    LoopRows,
    Moved,
    Rounds,
    compiled,
    lesson_of,
    run_folded,
    run_margins,
    run_pass,
    run_scores,
)
from selectron.numeric.rows import Rows, n_bytes, part, sealed, shape
from selectron.protocol import QueryState, fold, product_weights, rooms
from selectron.spec import Rules

LEAST_STUDIED, MOST_STUDIED = 250, 1000  # rows at once that a scaling studies
CHUNK = 1 << 16  # rows a kernel call: coins stay in the cache, and Ctrl-C and other threads wait

Before: TypeAlias = Any  # what a machine's `snapshot` has copied, for its own `restore`


class Machine(Protocol):
    """The states of three rules at work, and the loops that move them."""

    rules: Rules
    d: int
    dtype: DType
    seed: int
    n_classes: int
    states: States[Learner]
    reads_ahead: bool  # rows are read before the loop can check their columns

    def piece(self, rows: Rows, start: int) -> tuple[LoopRows, int]:
        """Return the rows that a loop shall see at once from `start` on, and where they end."""

    def run(self, rounds: Rounds) -> Moved:
        """Play the rounds of a piece, until its end or until they have to stop."""

    def lesson(self, rows: Rows, labels: Codes, told: Matrix, *, fresh: bool) -> int:
        """Teach labels that come outside a pass; return the status."""

    def margins(self, rows: Rows, *, exact: bool) -> Vector:
        """Return the margin of every row, or a number of its sign; NaN if it cannot be read."""

    def scores(self, rows: Rows) -> Matrix:
        """Return what each of many classes scores on every row; NaN if it cannot be read."""

    def arrays(self) -> list[Array]:
        """List the arrays that outlast a call, in the order of a file."""

    def describe(self) -> Description:
        """Return what a file has to say of this machine beside rules, width and arrays."""

    def companions(self) -> Tensors:
        """Return arrays beside those of the states, for a file."""

    def snapshot(self) -> Before:
        """Copy what a batch can change."""

    def restore(self, snapshot: Before) -> None:
        """Put back what `snapshot` copied."""

    def outweighs(self, rows: Rows) -> bool:
        """Tell whether a snapshot would cost more than looking through the rows."""

    def settle(self) -> None:
        """Forget what is under way between calls, so that all there is can be written down."""

    def for_classes(self, rules: Rules, n_classes: int) -> Self:
        """Return a machine for as many classes that has learnt nothing yet."""


class Setting(NamedTuple):
    """What a file says of every machine."""

    rules: Rules
    d: int
    dtype: DType
    seed: int
    n_classes: int


# By name: how a machine is made anew from what `describe` said of it and the arrays of a file.
MACHINES: dict[str, Callable[[Setting, Description, Reader], Machine]] = {}


def tell_query(machine: Machine, verb: Callable[[QueryState, int], QueryState], n: int) -> None:
    """Let the query rule know something about n of its questions."""
    state = machine.states.now
    pack(state._replace(query=verb(state.query, n)), machine.states.numbers)


def clear_rooms(tree: Learner) -> None:
    """Clear the room for rows at hand, which would be written into files."""
    for state in nodes(tree):
        if isinstance(state, tuple):
            for name in rooms(state):
                getattr(state, name)[...] = 0


def widened(machine: Machine, rules: Rules, n_classes: int) -> Machine:
    """Return a machine for more classes with all that the old one's rules can hand on.

    The scaling is the same. Prototypes are handed on to more prototypes. A query rule goes on where
    it was if it is the same rule, its counts and its budget with it.
    """
    wider = machine.for_classes(rules, n_classes)
    both = zip(machine.states.now, wider.states.tree, machine.rules, rules, strict=True)
    handed_on = [carried(a, b) if one == other else b for a, b, one, other in both]
    wider.states.adopt(Learner(*handed_on))
    wider.settle()
    return wider


class LinearMachine:
    """Rules that keep weights of features, at width d."""

    reads_ahead = False

    def __init__(self, rules: Rules, d: int, dtype: DType, seed: int, n_classes: int = 2) -> None:
        self.rules, self.d, self.dtype = rules, d, dtype
        self.seed, self.n_classes = seed, n_classes
        scaling, update, query = rules
        width, many = d + scaling.EXTRA, n_classes > 2
        learner = Learner(
            scaling.begin(d, dtype),
            update.many(width, dtype, n_classes) if many else update.begin(width, dtype),
            query.many(width, n_classes) if many else query.begin(width),
        )
        self.states = States(learner)
        self.waits = scaling.HOLDS_BACK  # rows may be held back; False once they were studied

    def arrays(self) -> list[Array]:
        return self.states.arrays

    def describe(self) -> Description:
        return {"machine": "linear"}

    def companions(self) -> Tensors:
        return {}

    def snapshot(self) -> Snapshot:
        return self.states.snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        self.states.restore(snapshot)
        self.waits = self.rules.scaling.HOLDS_BACK

    def outweighs(self, rows: Rows) -> bool:
        return self.states.n_bytes > n_bytes(rows)

    def settle(self) -> None:
        clear_rooms(self.states.tree)

    def for_classes(self, rules: Rules, n_classes: int) -> "LinearMachine":
        return LinearMachine(rules, self.d, self.dtype, self.seed, n_classes)

    def piece(self, rows: Rows, start: int) -> tuple[LoopRows, int]:
        stop = min(shape(rows)[0], start + CHUNK)
        if self.waits:
            stop = min(stop, start + self.study(rows, start))
        return sealed(part(rows, start, stop)), stop

    def study(self, rows: Rows, start: int = 0) -> int:
        """Let the scaling study the first rows of a stream; return how many may come at once now.

        Many rows that come at once are studied before the first of them is presented. Fewer are
        held back until there are enough.
        """
        scaling, states = self.rules.scaling, self.states
        wait = scaling.waits_for(states.now.scaling)
        if wait is None:
            self.waits = False
            return CHUNK
        state, at_once = own_arrays(states.now.scaling), self.studied_at_once(rows, start)
        if wait <= 0:
            state = scaling.study_held(state)
        elif at_once:
            state = scaling.study(state, part(rows, start, start + at_once))
        else:
            return wait
        states.adopt(states.now._replace(scaling=state))
        self.waits = False
        return CHUNK

    def studied_at_once(self, rows: Rows, start: int = 0) -> int:
        """Return how many of these rows the scaling would study before it presents the first."""
        n = min(shape(rows)[0] - start, MOST_STUDIED)
        return n if self.waits and n >= LEAST_STUDIED and not self.states.now.scaling.n_rows else 0

    def run(self, rounds: Rounds) -> Moved:
        states = self.states
        return Moved(*compiled(run_pass, states.kinds)(states.tree, states.numbers, *rounds))

    def lesson(self, rows: Rows, labels: Codes, told: Matrix, *, fresh: bool) -> int:
        if self.waits and fresh:
            self.study(rows)
        return self.run(lesson_of(sealed(rows), labels, told, fresh=fresh)).status

    def margins(self, rows: Rows, *, exact: bool) -> Vector:
        found = self._folded_scores(rows)
        if found is not None:
            return found[:, 0]
        margins = np.empty(shape(rows)[0])
        glance = not exact or self.rules.update.HAS_SCALE  # its glances have the margin itself
        return written(self.states, run_margins, rows, margins, not glance)

    def scores(self, rows: Rows) -> Matrix:
        found = self._folded_scores(rows)
        if found is not None:
            return found
        return written(self.states, run_scores, rows, np.empty((shape(rows)[0], self.n_classes)))

    def _folded_scores(self, rows: Rows) -> Matrix | None:
        """Return products with all weights, if scaling and weights can be folded into one."""
        weights = product_weights(self.states.tree.update)
        if weights is None:
            return None
        with self.states.busy:
            folded = fold(self.states.now.scaling, weights)
        if folded is None:
            return None
        loop = compiled(run_folded, kinds_among(nodes((folded,))))
        scores = np.empty((shape(rows)[0], len(folded.weights)))
        for start in range(0, len(scores), CHUNK):
            piece = sealed(part(rows, start, min(len(scores), start + CHUNK)))
            if loop(folded, piece, scores[start : start + CHUNK]) != DONE:
                return np.full(scores.shape, np.nan)
        return scores


def written(
    states: States[Learner], loop: Kernel, rows: Rows, out: Matrix, *rest: object
) -> Matrix:
    """Let a loop write what it computes of every row, chunk by chunk; NaN if it cannot read one."""
    whole = compiled(loop, states.kinds)
    for start in range(0, len(out), CHUNK):
        piece = sealed(part(rows, start, min(len(out), start + CHUNK)))
        with states.busy:
            status = whole(states.tree, states.numbers, piece, out[start : start + CHUNK], *rest)
        if status != DONE:
            return np.full(out.shape, np.nan)
    return out


MACHINES["linear"] = lambda setting, described, reader: LinearMachine(*setting)
