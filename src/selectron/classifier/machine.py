"""A learner at work: the states of its rules, and the compiled loops that move them."""

from typing import Any, NamedTuple

import numpy as np

from selectron.arrays import Codes, Matrix, Vector
from selectron.classifier.inputs import n_bytes, part, sealed, shape
from selectron.classifier.interrupts import heard_afterwards
from selectron.classifier.ledger import Ledger
from selectron.classifier.rules import Rules, Wishes, choose_rules, has_many_form
from selectron.compiler.numbers import numbers_of, pack, unpack
from selectron.forecasts import MANY, TWO
from selectron.loop import (
    DONE,
    LABEL_NEEDED,
    LABEL_UNKNOWN,
    Learner,
    Log,
    compiled_lesson,
    compiled_margins,
    compiled_pass,
    compiled_scores,
    rules_digest,
)
from selectron.numeric.coins import toss
from selectron.numeric.rows import Rows
from selectron.protocol import expire, mark_overdue

ASKED, PASSED = -1.0, 2.0  # coins below and above all odds
CHUNK = 1 << 16  # rows a kernel call: coins stay in the cache, and Ctrl-C is heard


class Snapshot(NamedTuple):
    """What a refused batch must not have changed."""

    arrays: list[Any]
    numbers: Vector
    counts: tuple[int, int, bool]
    ledger: dict[str, Any] | None


class Stop(NamedTuple):
    """Where a pass stopped, and why."""

    position: int
    status: int


