"""The machine of several learners at work: their states, the mixture, and the loops."""

from collections.abc import Callable
from copy import deepcopy
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Codes, Matrix, Vector
from selectron.classifier.machine import CHUNK, MACHINES, Moved, Setting
from selectron.classifier.rows import TAME
from selectron.compiler.states import arrays_of, numbers_of, own_arrays, unpack
from selectron.compiler.verbs import kernel
from selectron.experts import Mixture
from selectron.experts.store import made_mixture
from selectron.files import Reader, Tensors
from selectron.loop import (
    DONE,
    UPDATED,
    Learner,
    Log,
    rules_digest,
    run_lesson,
    run_margins,
    run_pass,
)
from selectron.numeric.rows import Rows, as_dense, n_bytes, part, sealed, shape
from selectron.spec import Rules
from selectron.tracking.adapters import FrozenLearner, Member
from selectron.tracking.members import (
    Committee,
    Outside,
    WeighedInside,
    begin_members,
    chain,
    vote,
)

SHORT = 1024  # rows a call where it will stop at the next label


class MembersMachine:
    """Learners of one committee, weighed by a mixture; two classes."""

    reads_ahead = False
    n_classes = 2

    def __init__(
        self,
        rules: Rules,
        mixture: Mixture,
        d: int,
        dtype: np.dtype[Any],
        seed: int,
        members: list[Member] | None = None,
    ) -> None:
        """Begin with rules of ours, or with `members` of other makes."""
        self.rules, self.d, self.dtype, self.seed, self.mixture = rules, d, dtype, seed, mixture
        self.busy = RLock()
        if members is None:
            assert isinstance(rules.update, Committee)
            inside: Any = chain([rule.begin(d, dtype) for rule in rules.update.learners])
        else:
            inside = Outside(np.array(members, object), np.empty((1, d), dtype))
        update = begin_members(inside, mixture)
        self.learner = Learner(rules.scaling.begin(d, dtype), update, rules.query.begin(d))
        self.numbers = np.array(numbers_of(self.learner))
        self.compiled = members is None
        self.bodies = rules_digest(self.learner) if self.compiled else ""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "busy"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.busy = RLock()
        if self.compiled:
            self.learner = own_arrays(self.learner)
        self._weigh_by(type(self.mixture).from_state(self.mixture.state()))

    @property
    def state(self) -> Learner:
        state: Learner = unpack(self.learner, self.numbers)
        return state

    @property
    def inside(self) -> bool:
        """Whether the mixture is part of the loop."""
        return isinstance(self.learner.update.mixture, WeighedInside)

    def _weigh_by(self, mixture: Mixture) -> None:
        """Go on with this mixture: the arrays of Learn-α are part of the state."""
        self.mixture = mixture
        state = begin_members(self.learner.update.members, mixture)
        self.learner = self.learner._replace(update=state)

    def arrays(self) -> list[NDArray[Any]]:
        """List the arrays of the learners and of the query rule; the mixture has its own."""
        states = self.learner.scaling, self.learner.update.members, self.learner.query
        return [array for state in states for array in arrays_of(state)]

    def describe(self) -> dict[str, Any]:
        if not self.compiled:
            raise TypeError(
                "only trackers whose learners are all rules of selectron can be saved: the file "
                "keeps numbers, no code of others; pickle the tracker, or save its learners your "
                "own way"
            )
        return {"machine": "members", "mixture": type(self.mixture).__name__}

    def companions(self) -> Tensors:
        """Return the arrays of the mixture."""
        return {f"mixture.{k}": np.asarray(v) for k, v in self.mixture.state().items()}

    def snapshot(self) -> Any:
        copies = [_copied(array) for array in self.arrays()]
        return copies, self.numbers.copy(), self.mixture.state()

    def restore(self, snapshot: Any) -> None:
        arrays, numbers, mixture = snapshot
        with self.busy:
            for now, before in zip(self.arrays(), arrays, strict=True):
                now[...] = before
            self.numbers[:] = numbers
            self._weigh_by(type(self.mixture).from_state(mixture))

    def outweighs(self, rows: Rows) -> bool:
        if not self.compiled:
            return True  # copying learners of any make may cost anything
        return sum(int(a.nbytes) for a in self.arrays()) > n_bytes(rows)

    def settle(self) -> None:
        pass  # nothing is under way between calls

    def for_classes(self, rules: Rules, n_classes: int) -> "MembersMachine":
        raise ValueError(f"a tracker knows two classes and there are {n_classes}")

    def piece(self, rows: Rows, start: int) -> tuple[Any, int]:
        stop = min(shape(rows)[0], start + (CHUNK if self.inside else SHORT))
        return sealed(part(rows, start, stop)), stop

    def _loop(self, loop: Callable[..., Any]) -> Callable[..., Any]:
        return kernel(loop, self.bodies) if self.compiled else loop

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
        stops = pause or not self.inside
        moved, status, n_asked = self._loop(run_pass)(*state, arrived, stops, teach)
        if status == UPDATED:
            self._reweigh()
            status = UPDATED if pause else DONE
        return Moved(moved, status, n_asked)

    def lesson(self, rows: Rows, labels: Codes, told: Matrix, *, fresh: bool) -> int:
        status = DONE
        for t in range(len(labels)):
            one = self.learner, self.numbers, sealed(part(rows, t, t + 1)), labels[t : t + 1]
            status = int(self._loop(run_lesson)(*one, told[t : t + 1], fresh))
            if status != DONE:
                break
            self._reweigh()
        return status

    def _reweigh(self) -> None:
        """Update a mixture that is not part of the loop."""
        if not self.inside:
            self.mixture.update(self.learner.update.losses[0])
            self.learner.update.weights[:] = self.mixture.weights

    def margins(self, rows: Rows, *, exact: bool) -> Vector:
        """Return the vote on every row; NaN if it cannot be read."""
        if not self.compiled:
            return self._votes(as_dense(rows))
        votes, loop = np.empty(shape(rows)[0]), kernel(run_margins, self.bodies)
        for start in range(0, len(votes), CHUNK):
            stop = min(len(votes), start + CHUNK)
            state = self.learner, self.numbers, sealed(part(rows, start, stop))
            with self.busy:
                status = loop(*state, votes[start:stop], True)
            if status != DONE:
                return np.full(len(votes), np.nan)
        return votes

    def _votes(self, X: Matrix) -> Vector:
        """Return the votes of learners of any make: all rows at once, which they do faster."""
        if not (np.abs(X) < TAME[X.dtype]).all():
            return np.full(len(X), np.nan)
        members = self.learner.update.members.members
        margins = np.column_stack([member.margins(X) for member in members])
        weights = self.mixture.weights
        return np.array([vote(weights, row) for row in margins])

    def scores(self, rows: Rows) -> Matrix:
        raise ValueError("a tracker knows two classes: it has margins, and no scores")


def _copied(array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy; of learners of any make, a deep one, but for those that never change.

    A copy of a frozen learner would read a copy of the run's labels.
    """
    if array.dtype != object:
        return array.copy()
    members = [m if isinstance(m, FrozenLearner) else deepcopy(m) for m in array]
    return np.array(members, object)


def _from_file(setting: Setting, described: dict[str, Any], reader: Reader) -> MembersMachine:
    mixture = made_mixture(described["mixture"], reader.within("mixture.").tensors)
    return MembersMachine(setting.rules, mixture, *setting[1:4])


MACHINES["members"] = _from_file
