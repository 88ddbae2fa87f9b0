"""What a learner's machine is, and the machine of rules on rows as they are.

A machine holds the states of three rules and calls the compiled loops that move them. It knows
nothing of labels' names, rounds, tickets or threads: those are the run's (`run.py`). Kernels
(`kernels/machine.py`) and committees of learners of any make (`tracking/machine.py`) have machines
of their own.
"""

from collections.abc import Callable
from threading import RLock
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Codes, Matrix, Vector
from selectron.compiler.states import arrays_of, carried, numbers_of, own_arrays, pack, unpack
from selectron.compiler.verbs import Verb, kernel
from selectron.files import Reader, Tensors
from selectron.loop import (
    DONE,
    Learner,
    Log,
    rules_digest,
    run_lesson,
    run_margins,
    run_pass,
    run_scores,
)
from selectron.numeric.rows import Rows, n_bytes, part, sealed, shape
from selectron.spec import Rules

CHUNK = 1 << 16  # rows a kernel call: coins stay in the cache, and Ctrl-C and other threads wait


class Moved(NamedTuple):
    """How far a stretch of rounds came: rows done, why it stopped, labels asked."""

    rows: int
    status: int
    n_asked: int


class Snapshot(NamedTuple):
    """What a refused batch must not have changed."""

    arrays: list[Any]
    numbers: Vector


class Machine(Protocol):
    """The states of three rules at work, and the loops that move them."""

    rules: Rules
    d: int
    dtype: np.dtype[Any]
    seed: int
    n_classes: int
    learner: Learner  # the arrays of the states, and their numbers at the start
    numbers: Vector  # the numbers as they are now
    busy: RLock  # held while states or blocks of rows change other than within one loop
    reads_ahead: bool  # rows are read before the loop can check their columns

    @property
    def state(self) -> Learner:
        """The three states as they are now."""

    def piece(self, rows: Rows, start: int) -> tuple[Any, int]:
        """Return the rows that a loop shall see at once from `start` on, and where they end."""

    def run(
        self,
        piece: Any,
        labels: Codes,
        coins: Vector,
        log: Log,
        arrived: int,
        pause: bool,
        teach: bool,
    ) -> Moved:
        """Play the rounds of a piece, until its end or until they have to stop."""

    def lesson(self, rows: Rows, labels: Codes, told: Matrix, *, fresh: bool) -> int:
        """Teach labels that come outside a pass; return the status."""

    def margins(self, rows: Rows, *, exact: bool) -> Vector:
        """Return the margin of every row, or a number of its sign; NaN if it cannot be read."""

    def scores(self, rows: Rows) -> Matrix:
        """Return what each of many classes scores on every row; NaN if it cannot be read."""

    def arrays(self) -> list[NDArray[Any]]:
        """List the arrays that outlast a call, in the order of a file."""

    def describe(self) -> dict[str, Any]:
        """Return what a file has to say of this machine beside rules, width and arrays."""

    def companions(self) -> Tensors:
        """Return arrays beside those of the states, for a file."""

    def snapshot(self) -> Any:
        """Copy what a batch can change."""

    def restore(self, snapshot: Any) -> None:
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
    dtype: np.dtype[Any]
    seed: int
    n_classes: int


# By name: how a machine is made anew from what `describe` said of it and the arrays of a file.
MACHINES: dict[str, Callable[[Setting, dict[str, Any], Reader], Machine]] = {}


def tell_query(machine: Machine, verb: Verb, n: int) -> None:
    """Let the query rule know something about n of its questions."""
    state = machine.state
    pack(state._replace(query=verb(state.query, n)), machine.numbers)


def adopt(machine: Machine, learner: Learner) -> None:
    """Let the machine go on with these states."""
    machine.learner = learner
    machine.numbers = np.array(numbers_of(learner))
    machine.settle()


