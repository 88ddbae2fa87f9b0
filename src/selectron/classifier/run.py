"""One learner on one stream: its machine, its classes, and the questions that wait."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from selectron.arrays import Codes, Matrix
from selectron.classifier.batch import Given, learn_batch, refusal, tame, whole_or_not
from selectron.classifier.inputs import shape
from selectron.classifier.interrupts import heard_afterwards
from selectron.classifier.label_arrays import read_labels
from selectron.classifier.labels import Labels
from selectron.classifier.machine import Machine, Snapshot, Stop
from selectron.classifier.memory import Memory
from selectron.classifier.open_classes import consult, learn_open
from selectron.classifier.rules import Wishes, has_many_form
from selectron.classifier.tickets import Question, Tickets
from selectron.classifier.widening import taught_again, widened, widened_forecast
from selectron.loop import DONE, Log
from selectron.numeric.rows import Rows

NO_FORECASTS = np.empty((0, 4))
SILENT = Log.of(0)


class Checkpoint(NamedTuple):
    """What a refused batch of unknown classes, or of answers, must not have changed."""

    machine: Machine
    snapshot: Snapshot
    classes: Any
    memory: Memory
    tickets: dict[str, Any]  # its fields


class Ask(NamedTuple):
    """Predictions, and which of the labels are worth asking for: an entry a row, or one row's."""

    labels: Any
    margins: Any
    probabilities: Any
    asked: Any
    tickets: Any  # the number of the question, -1 where none is asked