class Machine:
    """The states of three rules at width d, and coins from a seed."""

    n_classes = 2
    next_coin: float | None = None  # in the place of the seed's: the next row has been decided on
    drawn_at = 0.0  # the odds of the label that is waited for
    ledger: Ledger | None = None  # kept if the error is to be estimated

    def __init__(
        self,
        rules: Rules,
        d: int,
        dtype: np.dtype[Any],
        seed: int,
        n_classes: int = 2,
        ledger: Ledger | None = None,
    ) -> None:
        width = rules.scaling.width(d)
        self.rules = rules
        self.d = d
        self.dtype = dtype
        self.seed = seed
        self.ledger = ledger
        self.n_seen = 0
        self.waits = False  # for the label of a row that the scaling has taken in already
        self.n_asked = 0
        self.n_classes = n_classes
        self.learner = Learner(
            rules.scaling.begin(d, dtype),
            rules.update.many(width, dtype, n_classes)
            if self.many
            else rules.update.begin(width, dtype),
            rules.query.many(width, n_classes) if self.many else rules.query.begin(width),
        )
        self.numbers = np.array(numbers_of(self.learner))
        self.bodies = rules_digest(self.learner)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take arrays over from a pickle; those mapped from a file are copied, to be changed."""
        self.__dict__.update(state)
        self.learner = _writable(self.learner, {})

    @property
    def many(self) -> bool:
        return self.n_classes > 2

    @property
    def code_type(self) -> Any:
        """The type of labels in the loop: a sign, or the number of a class."""
        return np.int32 if self.many else np.int8

    def log(self, n: int, *, exact: bool = True) -> Log:
        """Make room for n rounds to be written down."""
        return Log.of(n, MANY if self.many else TWO, exact=exact)

    @property
    def state(self) -> Learner:
        """The three states as they are now."""
        state: Learner = unpack(self.learner, self.numbers)
        return state

    def arrays(self) -> list[Any]:
        return _arrays(self.learner)

    def snapshot(self) -> Snapshot:
        counts = self.n_seen, self.n_asked, self.waits
        entries = None if self.ledger is None else self.ledger.state()
        return Snapshot([a.copy() for a in self.arrays()], self.numbers.copy(), counts, entries)

    def restore(self, snapshot: Snapshot) -> None:
        for now, before in zip(self.arrays(), snapshot.arrays, strict=True):
            now[...] = before
        self.numbers[:] = snapshot.numbers
        self.n_seen, self.n_asked, self.waits = snapshot.counts
        if self.ledger is not None and snapshot.ledger is not None:
            self.ledger.restore(snapshot.ledger)

    def outweighs(self, rows: Rows) -> bool:
        """Tell whether a snapshot would cost more than looking through the rows."""
        return sum(int(a.nbytes) for a in self.arrays()) > n_bytes(rows)

    def run(
        self,
        rows: Rows,
        labels: Codes,
        *,
        log: Log,
        first: int = 0,
        pause: bool = False,
        teach: bool = True,
    ) -> Stop:
        """Run the pass from row `first` on, until its end or until it has to stop."""
        n, _ = shape(rows)
        kernel = compiled_pass(self.bodies)
        ledger = self.ledger
        if ledger is not None:
            ledger.skip_to(self.n_seen)
        origin = self.n_seen - first
        absorbed = first + self.waits
        position, status = first, DONE
        room = np.empty(min(n, CHUNK))
        with heard_afterwards() as heard:  # or what a kernel has learnt would not be counted
            while position < n and status == DONE:
                heard.listen()
                start = position
                stretch, stop = self._piece(rows, start)
                if ledger is not None:
                    stop = min(stop, start + ledger.stretch())
                tossed, joined = self._toss(origin + start, room[: stop - start])
                piece = self._page(log, start, stop)
                told = labels[start:stop]
                state = self.learner, self.numbers, stretch, told, tossed, piece
                moved, status, n_asked = kernel(*state, absorbed - start, pause, teach)
                position = start + moved
                self.n_seen = origin + position
                self.n_asked += int(n_asked)
                self.waits = status in (LABEL_NEEDED, LABEL_UNKNOWN)
                if ledger is not None:
                    known = labels[start:position] if teach else None
                    ledger.enter(piece.part(0, moved), known, joined_at=joined)
                    if position < stop:
                        self.drawn_at = float(piece.probabilities[moved])
                        ledger.wait()
                    log.asked[start:position] = piece.asked[:moved][: len(log.asked)]
        return Stop(position, status)

    def _toss(self, round_: int, room: Vector) -> tuple[Vector, float | None]:
        """Return the coins of these rounds, and the odds at which the first was drawn if it was."""
        tossed = toss(self.seed, round_, room)
        if self.ledger is not None and self.ledger.met_at is not None:
            tossed[:] = PASSED
        drawn_at = None
        if self.next_coin is not None:
            drawn_at = self.drawn_at
            tossed[0], self.next_coin = self.next_coin, None
        return tossed, drawn_at

    def _page(self, log: Log, start: int, stop: int) -> Log:
        """Return where these rounds are written down: a ledger wants to see them in any case."""
        if self.ledger is None or log.kept:
            return log.part(start, stop)
        return self.log(stop - start, exact=False)

    def _piece(self, rows: Rows, start: int) -> tuple[Any, int]:
        """Return the rows that a kernel shall see at once from `start` on, and where they end."""
        stop = min(shape(rows)[0], start + CHUNK)
        return sealed(part(rows, start, stop)), stop

    def settle(self) -> None:
        """Be ready to be written down; here nothing is under way between calls."""

    def rules_for(self, wishes: Wishes, n_classes: int) -> Rules:
        """Return the rules for more than two classes, or refuse."""
        if not has_many_form(wishes.update):
            wishes.update.many(self.d, self.dtype, n_classes)
        scaling = self.rules.scaling
        return choose_rules(scaling, *wishes, fit_intercept=False, d=self.d, n_classes=n_classes)

    def for_classes(self, rules: Rules, n_classes: int) -> "Machine":
        """Return a machine for as many classes that has learnt nothing yet."""
        return Machine(rules, self.d, self.dtype, self.seed, n_classes, self.ledger)

    def give_up(self, n: int) -> None:
        """Tell the query rule that n questions will never be answered."""
        state = self.state
        pack(state._replace(query=expire(state.query, n)), self.numbers)

    def mark_overdue(self, n: int) -> None:
        """Tell the query rule how many questions are overdue."""
        state = self.state
        pack(state._replace(query=mark_overdue(state.query, n)), self.numbers)

    def lesson(self, rows: Rows, labels: Codes, asked_with: Matrix, *, fresh: bool) -> int:
        """Learn given labels; return the status."""
        kernel = compiled_lesson(self.bodies)
        return int(kernel(self.learner, self.numbers, sealed(rows), labels, asked_with, fresh))

    def play_again(self, rows: Rows, labels: Codes) -> int:
        """Play the round of an answer that a query rule did not ask for itself; return the status.

        The scaling has taken the row in, and round and question are counted already.
        """
        counts, ledger = (self.n_seen, self.n_asked), self.ledger
        self.next_coin, self.waits, self.ledger = ASKED, True, None
        try:
            return self.run(rows, labels, log=Log.of(0)).status
        finally:
            self.ledger = ledger
            self.n_seen, self.n_asked = counts

    def margins(self, rows: Rows, *, exact: bool) -> Vector:
        """Return the margin of every row: exact, or just its sign; NaN if they cannot be read."""
        margins = np.empty(shape(rows)[0])
        kernel = compiled_margins(self.bodies)
        if kernel(self.learner, self.numbers, sealed(rows), margins, exact) != DONE:
            margins[:] = np.nan
        return margins

    def scores(self, rows: Rows) -> Matrix:
        """Return what each of many classes scores on every row; NaN if they cannot be read."""
        scores = np.empty((shape(rows)[0], self.n_classes))
        kernel = compiled_scores(self.bodies)
        if kernel(self.learner, self.numbers, sealed(rows), scores) != DONE:
            scores[:] = np.nan
        return scores

    def sides(self, rows: Rows) -> Vector:
        """Return what predictions hang on: the sign of a number, or the number of a class."""
        if self.many:
            best: Vector = self.scores(rows).argmax(axis=1).astype(float)
            return best
        return self.margins(rows, exact=False)


def _writable(state: Any, copies: dict[int, Any]) -> Any:
    """Return the state with arrays of its own; one that has two names keeps both."""
    fields = []
    for field in state:
        if isinstance(field, tuple):
            fields.append(_writable(field, copies))
        elif isinstance(field, np.ndarray):
            fields.append(copies.setdefault(id(field), np.array(field)))
        else:
            fields.append(field)
    return type(state)(*fields)


def _arrays(state: Any) -> list[Any]:
    listed: list[Any] = []
    for field in state:
        if isinstance(field, tuple):
            listed.extend(_arrays(field))
        elif isinstance(field, np.ndarray):
            listed.append(field)
    return listed
