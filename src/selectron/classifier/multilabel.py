"""Several labels a row: a learner of two classes for each label, one question for all.

All learners toss the same coin, so a row is asked at the odds of the one that wants it most; the
answer has all labels of the row, and every learner learns from it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from selectron.arrays import Codes, Matrix
from selectron.classifier.batch import refusal, vet
from selectron.classifier.inputs import part, read_rows, shape
from selectron.classifier.label_sets import Flags, read_sets
from selectron.classifier.labels import Labels
from selectron.classifier.machine import ASKED, PASSED, Machine, Stop
from selectron.classifier.memory import Memory
from selectron.classifier.one_row import OneRow
from selectron.classifier.row_forms import as_table, numbers_and_columns
from selectron.classifier.run import Ask
from selectron.classifier.tickets import Tickets
from selectron.loop import DONE, LABEL_NEEDED, NOT_GIVEN, Log
from selectron.numeric.coins import coins
from selectron.numeric.rows import Rows

SILENT = Log.of(0)
NO_LABEL = np.array([NOT_GIVEN], np.int8)


class MultilabelRun:
    """What a fit begins and a partial_fit goes on with, where rows have several labels."""

    def __init__(self, machines: Sequence[Machine], labels: Labels) -> None:
        self.machines = list(machines)
        self.labels = labels
        self.tickets = Tickets()
        self.memory = Memory()  # stays empty: no label joins

    @property
    def machine(self) -> Machine:
        """The first of the machines: width, type and counts are the same in all."""
        return self.machines[0]

    def teach(self, rows: Rows, y: Any) -> None:
        """Pass over rows with their labels, or with an oracle to ask."""
        n = shape(rows)[0]
        vet(self.machine, rows)
        if callable(y):
            self.tickets.just_asked = None
            self._pass(rows, lambda t: read_sets(_answer(y, t), 1, self.labels)[0])
            return
        flags = read_sets(y, n, self.labels)
        with self._all_or_nothing():
            self._pass(rows, lambda t: flags[t])
        self.tickets.just_asked = None

    def ask(self, rows: Rows) -> Ask:
        vet(self.machine, rows)
        n, first = shape(rows)[0], self.machine.n_seen
        told = np.zeros((n, len(self.machines), 4))
        odds, asked = np.zeros(n), np.zeros(n, bool)
        with self._all_or_nothing():
            for t in range(n):
                row = part(rows, t, t + 1)
                told[t], odds[t] = self._look(rows, t)
                asked[t] = self._coin() < odds[t]
                self._go_on(row, asked=bool(asked[t]), flags=None)
        self.tickets.just_asked = None
        tickets = self.tickets.issue(rows, told, odds, asked, first)
        margins = told[:, :, 0].copy()
        return Ask(self.names(margins), margins, odds, asked, tickets)

    def tell(self, answers: list[tuple[Any, Any]]) -> int:
        """Learn answers to questions; all of them are checked before any is learnt."""
        lessons = []
        for ticket, labels in answers:
            self.tickets.question(ticket)
            lessons.append((int(ticket), read_sets([labels], 1, self.labels)[0]))
        learnt = 0
        for ticket, flags in lessons:
            question = self.tickets.waiting.get(ticket)
            if question is not None:
                rows = question.rows(self.machine.d)
                told = question.forecast
                with self._all_or_nothing():
                    self._lesson(rows, flags, told)
                self.tickets.answer(ticket, self.machine.n_seen)
                learnt += 1
        return learnt

    def forget(self, tickets: Iterable[Any]) -> int:
        """Give up questions that still wait, and return how many there were."""
        still = {int(t) for t in tickets if self.tickets.question(t) is not None}
        for ticket in still:
            self.tickets.settle(ticket)
        for machine in self.machines:
            machine.give_up(len(still))
        return len(still)

    def learn(self, rows: Rows, labels: Any) -> None:
        """Teach one row that nobody asked about."""
        vet(self.machine, rows)
        flags = read_sets([labels], 1, self.labels)[0]
        self._look(rows, 0)
        self._go_on(rows, asked=True, flags=flags)
        self.tickets.just_asked = None

    def margins(self, rows: Rows, *, exact: bool) -> Matrix:
        columns = [machine.margins(rows, exact=exact) for machine in self.machines]
        return np.stack(columns, axis=1)

    def names(self, margins: Matrix) -> Any:
        """Return the flags that margins predict."""
        return (margins > 0.0).astype(np.int64)

    def read(self, y: Any, n: int) -> Any:
        return read_sets(y, n, self.labels)

    def _lesson(self, rows: Rows, flags: Flags, told: Matrix) -> None:
        for machine, numbers, flag in zip(self.machines, told, flags, strict=True):
            status = machine.lesson(rows, _sign(flag), numbers[np.newaxis], fresh=False)
            if status != DONE:
                raise refusal(machine, rows, Stop(0, status))

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Put everything back if what is done within is refused."""
        before = [machine.snapshot() for machine in self.machines]
        try:
            yield
        except BaseException:
            for machine, snapshot in zip(self.machines, before, strict=True):
                machine.restore(snapshot)
            raise

    def _pass(self, rows: Rows, flags_of: Callable[[int], Flags]) -> None:
        for t in range(shape(rows)[0]):
            row = part(rows, t, t + 1)
            _, odds = self._look(rows, t)
            asked = self._coin() < odds
            self._go_on(row, asked=asked, flags=flags_of(t) if asked else None)

    def _coin(self) -> float:
        return float(coins(self.machine.seed, self.machine.n_seen, 1)[0])

    def _look(self, rows: Rows, t: int) -> tuple[Matrix, float]:
        """Return the forecast of each learner and the largest odds, before any label is needed."""
        row = part(rows, t, t + 1)
        told, odds = np.zeros((len(self.machines), 4)), 0.0
        for k, machine in enumerate(self.machines):
            log = machine.log(1)
            machine.next_coin = ASKED
            stop = machine.run(row, NO_LABEL, log=log)
            if stop.status != LABEL_NEEDED:
                raise refusal(machine, rows, stop._replace(position=t))
            told[k], odds = log.forecasts[0], max(odds, float(log.probabilities[0]))
        return told, odds

    def _go_on(self, row: Rows, *, asked: bool, flags: Flags | None) -> None:
        for k, machine in enumerate(self.machines):
            label = NO_LABEL if flags is None else _sign(flags[k])
            machine.next_coin = ASKED if asked else PASSED
            machine.run(row, label, log=SILENT, teach=flags is not None)