class Run:
    """What a fit begins and a partial_fit goes on with."""

    def __init__(self, machine: Machine, labels: Labels, wishes: Wishes | None = None) -> None:
        self.machine = machine
        self.labels = labels
        if machine.ledger is not None:
            machine.ledger.labels = labels
        self.wishes = wishes or Wishes()
        self.tickets = Tickets()
        self.memory = Memory()

    def teach(self, rows: Rows, y: Any, log: Log = SILENT) -> None:
        """Pass over rows with their labels in an array, or with an oracle to ask."""
        before = self.machine.n_seen
        try:
            self._teach(rows, y, log)
        finally:
            if self.machine.n_seen != before:
                self.tickets.just_asked = None

    def _teach(self, rows: Rows, y: Any, log: Log) -> None:
        if callable(y):
            consult(self, rows, _oracle(y), log)
        elif not self.labels.complete:
            before = self.checkpoint()
            try:
                consult(self, rows, lambda t: y[t], log)
            except BaseException:
                self.back_to(before)
                raise
        elif self.labels.open:
            learn_open(self, rows, y, log)
        else:
            given = Given(y, self.labels)
            learn_batch(self.machine, rows, self.labels.codes(y), log, given=given)

    def ask(self, rows: Rows) -> Ask:
        self.look_for_overdue()
        n, first = shape(rows)[0], self.machine.n_seen
        log, labels = self.machine.log(n), np.ones(n, self.machine.code_type)
        with whole_or_not(self.machine, rows, labels):
            stop = self.machine.run(rows, labels, log=log, teach=False)
            if stop.status != DONE:
                raise refusal(self.machine, rows, stop)
            tickets = self.tickets.issue(rows, log.forecasts, log.probabilities, log.asked, first)
        self.tickets.just_asked = None
        margins = log.forecasts[:, 0].copy()
        names = self.labels.names(log.sides)
        return Ask(names, margins, log.probabilities, log.asked, tickets)

    def look_for_overdue(self) -> None:
        """Let the query rule know how many questions are hardly waited for any more."""
        if self.tickets.look_for_overdue(self.machine.n_seen):
            self.machine.mark_overdue(self.tickets.n_overdue)

    def tell(self, answers: list[tuple[Any, Any]]) -> int:
        """Learn answers to questions, all or none: tickets and labels are checked before."""
        labels = self.labels.copy()
        wild = False
        for ticket, label in answers:
            question = self.tickets.question(ticket)
            labels.code(label)
            wild |= question is not None and not tame(question.rows(self.machine.d))
        self._check_room(labels)
        before = self.checkpoint() if wild else None  # others overflow with huge weights only
        try:
            with heard_afterwards():  # or what is learnt would still be waited for
                return self._learn_answers(answers)
        except ValueError:
            if before is not None:
                self.back_to(before)
            raise

    def _learn_answers(self, answers: list[tuple[Any, Any]]) -> int:
        learnt = 0
        for ticket, label in answers:
            question = self.tickets.waiting.get(int(ticket))
            if question is not None:
                anew, machine = self.begins_anew(label), self.machine
                code = self.admit(label)
                question = self.tickets.waiting[int(ticket)]  # as it is told to more classes
                rows, told = question.rows(self.machine.d), question.forecast[np.newaxis]
                if self.machine is not machine:  # no forecast of then knew of this class
                    told = NO_FORECASTS
                codes = np.array([code], self.machine.code_type)
                self.lesson(rows, codes, told, fresh=False, anew=anew)
                self.remember(rows, code)
                self.enter_answer(question, code)
                self.tickets.answer(ticket, self.machine.n_seen)
                learnt += 1
        return learnt

    def enter_answer(self, question: Question, code: float) -> None:
        """Let the estimate of the error know the answer, if there is one."""
        if self.machine.ledger is not None:
            self.machine.ledger.answer(question.round, question.forecast, code)

    def forget(self, tickets: Iterable[Any]) -> int:
        """Give up questions that still wait, and return how many there were."""
        still = {int(t): question for t in tickets if (question := self.tickets.question(t))}
        for ticket, question in still.items():
            self.tickets.settle(ticket)
            if self.machine.ledger is not None:
                self.machine.ledger.give_up(question.round)
        self.machine.give_up(len(still))
        return len(still)

    @property
    def machines(self) -> list[Machine]:
        return [self.machine]

    def margins(self, rows: Rows, *, exact: bool) -> Any:
        """Return the margins of two classes, or the scores of more."""
        machine = self.machine
        return machine.scores(rows) if machine.many else machine.margins(rows, exact=exact)

    def names(self, margins: Any) -> Any:
        """Return the classes that margins or scores predict."""
        if not len(self.labels.classes):
            raise ValueError(
                "no label has been learnt yet, so there is no class to predict; the default "
                "learner watches 50 rows before it asks for the first one"
            )
        return self.labels.names(margins.argmax(axis=1) if self.labels.many else margins)

    def read(self, y: Any, n: int) -> Any:
        return read_labels(y, n)

    def lesson(
        self, rows: Rows, codes: Codes, asked_with: Matrix, *, fresh: bool, anew: bool = False
    ) -> None:
        """Learn labels that come outside a pass; `anew`, as the first round of a query rule."""
        if anew:
            status = self.machine.play_again(rows, codes)
        else:
            status = self.machine.lesson(rows, codes, asked_with, fresh=fresh)
        if status != DONE:
            raise refusal(self.machine, rows, Stop(0, status))

    def begins_anew(self, label: Any) -> bool:
        """Tell whether this label is of a third class, for which another query rule takes over."""
        third = len(self.labels.classes) == 2 and not self.labels.knows(label)
        return third and self.wishes.query is None

    def admit(self, label: Any) -> float:
        """Return the number of a label; a class that is new joins, the machine with it."""
        if self.labels.knows(label):
            return self.labels.code(label)
        labels = self.labels.copy()
        code = labels.code(label)
        if len(labels.classes) > max(2, len(self.labels.classes)):
            self._check_room(labels)
            self._widen(len(labels.classes))
        self.labels.classes = labels.classes
        return code

    @property
    def remembers(self) -> bool:
        """Whether a third class may come that has to be taught what the two were told."""
        two = self.labels.open and not self.machine.many
        return two and has_many_form(self.wishes.update)

    def remember(self, row: Rows, code: float) -> None:
        if self.remembers:
            self.memory.keep_row(row, code)

    def remember_asked(self, rows: Rows, codes: Codes, log: Log) -> None:
        if self.remembers:
            self.memory.keep_asked(rows, codes, log)

    def checkpoint(self) -> Checkpoint:
        machine, tickets = self.machine, self.tickets
        return Checkpoint(
            machine,
            machine.snapshot(),
            self.labels.classes,
            self.memory.copy(),
            vars(tickets) | {"waiting": tickets.waiting.copy()},
        )

    def back_to(self, before: Checkpoint) -> None:
        self.machine, self.memory = before.machine, before.memory
        self.machine.restore(before.snapshot)
        self.labels.classes = before.classes
        vars(self.tickets).update(before.tickets)

    def _check_room(self, labels: Labels) -> None:
        """Refuse a third class before anything changes if the update rule knows only two."""
        if labels.many and not self.machine.many:
            self.machine.rules_for(self.wishes, len(labels.classes))
            if self.machine.ledger is not None:
                self.machine.ledger.check_goal()

    def _widen(self, n_classes: int) -> None:
        if self.machine.many:
            self.machine = widened(self.machine, self.machine.rules, n_classes)
            return
        self.machine = taught_again(self.machine, self.wishes, self.memory, n_classes)
        self.memory = Memory()
        for number, question in self.tickets.waiting.items():
            told = widened_forecast(question.forecast)
            self.tickets.waiting[number] = question._replace(forecast=told)


def _oracle(y: Callable[[Any], Any]) -> Callable[[int], Any]:
    def label_of(position: int) -> Any:
        labels = np.asarray(y(np.array([position])), dtype=object).reshape(-1)
        if len(labels) != 1:
            raise ValueError(
                f"the oracle was asked for the label of row {position} and gave {len(labels)}: "
                "return one label for every index"
            )
        return labels[0]

    return label_of