def widened(machine: Machine, rules: Rules, n_classes: int) -> Machine:
    """Return a machine for more classes with all that the old one's rules can hand on.

    The scaling is the same. Prototypes are handed on to more prototypes. A query rule goes on where
    it was if it is the same rule, its counts and its budget with it.
    """
    wider = machine.for_classes(rules, n_classes)
    both = zip(machine.state, wider.learner, machine.rules, rules, strict=True)
    adopt(wider, Learner(*(carried(a, b) if one == other else b for a, b, one, other in both)))
    return wider


class LinearMachine:
    """Rules that keep weights of features, at width d."""

    reads_ahead = False

    def __init__(
        self, rules: Rules, d: int, dtype: np.dtype[Any], seed: int, n_classes: int = 2
    ) -> None:
        self.rules, self.d, self.dtype = rules, d, dtype
        self.seed, self.n_classes = seed, n_classes
        self.busy = RLock()
        scaling, update, query = rules
        width, many = scaling.width(d), n_classes > 2
        self.learner = Learner(
            scaling.begin(d, dtype),
            update.many(width, dtype, n_classes) if many else update.begin(width, dtype),
            query.many(width, n_classes) if many else query.begin(width),
        )
        self.numbers = np.array(numbers_of(self.learner))
        self.bodies = rules_digest(self.learner)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "busy"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take arrays over from a pickle; those mapped from a file are copied, to be changed."""
        self.__dict__.update(state)
        self.busy = RLock()
        self.learner = own_arrays(self.learner)

    @property
    def state(self) -> Learner:
        state: Learner = unpack(self.learner, self.numbers)
        return state

    def arrays(self) -> list[NDArray[Any]]:
        return arrays_of(self.learner)

    def describe(self) -> dict[str, Any]:
        return {"machine": "linear"}

    def companions(self) -> Tensors:
        return {}

    def snapshot(self) -> Snapshot:
        return Snapshot([a.copy() for a in self.arrays()], self.numbers.copy())

    def restore(self, snapshot: Snapshot) -> None:
        with self.busy:
            for now, before in zip(self.arrays(), snapshot.arrays, strict=True):
                now[...] = before
            self.numbers[:] = snapshot.numbers

    def outweighs(self, rows: Rows) -> bool:
        return sum(int(a.nbytes) for a in self.arrays()) > n_bytes(rows)

    def settle(self) -> None:
        pass  # nothing is under way between calls

    def for_classes(self, rules: Rules, n_classes: int) -> "LinearMachine":
        return LinearMachine(rules, self.d, self.dtype, self.seed, n_classes)

    def piece(self, rows: Rows, start: int) -> tuple[Any, int]:
        stop = min(shape(rows)[0], start + CHUNK)
        return sealed(part(rows, start, stop)), stop

    def run(
        self,
        piece: Any,
        labels: Codes,
        coins: Vector,
        log: Log,
        arrived: int,
        pause: bool,
        teach: bool,
    ) -> Moved:
        state = self.learner, self.numbers, piece, labels, coins, log
        return Moved(*kernel(run_pass, self.bodies)(*state, arrived, pause, teach))

    def lesson(self, rows: Rows, labels: Codes, told: Matrix, *, fresh: bool) -> int:
        state = self.learner, self.numbers, sealed(rows), labels, told
        return int(kernel(run_lesson, self.bodies)(*state, fresh))

    def margins(self, rows: Rows, *, exact: bool) -> Vector:
        margins, loop = np.empty(shape(rows)[0]), kernel(run_margins, self.bodies)
        for start in range(0, len(margins), CHUNK):
            piece, stop = self.piece(rows, start)
            with self.busy:
                status = loop(self.learner, self.numbers, piece, margins[start:stop], exact)
            if status != DONE:
                return np.full(len(margins), np.nan)
        return margins

    def scores(self, rows: Rows) -> Matrix:
        scores, loop = np.empty((shape(rows)[0], self.n_classes)), kernel(run_scores, self.bodies)
        for start in range(0, len(scores), CHUNK):
            piece, stop = self.piece(rows, start)
            with self.busy:
                status = loop(self.learner, self.numbers, piece, scores[start:stop])
            if status != DONE:
                return np.full(scores.shape, np.nan)
        return scores


MACHINES["linear"] = lambda setting, described, reader: LinearMachine(*setting)