def rows_of(run: MultilabelRun) -> OneRow:
    """Return the doors for one row at a time; they are no faster than the others."""

    def read(x: Any) -> Rows:
        rows = read_rows(as_table(x), run.machine.dtype)
        width, d = shape(rows)[1], run.machine.d
        if width != d:
            raise ValueError(f"a row of {d} features is expected, got one of {width}")
        return rows

    def predict(x: Any) -> Any:
        return run.names(run.margins(read(x), exact=False))[0]

    def ask(x: Any) -> Ask:
        answer = Ask(*(column[0] for column in run.ask(read(x))))
        run.tickets.just_asked = int(answer.tickets) if answer.asked else None
        return answer

    def learn(x: Any, y: Any) -> None:
        rows = read(x)
        ticket = run.tickets.answered_by(rows, numbers_and_columns)
        if ticket is None:
            run.learn(rows, y)
        else:
            run.tell([(ticket, y)])

    return OneRow(predict, ask, learn)


def _sign(flag: Any) -> Codes:
    return np.array([1 if flag else -1], np.int8)


def _answer(oracle: Callable[[Any], Any], position: int) -> Any:
    answer = oracle(np.array([position]))
    if len(answer) != 1:
        raise ValueError(
            f"the oracle was asked for the labels of row {position} and gave {len(answer)} sets: "
            "return one for every index"
        )
    return answer
