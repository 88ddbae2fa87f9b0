"""Several labels a row: a learner of two classes for each label, one question for all.

All learners toss the same coin, so a row is asked at the odds of the one that wants it most. The
answer has all labels of the row, and every learner learns from it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import Any

import numpy as np

from selectron.arrays import Flags, Given, Indices, Matrix
from selectron.classifier.labels import Labels, read_sets
from selectron.classifier.machine import Machine, tell_query
from selectron.classifier.memory import Memory
from selectron.classifier.rows import as_given
from selectron.classifier.run import ASKED, PASSED, Answers, Ask, Run, copied_run
from selectron.classifier.tickets import Tickets, Waiting
from selectron.loop import LABEL_NEEDED, NOT_GIVEN
from selectron.numeric.coins import coins
from selectron.numeric.rows import Rows, part, shape
from selectron.protocol import TWO, expire
from selectron.queries.budget import close_unpaid

NO_LABEL = np.array([NOT_GIVEN], np.int8)


class MultilabelRun:
    """What a fit begins and a partial_fit goes on with, where rows have several labels."""

    arrived = False
    ledger = None

    def __init__(self, runs: Sequence[Run], labels: Labels) -> None:
        self.runs = list(runs)
        self.labels = labels
        self.tickets = Tickets()
        self.memory = Memory()  # stays empty: no label joins

    @property
    def lock(self) -> RLock:
        """The lock of the first run guards all of them."""
        return self.runs[0].lock

    def __deepcopy__(self, memo: dict[int, Any]) -> "MultilabelRun":
        with self.lock:
            return copied_run(self, memo)

    @property
    def machines(self) -> list[Machine]:
        return [run.machine for run in self.runs]

    @property
    def machine(self) -> Machine:
        """The first of the machines: width, type and rules are the same in all."""
        return self.runs[0].machine

    @property
    def rounds(self) -> int:
        return self.runs[0].rounds

    @property
    def n_asked(self) -> int:
        return self.runs[0].n_asked

    @property
    def n_updates(self) -> int:
        return sum(run.n_updates for run in self.runs)

    def teach(self, rows: Rows, y: Given) -> None:
        """Pass over rows with their labels, or with an oracle to ask."""
        self.vet(rows)
        if callable(y):
            self.tickets.just_asked = None
            self._pass(rows, lambda t: read_sets(_answer(y, t), 1, self.labels)[0])
            return
        flags = read_sets(y, shape(rows)[0], self.labels)
        with self._all_or_nothing():
            self._pass(rows, lambda t: flags[t])
        self.tickets.just_asked = None

    def vet(self, rows: Rows) -> None:
        """Refuse rows that cannot be learnt before a single label is paid for."""
        self.runs[0].vet(rows)

    def ask(self, rows: Rows) -> Ask:
        """Predict, and decide which rows to ask about."""
        self.vet(rows)
        n, first = shape(rows)[0], self.rounds
        told = np.zeros((n, len(self.runs), TWO + 1))
        odds, asked = np.zeros(n), np.zeros(n, bool)
        with self._all_or_nothing():
            for t in range(n):
                told[t, :, :TWO], odds[t] = self._look(rows, t)
                told[t, :, TWO] = odds[t]
                asked[t] = self._coin() < odds[t]
                self._go_on(part(rows, t, t + 1), asked=bool(asked[t]), flags=None)
        self.tickets.just_asked = None
        tickets = self.tickets.issue(rows, told, asked, first)
        margins = told[:, :, 0].copy()
        return Ask((margins > 0.0).astype(np.int64), margins, odds, asked, tickets)

    def tell(self, answers: Answers, *, refund: bool = False) -> int:
        """Learn answers to questions; all of them are checked before any is learnt."""
        lessons, unknown = [], []
        for ticket, labels in answers:
            self.tickets.question(ticket)
            if labels is None:
                unknown.append(ticket)
                continue
            lessons.append((int(ticket), read_sets([labels], 1, self.labels)[0]))
        learnt = 0
        for ticket, flags in lessons:
            question = self.tickets.waiting.get(ticket)
            if question is not None:
                rows = question.rows(self.machine.d)
                with self._all_or_nothing():
                    for run, told, flag in zip(self.runs, question.told, flags, strict=True):
                        run.lesson(rows, _sign(flag), told[np.newaxis], fresh=False)
                self.tickets.answer(ticket, self.rounds)
                learnt += 1
        return learnt + self.forget(unknown, refund=refund)

    def correct(self, answers: Answers) -> int:
        """Refuse: each label has a learner of its own."""
        raise ValueError("answers of several labels cannot be corrected: train anew without them")

    def waiting(self) -> list[Waiting]:
        """List the questions that wait, the oldest first; the guess is a flag a label."""
        listed = []
        for ticket, question in self.tickets.waiting.items():
            guess = tuple([int(margin > 0.0) for margin in question.told[:, 0]])
            odds, age = float(question.told[0, -1]), self.rounds - question.round
            row = as_given(question.rows(self.machine.d))
            listed.append(Waiting(ticket, row, guess, odds, question.round, age))
        return listed

    def forget(self, tickets: Iterable[int], *, refund: bool = True) -> int:
        """Give up questions that still wait, and return how many there were."""
        still = {int(t) for t in tickets if self.tickets.question(t) is not None}
        for ticket in still:
            self.tickets.settle(ticket)
        for machine in self.machines:
            tell_query(machine, expire if refund else close_unpaid, len(still))
        return len(still)

    def learn_new(self, rows: Rows, labels: Given) -> None:
        """Teach one row that nobody asked about."""
        self.vet(rows)
        flags = read_sets([labels], 1, self.labels)[0]
        self._look(rows, 0)
        self._go_on(rows, asked=True, flags=flags)
        self.tickets.just_asked = None

    def finite_margins(self, rows: Rows, *, exact: bool) -> tuple[Matrix, Labels]:
        """Return a column of margins for each label of rows that can be read, or refuse them."""
        columns = [run.finite_margins(rows, exact=exact)[0] for run in self.runs]
        return np.stack(columns, axis=1), self.labels

    @property
    def has_scale(self) -> bool:
        """Whether margins tell how probable a label is."""
        return self.runs[0].has_scale

    def chances(self, rows: Rows) -> Matrix:
        """Return the probability of each label for every row."""
        return np.stack([run.chances(rows)[:, 1] for run in self.runs], axis=1)

    def predict(self, rows: Rows) -> Indices:
        """Return a matrix of flags: which labels every row has."""
        return (self.finite_margins(rows, exact=False)[0] > 0.0).astype(np.int64)

    def name_one(self, row: Rows) -> Indices:
        """Return the flags of one row."""
        flags: Indices = self.predict(row)[0]
        return flags

    def read(self, y: Given, n: int) -> Flags:
        """Return y as flags."""
        return read_sets(y, n, self.labels)

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Put everything back if what is done within is refused."""
        before = [run.checkpoint() for run in self.runs]
        try:
            yield
        except BaseException:
            for run, checkpoint in zip(self.runs, before, strict=True):
                run.back_to(checkpoint)
            raise

    def _pass(self, rows: Rows, flags_of: Callable[[int], Flags]) -> None:
        for t in range(shape(rows)[0]):
            _, odds = self._look(rows, t)
            asked = self._coin() < odds
            flags = flags_of(t) if asked else None
            self._go_on(part(rows, t, t + 1), asked=asked, flags=flags)

    def _coin(self) -> float:
        return float(coins(self.machine.seed, self.rounds, 1)[0])

    def _look(self, rows: Rows, t: int) -> tuple[Matrix, float]:
        """Return the forecast of each learner and the largest odds, before any label is needed."""
        row = part(rows, t, t + 1)
        told, odds = np.zeros((len(self.runs), TWO)), 0.0
        for k, run in enumerate(self.runs):
            log = run.log(1)
            run.next_coin = ASKED
            stop = run.play(row, NO_LABEL, log)
            if stop.status != LABEL_NEEDED:
                raise run.refusal(rows, stop._replace(position=t))
            told[k], odds = log.forecasts[0], max(odds, float(log.probabilities[0]))
        return told, odds

    def _go_on(self, row: Rows, *, asked: bool, flags: Flags | None) -> None:
        for k, run in enumerate(self.runs):
            label = NO_LABEL if flags is None else np.array([_sign(flags[k])], np.int8)
            run.next_coin = ASKED if asked else PASSED
            run.play(row, label, teach=flags is not None)


def _sign(flag: np.bool_) -> int:
    return 1 if flag else -1


def _answer(oracle: Callable[[Indices], Given], position: int) -> Given:
    answer = oracle(np.array([position]))
    if len(answer) != 1:
        raise ValueError(
            f"the oracle was asked for the labels of row {position} and gave {len(answer)} sets: "
            "return one for every index"
        )
    return answer


AnyRun = Run | MultilabelRun
