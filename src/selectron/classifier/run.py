"""One learner on one stream.

A `Run` has a machine, which moves the states of the rules, the labels, the questions that wait for
an answer, the ledger of the error, the one count of rounds, and the one lock. Whatever a learner
does goes through it: passes over labelled rows, questions and answers apart in time, classes that
join. A batch is learnt whole or not at all.
"""

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from copy import copy, deepcopy
from logging import getLogger
from threading import RLock, current_thread, main_thread
from time import sleep
from typing import Any, NamedTuple, TypeVar

import numpy as np

from selectron.arrays import Array, Codes, Flags, Given, Indices, Label, Matrix, Table, Vector
from selectron.classifier.class_weight import set_weights
from selectron.classifier.labels import Labels, plain, read_labels
from selectron.classifier.ledger import Ledger, levels_of, mistaken
from selectron.classifier.machine import CHUNK, Before, LinearMachine, Machine, tell_query, widened
from selectron.classifier.memory import Memory
from selectron.classifier.pool import FIRST, Choice, Pool
from selectron.classifier.rows import Stop, as_given, harmless, refusal, tame, vet
from selectron.classifier.rules import Wishes, has_many_form, rules_for_classes
from selectron.classifier.tickets import Question, Tickets, Waiting
from selectron.compiler.states import own_arrays, pack
from selectron.loop import (
    DONE,
    LABEL_NEEDED,
    LABEL_UNKNOWN,
    NOT_FINITE,
    NOT_GIVEN,
    NOTHING_KEPT,
    NOTHING_TOLD,
    UNKNOWN,
    UNSOUND,
    UPDATED,
    Log,
    Rounds,
    lesson_of,
)
from selectron.numeric.coins import toss
from selectron.numeric.elementary import exponential
from selectron.numeric.rows import Rows, outside, part, row, sealed, shape, taken
from selectron.protocol import MANY, TWO, chances, expire, mark_overdue, present, relabel
from selectron.queries.budget import close_unpaid
from selectron.queries.floor import set_floors
from selectron.scalings import Intercept, Raw
from selectron.updates.weighted import Weighted

LOGGER = getLogger(__name__)
Copied = TypeVar("Copied")
Answers = list[tuple[int, Label]]  # tickets and their labels
ASKED, PASSED = -1.0, 2.0  # coins below and above all odds
# The opening of a stream asks about rows that are certain up to so many deviations. A mistake
# widens the limit, a right answer narrows it, and it ends after a share of the rows.
OPENING_LIMIT, OPENING_STEP, OPENING_RHO, OPENING_SHARE = 0.5, 0.7, 0.45, 0.2
NOBODY_KNOWS = object()  # an answer in the opening


class Ask(NamedTuple):
    """Predictions, and which of the labels are worth asking for: an entry a row.

    `probabilities` are the odds of asking, not the chances of a class. `tickets` number the
    questions, -1 where none is asked.
    """

    labels: Array
    margins: Vector
    probabilities: Vector
    asked: Flags
    tickets: Indices

    def to_dict(self) -> dict[str, list[object]]:
        """Return all by name as lists, ready for JSON."""
        return {name: value.tolist() for name, value in self._asdict().items()}


class AskOne(NamedTuple):
    """The same of one row."""

    labels: Label
    margins: float  # of several labels a row, an array
    probabilities: float
    asked: bool
    tickets: int

    def to_dict(self) -> dict[str, object]:
        """Return all by name, ready for JSON."""
        named = self._asdict()
        return {name: v.tolist() if hasattr(v, "tolist") else v for name, v in named.items()}


class Counts(NamedTuple):
    """The counts of a run, and the entries of its ledger, which a refused batch leaves as is."""

    rounds: int
    n_asked: int
    arrived: bool
    entries: dict[str, Array] | None


class Checkpoint(NamedTuple):
    """What refused answers, or a refused batch of unknown classes, must not have changed."""

    machine: Machine
    snapshot: Before
    counts: Counts
    labels: Labels
    memory: Memory
    tickets: Tickets
    pool: Pool | None


def copied_run(run: Copied, memo: dict[int, Any]) -> Copied:
    """Return a deep copy of a run; what refers to the run within it refers to the copy."""
    other = copy(run)
    memo[id(run)] = other
    own = {name: value for name, value in run.__dict__.items() if name != "lock"}
    other.__dict__.update(deepcopy(own, memo))
    return other


