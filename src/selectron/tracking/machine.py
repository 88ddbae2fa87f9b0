"""The machine of several learners at work: their states, the mixture, and the loops."""

from copy import deepcopy
from typing import Any

import numpy as np

from selectron.arrays import Array, Codes, DType, Matrix, Vector
from selectron.classifier.machine import CHUNK, MACHINES, Before, Setting, clear_rooms, written
from selectron.classifier.rows import TAME
from selectron.compiler.states import States, nodes
from selectron.experts import Mixture, made_mixture
from selectron.files import DamagedFile, Description, Reader, Tensors, fields
from selectron.loop import (
    DONE,
    UPDATED,
    Kernel,
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
from selectron.numeric.rows import Rows, as_dense, n_bytes, part, sealed, shape
from selectron.protocol import UpdateState
from selectron.spec import Rules, UpdateRule
from selectron.tracking.adapters import FrozenLearner, Member
from selectron.tracking.members import (
    Committee,
    Link,
    Outside,
    WeighedInside,
    begin_members,
    chain,
    vote,
)

MOST_MEMBERS = 1 << 8  # of a file: each is a state within the one before it
SHORT = 1024  # rows a call where it will stop at the next label


class MembersMachine:
    """Learners of one committee, weighed by a mixture."""

    reads_ahead = False

    def __init__(
        self,
        rules: Rules,
        mixture: Mixture,
        d: int,
        dtype: DType,
        seed: int,
        n_classes: int = 2,
        members: list[Member] | None = None,
    ) -> None:
        """Begin with rules of ours, or with `members` of other makes, which know two classes."""
        self.rules, self.d, self.dtype, self.seed, self.mixture = rules, d, dtype, seed, mixture
        self.n_classes = n_classes
        width = d + rules.scaling.EXTRA
        if members is None:
            assert isinstance(rules.update, Committee)
            ours = [rule for rule in rules.update.learners if isinstance(rule, UpdateRule)]
            inside: Link | Outside = chain([self._begun(rule, width) for rule in ours])
        else:
            inside = Outside(np.array(members, object), np.empty((1, d), dtype))
        update = begin_members(inside, mixture, n_classes)
        query = rules.query
        asking = query.begin(width) if n_classes == 2 else query.many(width, n_classes)
        self.states = States(Learner(rules.scaling.begin(d, dtype), update, asking))
        self.compiled = members is None

    def _begun(self, rule: UpdateRule, width: int) -> UpdateState:
        if self.n_classes == 2:
            return rule.begin(width, self.dtype)
        return rule.many(width, self.dtype, self.n_classes)

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._weigh_by(type(self.mixture).from_state(self.mixture.state()))

    @property
    def inside(self) -> bool:
        """Whether the mixture is part of the loop."""
        return isinstance(self.states.tree.update.mixture, WeighedInside)

    def _weigh_by(self, mixture: Mixture) -> None:
        """Go on with this mixture: the arrays of Learn-α are part of the state."""
        self.mixture = mixture
        tree, numbers = self.states.tree, self.states.numbers
        update = begin_members(tree.update.members, mixture, self.n_classes)
        self.states.adopt(tree._replace(update=update))
        self.states.numbers[:] = numbers

    def arrays(self) -> list[Array]:
        """List the arrays of the learners and of the query rule; the mixture has its own."""
        scaling, update, query = self.states.tree
        found = nodes((scaling, update.members, query))
        return [node for node in found if isinstance(node, np.ndarray)]

    def describe(self) -> Description:
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

    def snapshot(self) -> Before:
        copies = [_copied(array) for array in self.arrays()]
        return copies, self.states.numbers.copy(), self.mixture.state()

    def restore(self, snapshot: Before) -> None:
        arrays, numbers, mixture = snapshot
        with self.states.busy:
            for now, before in zip(self.arrays(), arrays, strict=True):
                now[...] = before
            self.states.numbers[:] = numbers
            self._weigh_by(type(self.mixture).from_state(mixture))

    def outweighs(self, rows: Rows) -> bool:
        if not self.compiled:
            return True  # copying learners of any make may cost anything
        return sum([a.nbytes for a in self.arrays()]) > n_bytes(rows)

    def settle(self) -> None:
        clear_rooms(self.states.tree)

    def for_classes(self, rules: Rules, n_classes: int) -> "MembersMachine":
        mixture = type(self.mixture).from_state(self.mixture.state())
        return MembersMachine(rules, mixture, self.d, self.dtype, self.seed, n_classes)

    def piece(self, rows: Rows, start: int) -> tuple[LoopRows, int]:
        stop = min(shape(rows)[0], start + (CHUNK if self.inside else SHORT))
        return sealed(part(rows, start, stop)), stop

    def _call(self, loop: Kernel, *args: object) -> Any:
        """Call a loop: learners of other makes are no states that could be compiled."""
        states = self.states
        whole = compiled(loop, states.kinds) if self.compiled else loop
        return whole(states.tree, states.numbers, *args)

    def run(self, rounds: Rounds) -> Moved:
        stops = rounds.pause or not self.inside
        moved = Moved(*self._call(run_pass, *rounds._replace(pause=stops)))
        if moved.status == UPDATED:
            self._reweigh()
            return moved._replace(status=UPDATED if rounds.pause else DONE)
        return moved

    def lesson(self, rows: Rows, labels: Codes, told: Matrix, *, fresh: bool) -> int:
        status = DONE
        for t in range(len(labels)):
            one = sealed(part(rows, t, t + 1)), labels[t : t + 1], told[t : t + 1]
            status = Moved(*self._call(run_pass, *lesson_of(*one, fresh=fresh))).status
            if status != DONE:
                break
            self._reweigh()
        return status

    def _reweigh(self) -> None:
        """Update a mixture that is not part of the loop."""
        if not self.inside:
            update = self.states.tree.update
            self.mixture.update(update.losses[0])
            update.weights[:] = self.mixture.weights

    def margins(self, rows: Rows, *, exact: bool) -> Vector:
        """Return the vote on every row; NaN if it cannot be read."""
        if not self.compiled:
            return self._votes(as_dense(rows))
        return written(self.states, run_margins, rows, np.empty(shape(rows)[0]), True)

    def _votes(self, X: Matrix) -> Vector:
        """Return the votes of learners of any make: all rows at once, which they do faster."""
        if not (np.abs(X) < TAME[X.dtype]).all():
            return np.full(len(X), np.nan)
        members = self.states.tree.update.members.members
        margins = np.column_stack([member.margins(X) for member in members])
        weights = self.mixture.weights
        return np.array([vote(weights, row) for row in margins])

    def scores(self, rows: Rows) -> Matrix:
        return written(self.states, run_scores, rows, np.empty((shape(rows)[0], self.n_classes)))


def _copied(array: Array) -> Array:
    """Return a copy; of learners of any make, a deep one, but for those that never change.

    A copy of a frozen learner would read a copy of the run's labels.
    """
    if array.dtype != object:
        return array.copy()
    members = [m if isinstance(m, FrozenLearner) else deepcopy(m) for m in array]
    return np.array(members, object)


def _from_file(setting: Setting, described: Description, reader: Reader) -> MembersMachine:
    fields(described, "the machine", ("machine", "mixture"))
    mixture = made_mixture(described["mixture"], reader.within("mixture.").tensors)
    scaling, update, _ = setting.rules
    fits = scaling.WRITTEN_OUT and not scaling.HOLDS_BACK
    if not (isinstance(update, Committee) and update.all_rules and fits):
        raise DamagedFile(f"{update!r:.60} is no committee of rules on rows that are written out")
    if not mixture.n == len(update.learners) <= MOST_MEMBERS:
        raise DamagedFile(f"{mixture.n} weights for {len(update.learners)} learners")
    return MembersMachine(setting.rules, mixture, *setting[1:])


MACHINES["members"] = _from_file