class Run:
    """What a fit begins and a partial_fit goes on with."""

    def __init__(
        self,
        machine: Machine,
        labels: Labels,
        wishes: Wishes | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        self.machine = machine
        self.wishes = wishes or Wishes()
        self.ledger = ledger
        self._name(labels)
        self.tickets = Tickets()
        self.memory = Memory()
        self.pool: Pool | None = None  # the rows at hand, if `choose` was called
        self.rounds = 0
        self.n_asked = 0
        self.arrived = False  # whether the next row has arrived and waits for its label
        self.next_coin: float | None = None  # instead of the seed's, if its question was asked
        self.next_odds = 0.0  # of that question
        self.lock = RLock()

    def __deepcopy__(self, memo: dict[int, Any]) -> "Run":
        """Copy all there is at one moment, whoever learns."""
        with self.lock:
            return copied_run(self, memo)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "lock"}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self.lock = RLock()

    def _name(self, labels: Labels) -> None:
        """Go on with these labels."""
        self.labels = labels
        if isinstance(self.machine.rules.update, Weighted):
            set_weights(self.machine, labels)
        if self.ledger is not None:
            self.ledger.chooses = len(labels.classes) > 1

    # --- what a run knows of itself

    @property
    def machines(self) -> list[Machine]:
        return [self.machine]

    @property
    def n_updates(self) -> int:
        """How often the hypothesis changed."""
        return sum(int(machine.states.now.update.n_updates) for machine in self.machines)

    @property
    def many(self) -> bool:
        return self.machine.n_classes > 2

    @property
    def code_type(self) -> type[np.signedinteger]:
        """The type of labels in the loop: a sign, or the number of a class."""
        return np.int32 if self.many else np.int8

    def log(self, n: int, *, exact: bool = True, details: int = 0) -> Log:
        """Make room for n rounds to be written down."""
        return Log.of(n, MANY if self.many else TWO, exact=exact, details=details)

    def refusal(self, rows: Rows, stop: Stop) -> ValueError:
        """Say what is wrong with the row at which a pass stopped."""
        error = refusal(rows, stop, self.machine.rules.update.label, self.machine.dtype)
        LOGGER.warning("a batch is refused in round %d: %s", self.rounds, error)
        return error

    def vet(self, rows: Rows) -> None:
        """Refuse rows that cannot be learnt before a single label is paid for."""
        vet(rows, self.machine.rules.update.label, self.machine.dtype)

    # --- rounds

    def play(
        self,
        rows: Rows,
        labels: Codes,
        log: Log = NOTHING_KEPT,
        *,
        first: int = 0,
        pause: bool = False,
        teach: bool = True,
    ) -> Stop:
        """Play rounds from row `first` on, until their end or until they have to stop."""
        n, machine, ledger = len(labels), self.machine, self.ledger
        if machine.reads_ahead and outside(rows) is not None:
            return Stop(first, UNSOUND)
        if ledger is not None:
            ledger.skip_to(self.rounds)
        origin = self.rounds - first
        arrived = first + self.arrived
        position, status = first, DONE
        room = np.empty(min(n, CHUNK))
        with delayed_interrupts() as interrupts:  # a round that is learnt is also counted
            while position < n and status == DONE:
                if interrupts.waiting is not None:
                    interrupts.deliver()
                start = position
                with machine.states.busy:
                    piece, stop = machine.piece(rows, start)
                    if ledger is not None:
                        self.shape_odds()
                        stop = min(stop, start + ledger.stretch())
                    coins, joined_at = self._coins(origin + start, room[: stop - start])
                    page = self._page(log, start, stop)
                    told = labels[start:stop]
                    rounds = Rounds(piece, told, coins, page, arrived - start, pause, teach)
                    moved, status, n_asked = machine.run(rounds)
                position = start + moved
                self.rounds = origin + position
                self.n_asked += int(n_asked)
                self.arrived = status in (LABEL_NEEDED, LABEL_UNKNOWN)
                if ledger is not None:
                    known = labels[start:position] if teach else None
                    ledger.enter(page.part(0, moved), known, joined_at=joined_at)
                    if position < stop:
                        self.next_odds = float(page.probabilities[moved])
                        ledger.wait()
                    log.asked[start:position] = page.asked[:moved][: len(log.asked)]
        return Stop(position, status)

    def _coins(self, round_: int, room: Vector) -> tuple[Vector, float | None]:
        """Return the coins of these rounds, and the odds of the first if it was asked before."""
        coins, joined_at = toss(self.machine.seed, round_, room), None
        if self.ledger is not None and self.ledger.met_at is not None:
            coins[:] = PASSED
        if self.next_coin is not None:
            joined_at = self.next_odds
            coins[0], self.next_coin = self.next_coin, None
        return coins, joined_at

    def _page(self, log: Log, start: int, stop: int) -> Log:
        """Return where these rounds are written down: a ledger wants to see them in any case."""
        if log is NOTHING_KEPT and self.ledger is None:
            return log
        if self.ledger is None or log.kept:
            return log.part(start, stop)
        return self.log(stop - start, exact=self.ledger.wants_exact)

    def shape_odds(self) -> None:
        """Let the query rule know the floors that a goal wants for the next round."""
        ledger = self.ledger
        if ledger is not None and ledger.certifying is not None and ledger.met_at is None:
            certifying = ledger.certifying
            certifying.look(ledger.rounds)
            set_floors(self.machine.states.tree.query, certifying.edges, certifying.floors)

    # --- passes over labelled rows

    def teach(self, rows: Rows, y: Given) -> None:
        """Pass over rows with their labels in an array, or with an oracle to ask."""
        before = self.rounds
        try:
            if callable(y):
                self.vet(rows)
                oracle = _oracle(y)
                for some, places in self.opened(rows, lambda t, _: oracle(t)):
                    self._consult(some, oracle, places)
            elif not self.labels.complete:
                self.vet(rows)
                with self._undone_if_refused():
                    for some, places in self.opened(rows, lambda t, _: y[t]):
                        self._consult(some, y.__getitem__, places)
            elif self.wishes.query is None and self.opens(rows):
                self.vet(rows)
                with self._undone_if_refused():
                    for some, places in self.opened(rows, lambda t, _: y[t]):
                        self._learn_given(some, y[places], places)
            else:
                self._learn_given(rows, y)
        finally:
            if self.rounds != before:
                self.tickets.just_asked = None

    def _learn_given(self, rows: Rows, y: Array, places: Indices | None = None) -> None:
        """Learn a batch of given labels, whole or not; new classes join where they are asked.

        `places` are the positions of the rows in the user's batch.
        """
        codes = self.labels.codes(y)
        remembers = self.remembers
        log = Log.of_questions(len(codes)) if remembers else NOTHING_KEPT
        if not self.labels.open or (codes != UNKNOWN).all():
            with self.whole_or_not(rows, codes):
                stop = self.play(rows, codes, log)
                if stop.status == LABEL_UNKNOWN:
                    t = stop.position
                    place = t if places is None else int(places[t])
                    raise ValueError(
                        f"unknown label {y[t]!s} in row {place} of y: {self.labels.remedy}"
                    )
                self.check(rows, stop)
            if remembers:
                self.memory.keep_asked(rows, codes, log)
            return
        with self._undone_if_refused():
            stop = self.play(rows, codes, log)
            while stop.status == LABEL_UNKNOWN:
                done = stop.position
                self._remember_asked(part(rows, 0, done), codes, log.part(0, done))
                log.asked[:done] = False
                self.admit_asked(y[done])
                codes = self.labels.codes(y)
                stop = self.play(rows, codes, log, first=done)
            self.check(rows, stop)
            self._remember_asked(rows, codes, log)

    def _consult(self, rows: Rows, label_of: Callable[[int], Given], places: Indices) -> None:
        """Play rounds, calling `label_of` with the place of each row whose label is asked.

        What has been answered stays learnt, whatever happens later.
        """
        codes: Codes = np.full(shape(rows)[0], NOT_GIVEN, self.code_type)
        stop = self.play(rows, codes)
        while stop.status == LABEL_NEEDED:
            code = self.admit_asked(label_of(int(places[stop.position])))
            if codes.dtype != self.code_type:
                codes = np.full(len(codes), NOT_GIVEN, self.code_type)
            codes[stop.position] = code
            self.remember(part(rows, stop.position, stop.position + 1), code)
            stop = self.play(rows, codes, first=stop.position)
        self.check(rows, stop)

    # --- the opening of a stream

    def opens(self, rows: Rows) -> int:
        """Return how many of these rows, the first of a stream, are asked about by worth.

        A goal for the risk wants rows in the order of their draws.
        """
        machine = self.machine
        begins = self.rounds == 0 and self.wishes.query is None
        goal = None if self.ledger is None else self.ledger.goal
        in_order = goal is not None and goal.measure == "risk"
        if not begins or in_order or not isinstance(machine, LinearMachine):
            return 0
        return machine.studied_at_once(rows)

    def open(
        self, rows: Rows, label_of: Callable[[int, Vector], Given], log: Log = NOTHING_KEPT
    ) -> Iterator[int]:
        """Ask about the worthiest of the first rows; yield the position of each once it is told.

        A stream of texts studies its first rows before it decides about any of them. They are at
        hand meanwhile, so the questions need not come in their order. Each question is a round with
        odds 1, for the row follows from what was known before. `label_of` gets the position of a
        row and its forecast; it returns NOBODY_KNOWS if that is so. The rows that are left are for
        `play`. Where the first question fails, nothing has been studied.
        """
        n, limit, first = self.opens(rows), OPENING_LIMIT, self.machine
        assert isinstance(first, LinearMachine)
        window, before = part(rows, 0, n), first.snapshot()
        first.study(rows)
        pool = Pool(n)
        pool.look_at(window, window, self.machine, 0)
        try:
            while self.rounds < OPENING_SHARE * n and not self.goal_is_met:
                (t,), odds, (why,) = pool.pick(self.machine, 1, 0.0, pool.left)
                forecast = pool.forecasts(self.machine, np.array([t]), exact=True)[0]
                if why != FIRST and levels_of(forecast[np.newaxis])[0] > limit:
                    break
                told = Question.about(window, t, np.append(forecast, odds), self.rounds)
                right = self._ask_in_opening(told, label_of(t, forecast), log, pool)
                if right is not None and why != FIRST:
                    limit *= exponential(OPENING_STEP * ((0.0 if right else 1.0) - OPENING_RHO))
                pool.left[t] = False
                yield t
        finally:
            if not self.rounds:
                first.restore(before)
                first.waits = True

    @property
    def goal_is_met(self) -> bool:
        return self.ledger is not None and self.ledger.met_at is not None

    def _ask_in_opening(
        self, question: Question, label: Given, log: Log, pool: Pool
    ) -> bool | None:
        """Play the round of a question with its answer; return whether the forecast was right.

        An answer that is refused changes nothing.
        """
        if label is not NOBODY_KNOWS:
            self._check_room(self.labels.joined(label))
        k, updates, forecast = self.rounds, self.n_updates, question.told[:-1]
        wild = not tame(question.rows(self.machine.d))  # others overflow with huge weights only
        with self._undone_if_refused() if wild else nullcontext(), delayed_interrupts():
            ticket = self.tickets.keep(question)
            if self.ledger is not None:
                self.ledger.skip_to(k)
                self.ledger.enter_one(forecast, 1.0, asked=True)
            self.rounds += 1
            self.n_asked += 1
            if label is NOBODY_KNOWS:  # no query rule has counted the question
                self.tickets.settle(ticket)
                if self.ledger is not None:
                    self.ledger.give_up(k)
            else:
                self._learn_answer(ticket, label)
                pool.told.add(self.labels.code(label))
        if log.kept:
            log.forecasts[k], log.probabilities[k], log.asked[k] = forecast, 1.0, True
            log.updated[k] = self.n_updates > updates
        if label is NOBODY_KNOWS:
            return None
        if len(forecast) != (MANY if self.many else TWO):
            return False  # a class has joined that nobody could name
        return not mistaken(question.told[np.newaxis], np.array([self.labels.code(label)]))[0]

    def opened(
        self, rows: Rows, label_of: Callable[[int, Vector], Given]
    ) -> Iterator[tuple[Rows, Indices]]:
        """Open the stream if these rows begin it; yield the rows left to play, and their places."""
        n, total = self.opens(rows), shape(rows)[0]
        if n:
            asked = list(self.open(rows, label_of))
            left = np.setdiff1d(np.arange(n), asked)
            yield taken(rows, left), left
        if n < total:
            yield part(rows, n, total) if n else rows, np.arange(n, total)

    def check(self, rows: Rows, stop: Stop) -> None:
        """Raise what is wrong with the row at which a pass stopped, if it did."""
        if stop.status != DONE:
            raise self.refusal(rows, stop)

    def pauses(
        self, rows: Rows, labels: Codes, log: Log = NOTHING_KEPT, *, first: int = 0
    ) -> Iterator[int]:
        """Play rounds from row `first` on; yield after every update the number of rows done."""
        stop = Stop(first, UPDATED)
        while stop.status == UPDATED:
            stop = self.play(rows, labels, log, first=stop.position, pause=True)
            if stop.status == UPDATED:
                yield stop.position
        self.check(rows, stop)

    @contextmanager
    def whole_or_not(self, rows: Rows, labels: Codes) -> Iterator[None]:
        """Put the state back if anything within fails, be it a row or Ctrl-C.

        Numbers are checked while they are read, and a copy of the state is taken before. Where the
        state is larger than the batch, a copy would cost more than the work: the batch is looked
        through first instead, and learnt to its end before Ctrl-C is heard.
        """
        if self.machine.outweighs(rows) and (labels != UNKNOWN).all() and harmless(rows):
            with delayed_interrupts():
                yield
            return
        before = self.machine.snapshot()
        counts = self._counts()
        try:
            yield
        except BaseException:
            self.machine.restore(before)
            self._put_back(counts)
            raise

    # --- questions and answers apart in time

    def ask(self, rows: Rows, lookahead: int = 1) -> Ask:
        """Predict, and decide which labels to ask for; each row is a round."""
        ledger, ahead = self.ledger, lookahead > 1
        has_goal = ledger is not None and ledger.goal is not None
        if ahead and (has_goal or not isinstance(self.machine, LinearMachine)):
            raise ValueError(
                "lookahead= is for learners without stop_when and kernel: the rows it asks about "
                "are not drawn, so they say nothing of the error"
            )
        self.find_overdue()
        n, first = shape(rows)[0], self.rounds
        log = self.log(n)
        labels: Codes = np.ones(n, self.code_type)
        with self.whole_or_not(rows, labels):
            self.ledger = None if ahead else ledger  # rounds of a look ahead are outside
            try:
                self.check(rows, self.play(rows, labels, log, teach=False))
            finally:
                self.ledger = ledger
            if ahead:
                self._look_ahead(rows, log, lookahead)
            told = np.column_stack([log.forecasts, log.probabilities])
            tickets = self.tickets.issue(rows, told, log.asked, first)
        self.tickets.just_asked = None
        margins = log.forecasts[:, 0].copy()
        return Ask(self.labels.names(log.sides), margins, log.probabilities, log.asked, tickets)

    def _look_ahead(self, rows: Rows, log: Log, width: int) -> None:
        """Move the questions of each window of rows to its worthiest rows, which differ."""
        for start in range(0, len(log.asked), width):
            asked = log.asked[start : start + width]
            window, wanted = part(rows, start, start + len(asked)), int(asked.sum())
            if wanted:
                pool = Pool(len(asked))
                pool.told = set(range(min(2, self.n_updates)))  # one label is of one class
                pool.look_at(window, window, self.machine, self.rounds)
                asked[:] = False
                asked[pool.pick(self.machine, wanted, 0.0, pool.left)[0]] = True
        log.probabilities[:] = log.asked

    def choose(
        self, given: Table, rows: Rows, n: int, explore: float, among: Given, *, ask: bool
    ) -> Choice:
        """Choose among rows at hand; the first call looks over all of them."""
        pool = self._pool_of(rows)
        left = pool.left.copy()
        if among is not None:
            wanted = np.zeros(len(left), bool)
            wanted[np.asarray(among)] = True
            left &= wanted
        pool.look_at(given, rows, self.machine, self.rounds)
        chosen, odds, reasons = pool.pick(self.machine, n, explore, left)
        tickets = np.full(len(chosen), -1, np.int64)
        if ask:
            told = np.column_stack(
                [pool.forecasts(self.machine, np.array(chosen, np.int64), exact=True), odds]
            )
            with delayed_interrupts():
                for i, t in enumerate(chosen):
                    question = Question.about(rows, t, told[i], self.rounds - 1)
                    tickets[i] = self.tickets.keep(question)
                pool.left[chosen] = False
                pool.n_choices += len(chosen)
                self.n_asked += len(chosen)
        return Choice(np.array(chosen, np.int64), tickets, odds, reasons)

    def _pool_of(self, rows: Rows) -> Pool:
        """Return the pool of the rows at hand, with room for those that have joined."""
        if self.pool is None:
            self.pool = self._studied(rows)
        pool, total = self.pool, shape(rows)[0]
        if len(pool.left) > total:
            raise ValueError(
                f"X has {total:,} rows, and had {len(pool.left):,} before: pass the same rows "
                "again, answered ones included; others may follow them"
            )
        pool.grow(total)
        return pool

    def tell_rows(self, given: Table, rows: Rows, chosen: Indices, labels: list[Label]) -> None:
        """Learn labels of rows at hand: each is chosen and told, one after the other.

        Between the choice of a row and its answer nothing is learnt. So the forecast it is asked
        with is that of its lesson, and many rows of known classes are one pass.
        """
        pool, start = self._pool_of(rows), 0
        for t in chosen.tolist():
            if not 0 <= t < len(pool.left):
                raise ValueError(f"there is no row {t} in X, which has {len(pool.left):,}")
        if len(set(chosen.tolist())) < len(chosen) or not pool.left[chosen].all():
            raise ValueError("a row is told twice: each row at hand has one label")
        told = taken(rows, chosen)
        in_one_pass = tame(told) and not self.machine.rules.update.CORRECTABLE
        while start < len(chosen):
            stop = start
            while in_one_pass and stop < len(chosen) and self.labels.knows(labels[stop]):
                stop += 1
            if stop == start:
                choice = self.choose(given, rows, 1, 0.0, chosen[start : start + 1], ask=True)
                self.tell([(int(choice.tickets[0]), labels[start])])
                start += 1
                continue
            some = slice(start, stop)
            self._learn_at_hand(pool, part(told, start, stop), chosen[some], labels[some])
            start = stop

    def _learn_at_hand(self, pool: Pool, rows: Rows, chosen: Indices, labels: list[Label]) -> None:
        """Learn labels of known classes in one pass."""
        codes: Codes = np.array([self.labels.code(label) for label in labels], self.code_type)
        with delayed_interrupts():
            with self.machine.states.busy:
                done, status, _ = self.machine.run(
                    lesson_of(sealed(rows), codes, NOTHING_TOLD, fresh=False)
                )
            if self.remembers:
                for t in range(done):
                    self.memory.keep_row(part(rows, t, t + 1), float(codes[t]))
            pool.left[chosen[:done]] = False
            pool.n_choices += done
            pool.told.update(codes[:done].astype(float).tolist())
            self.n_asked += done
            self.tickets.answered_at_once(done)
        self.check(rows, Stop(done, status))

    def _studied(self, rows: Rows) -> Pool:
        """Let the scaling learn from all rows at hand, each a round without a question."""
        n, states, scaling = shape(rows)[0], self.machine.states, self.machine.rules.scaling
        self.vet(rows)
        studied = scaling.study(own_arrays(states.now.scaling), rows)
        if studied is None:
            for start in range(0, n, CHUNK):
                piece, stop = self.machine.piece(rows, start)
                coins = np.full(stop - start, PASSED)
                labels: Codes = np.ones(stop - start, self.code_type)
                self.machine.run(Rounds(piece, labels, coins, NOTHING_KEPT, 0, teach=False))
        else:
            states.adopt(states.now._replace(scaling=studied))
        self.rounds += n
        return Pool(n)

    def find_overdue(self) -> None:
        """Let the query rule know how many questions are hardly waited for any more."""
        if self.tickets.find_overdue(self.rounds):
            for machine in self.machines:
                tell_query(machine, mark_overdue, self.tickets.n_overdue)

    def tell(self, answers: Answers, *, refund: bool = False) -> int:
        """Learn answers to questions, all or none: tickets and labels are checked before.

        None is an answer too: nobody knows. The question is given up; a budget gets the price of
        the label back if `refund`.
        """
        unknown = [ticket for ticket, label in answers if label is None]
        answers = [(ticket, label) for ticket, label in answers if label is not None]
        labels, wild = self.labels, False
        for ticket in unknown:
            self.tickets.question(ticket)
        for ticket, label in answers:
            question = self.tickets.question(ticket)
            labels = labels.joined(label)
            wild |= question is not None and not tame(question.rows(self.machine.d))
        self._check_room(labels)
        before = self.checkpoint() if wild else None  # others overflow with huge weights only
        try:
            with delayed_interrupts():  # an answer that is learnt is also settled
                learnt = sum(self._learn_answer(int(t), label) for t, label in answers)
                return learnt + (self.forget(unknown, refund=refund) if unknown else 0)
        except ValueError:
            if before is not None:
                self.back_to(before)
            raise

    def _learn_answer(self, ticket: int, label: Label) -> bool:
        if ticket not in self.tickets.waiting:
            return False
        anew, machine = self.begins_anew(label), self.machine
        code = self.admit(label)
        question = self.tickets.waiting[ticket]  # as it stands after a class has joined
        rows, told = question.rows(self.machine.d), question.told[np.newaxis]
        if self.machine is not machine:  # the forecast it was asked with did not know this class
            told = NOTHING_TOLD
        self.lesson(rows, code, told, fresh=False, anew=anew)
        self.remember(rows, code)
        if self.pool is not None:
            self.pool.told.add(code)
        self.enter_answer(question, code)
        if self.machine.rules.update.CORRECTABLE and not self.why_not_correctable():
            self.tickets.keep_answer(ticket, code)
        self.tickets.answer(ticket, self.rounds)
        return True

    def why_not_correctable(self) -> str:
        """Say why an answer cannot be replaced by another one; nothing if it can."""
        scaling, update, query = self.machine.rules
        if self.ledger is not None:
            return "the estimate of the error has counted it; make the learner without explore"
        if isinstance(update, Weighted):
            return "how often it was taught is not kept; make the learner without class_weight"
        if not (update.CORRECTABLE and isinstance(self.machine, LinearMachine)):
            return f"{update.label} has gone another way since; Ridge() without a kernel can do it"
        if not isinstance(scaling, Raw | Intercept):
            return f"{scaling.label} would present the row differently now; leave the scaling out"
        if query.LEARNS:
            return f"{query.label} has learnt from it; Margin(), Uniform() and Always() do not"
        return ""

    def correct(self, answers: Answers) -> int:
        """Replace answers that were learnt by others, all or none; return how many differ."""
        reason, changes = self.why_not_correctable(), []
        if reason:
            raise ValueError(f"an answer cannot be corrected: {reason}")
        for ticket, label in answers:
            if self.tickets.question(ticket) is not None:
                raise ValueError(f"ticket {ticket} still waits: tell its answer without correct")
            if int(ticket) not in self.tickets.answered:
                raise ValueError(f"the answer to ticket {ticket} is not kept any more")
            if label is None:
                raise ValueError(
                    f"the answer to ticket {ticket} cannot be corrected to None, which says that "
                    "nobody knows: tell the right class, or learn anew without that answer"
                )
            if not self.labels.knows(label):
                raise ValueError(f"unknown label {label!r}: a correction brings no new class")
            changes.append((int(ticket), self.labels.code(label)))
        return sum(self._replace_answer(ticket, code) for ticket, code in changes)

    def _replace_answer(self, ticket: int, code: float) -> bool:
        question, before = self.tickets.answered[ticket]
        if code == before:
            return False
        states = self.machine.states
        with states.busy:
            now = states.now
            z = present(now.scaling, row(question.rows(self.machine.d), 0))
            pack(now._replace(update=relabel(now.update, z, before, code)), states.numbers)
        self.memory.relabel(question.values, before, code)
        self.tickets.answered[ticket] = question, code
        return True

    def lesson(
        self, rows: Rows, code: float, told: Matrix, *, fresh: bool, anew: bool = False
    ) -> None:
        """Learn a label that comes outside a pass.

        `anew`: the query rule begins with this label, so that its round is played again. The
        scaling has absorbed the row, and round and question are counted already.
        """
        codes: Codes = np.array([code], self.code_type)
        if anew:
            counts, ledger = self._counts(), self.ledger
            self.next_coin, self.arrived, self.ledger = ASKED, True, None
            try:
                status = self.play(rows, codes).status
            finally:
                self._put_back(counts)
                self.ledger = ledger
        else:
            status = self.machine.lesson(rows, codes, told, fresh=fresh)
        self.check(rows, Stop(0, status))

    def learn_new(self, rows: Rows, label: Label) -> None:
        """Learn the label of a row that nobody asked for; it counts as a round and as asked."""
        new = not self.labels.knows(label)  # a row that is refused must not leave its class behind
        with self._undone_if_refused() if new else nullcontext(), delayed_interrupts():
            code = self.admit(label)
            self.lesson(rows, code, NOTHING_TOLD, fresh=True)
            self.remember(rows, code)
            self.count_lesson()

    def count_lesson(self) -> None:
        """Count a round whose label came without a question."""
        self.rounds += 1
        self.n_asked += 1
        self.tickets.just_asked = None

    def enter_answer(self, question: Question, code: float) -> None:
        """Let the estimate of the error know the answer, if there is one."""
        if self.ledger is not None:
            self.ledger.answer(question.round, question.told, code)

    def waiting(self) -> list[Waiting]:
        """List the questions that wait, the oldest first."""
        return [self._shown(*each) for each in self.tickets.waiting.items()]

    def _shown(self, ticket: int, question: Question) -> Waiting:
        told, round_ = question.told, question.round
        side = told[TWO if self.many else 0]
        guess = plain(self.labels.names(np.array([side]))[0])
        given = as_given(question.rows(self.machine.d))
        return Waiting(ticket, given, guess, float(told[-1]), round_, self.rounds - round_)

    def forget(self, tickets: Iterable[int], *, refund: bool = True) -> int:
        """Give up questions that still wait, and return how many there were."""
        still = {int(t): question for t in tickets if (question := self.tickets.question(t))}
        for ticket, question in still.items():
            self.tickets.settle(ticket)
            if self.ledger is not None:
                self.ledger.give_up(question.round)
        for machine in self.machines:
            tell_query(machine, expire if refund else close_unpaid, len(still))
        return len(still)

    # --- predictions

    def judge(self, rows: Rows, *, exact: bool) -> tuple[Vector, Labels]:
        """Return margins or scores, with the labels that belong to them.

        No lock is taken: a long pass in another thread is not waited for. A class that joins
        meanwhile brings a machine and labels of its own, one after the other.
        """
        machine, labels = self.machine, self.labels
        while machine.n_classes != max(2, len(labels.classes)):
            sleep(0.0)
            machine, labels = self.machine, self.labels
        if machine.n_classes > 2:
            return machine.scores(rows), labels
        return machine.margins(rows, exact=exact), labels

    def finite_margins(
        self, rows: Rows, first: int = 0, stop: int | None = None, *, exact: bool
    ) -> tuple[Vector, Labels]:
        """Return the margins or scores of rows that can be read, or refuse them; and the labels."""
        some = rows if stop is None else part(rows, first, stop)
        margins, labels = self.judge(some, exact=exact)
        broken = ~np.isfinite(margins)
        for t in np.flatnonzero(broken.any(axis=1) if broken.ndim == 2 else broken).tolist():
            if outside(rows) is not None:
                raise self.refusal(rows, Stop(first + t, UNSOUND))
            if np.isinf(margins[t]).any() or not tame(part(some, t, t + 1)):
                raise self.refusal(rows, Stop(first + t, NOT_FINITE))
            margins[t] = 0.0  # a row without a direction is on neither side
        return margins, labels

    def predict(self, rows: Rows) -> Array:
        """Return the class of every row."""
        margins, labels = self.finite_margins(rows, exact=False)
        if not len(labels.classes):
            raise ValueError(
                "no label has been learnt yet, so there is no class to predict; the default "
                "learner watches 50 rows before it asks for the first one"
            )
        return labels.names(margins.argmax(axis=1) if margins.ndim == 2 else margins)

    @property
    def has_scale(self) -> bool:
        """Whether margins tell how probable a class is."""
        return isinstance(self.machine, LinearMachine) and self.machine.rules.update.HAS_SCALE

    def chances(self, rows: Rows, given: Table = None) -> Matrix:
        """Return the probability of each class for every row; `given` may be rows at hand."""
        n = shape(rows)[0]
        while True:
            machine, found = self.machine, list[Matrix]()
            for start in range(0, n, CHUNK):
                with machine.states.busy:  # margins of a chunk and their scale are of one moment
                    pool, stop = self.pool, min(n, start + CHUNK)
                    if not start and pool is not None and pool.holds(given, self.rounds):
                        margins, labels, stop = pool.scores(machine), self.labels, n
                    else:
                        margins, labels = self.finite_margins(rows, start, stop, exact=False)
                    update = machine.states.now.update
                    if not update.n_updates:
                        raise ValueError(
                            "no label has been learnt yet, so there are no probabilities"
                        )
                    found.append(chances(update, margins))
                if stop == n or self.machine is not machine:
                    break
            if self.machine is machine:  # else a class has joined meanwhile
                whole = np.concatenate(found)
                return whole if len(labels.classes) != 1 else np.ones((n, 1))

    def predicted(self, rows: Rows) -> Codes:
        """Return the label of every row as the loop knows it: a sign, or the number of a class."""
        margins, _ = self.judge(rows, exact=False)
        if margins.ndim == 2:
            best: Codes = margins.argmax(axis=1).astype(np.int32)
            return best
        return np.where(margins > 0.0, 1, -1).astype(np.int8)

    def name_one(self, row: Rows) -> Label:
        """Return the class of one row, None before any label."""
        margins, labels = self.judge(row, exact=False)
        best: Label = labels.names(margins.argmax(axis=1) if margins.ndim == 2 else margins)[0]
        return best

    def read(self, y: Given, n: int) -> Array:
        """Return y as a plain column of n labels."""
        return read_labels(y, n)

    # --- classes that join

    def begins_anew(self, label: Label) -> bool:
        """Tell whether this label is of a third class, for which another query rule takes over."""
        third = len(self.labels.classes) == 2 and not self.labels.knows(label)
        return third and self.wishes.query is None

    def admit(self, label: Label) -> float:
        """Return the number of a label; a class that is new joins, the machine with it."""
        labels = self.labels.joined(label)
        if labels is not self.labels:
            LOGGER.info("class %r joins in round %d", plain(label), self.rounds)
            if len(labels.classes) > max(2, len(self.labels.classes)):
                self._check_room(labels)
                self._widen(len(labels.classes))
            self._name(labels)
        return labels.code(label)

    def admit_asked(self, label: Label) -> float:
        """Return the number of a label that was asked and paid for, whatever the odds are now."""
        machine = self.machine
        code = self.admit(label)
        if self.machine is not machine:
            self.next_coin = ASKED
        return code

    def _check_room(self, labels: Labels) -> None:
        """Refuse a third class before anything changes if the update rule knows only two."""
        if labels.many and not self.many:
            rules_for_classes(self.machine, self.wishes, len(labels.classes))
            if self.ledger is not None:
                self.ledger.check_goal()

    def _widen(self, n_classes: int) -> None:
        if self.many:
            self.machine = widened(self.machine, self.machine.rules, n_classes)
            return
        self.machine = self._taught_again(n_classes)
        self.memory = Memory()
        for number, question in self.tickets.waiting.items():
            self.tickets.waiting[number] = question.of_many()

    def _taught_again(self, n_classes: int) -> Machine:
        """Return a machine for many classes that was told what the one for two remembers."""
        machine = self.machine
        rules = rules_for_classes(machine, self.wishes, n_classes)
        if self.ledger is not None:
            rules = rules._replace(query=self.ledger.asking(rules.query))
        wider = widened(machine, rules, n_classes)
        if isinstance(rules.update, Weighted):
            set_weights(wider, self.labels)
        query = own_arrays(wider.states.now.query)
        for rows, classes in self.memory.batches(machine.d):
            wider.lesson(rows, classes, NOTHING_TOLD, fresh=False)
        if rules.query == machine.rules.query:  # it has seen these labels already
            wider.states.adopt(wider.states.now._replace(query=query))
            wider.settle()
        return wider

    @property
    def remembers(self) -> bool:
        """Whether a third class may come that has to be taught what the two were told."""
        return self.labels.open and not self.many and has_many_form(self.wishes.update)

    def remember(self, row: Rows, code: float) -> None:
        """Keep a row that was taught while a third class may come."""
        if self.remembers:
            self.memory.keep_row(row, code)

    def _remember_asked(self, rows: Rows, codes: Codes, log: Log) -> None:
        if self.remembers:
            self.memory.keep_asked(rows, codes, log)

    # --- checkpoints

    def _counts(self) -> Counts:
        entries = None if self.ledger is None else self.ledger.state()
        return Counts(self.rounds, self.n_asked, self.arrived, entries)

    def _put_back(self, counts: Counts) -> None:
        self.rounds, self.n_asked, self.arrived, entries = counts
        if self.ledger is not None and entries is not None:
            self.ledger.restore(entries)

    def checkpoint(self) -> Checkpoint:
        """Copy all that answers or classes may change."""
        machine, pool = self.machine, self.pool
        return Checkpoint(
            machine,
            machine.snapshot() if pool is None else pool.snapshot(machine, self.rounds),
            self._counts(),
            self.labels,
            self.memory.copy(),
            self.tickets.copy(),
            None if self.pool is None else self.pool.copy(),
        )

    def back_to(self, before: Checkpoint) -> None:
        """Put back what a checkpoint copied."""
        self.machine = before.machine
        self._name(before.labels)
        self.memory, self.tickets = before.memory.copy(), before.tickets.copy()
        if before.pool is not None:
            self.pool = before.pool.copy()
        self.machine.restore(before.snapshot)
        self._put_back(before.counts)

    @contextmanager
    def _undone_if_refused(self) -> Iterator[None]:
        before = self.checkpoint()
        try:
            yield
        except BaseException:
            self.back_to(before)
            raise


def _oracle(y: Callable[[Indices], Given]) -> Callable[[int], Given]:
    def label_of(position: int) -> Label:
        answer = y(np.array([position]))
        single = np.ndim(answer) == 0 or isinstance(answer, str | bytes)
        labels: list[Label] = [answer] if single else list(answer)
        if len(labels) != 1:
            raise ValueError(
                f"the oracle was asked for the label of row {position} and gave {len(labels)}: "
                "return one label for every index"
            )
        return labels[0]

    return label_of


class Interrupts:
    """Ctrl-C that has come while it was delayed."""

    def __init__(self, usual: Any) -> None:
        self.usual = usual
        self.waiting: tuple[object, ...] | None = None

    def __call__(self, *how: object) -> None:
        self.waiting = how

    def deliver(self) -> None:
        """Hand the Ctrl-C that has come to the usual handler."""
        how, self.waiting = self.waiting or (), None
        self.usual(*how)


@contextmanager
def delayed_interrupts() -> Iterator[Interrupts]:
    """Delay SIGINT until the block ends or says `deliver`, so that a batch is never half learnt.

    Python runs the handler of SIGINT in the main thread alone, right after a kernel has moved the
    weights and before the rows are counted. Within another such block it is delayed by that one.
    """
    usual = signal.getsignal(signal.SIGINT)
    interrupts = Interrupts(usual)
    if current_thread() is not main_thread() or not callable(usual):
        yield interrupts
        return
    signal.signal(signal.SIGINT, interrupts)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, usual)
        if interrupts.waiting is not None:
            interrupts.deliver()
