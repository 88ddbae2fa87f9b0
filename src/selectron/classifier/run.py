"""One learner on one stream: its machine, its classes, and the questions that wait."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from selectron.classifier.batch import Given, consult, learn_batch, refusal, vet
from selectron.classifier.inputs import shape
from selectron.classifier.labels import Labels
from selectron.classifier.machine import Machine, Stop
from selectron.classifier.tickets import Question, Tickets
from selectron.loop import DONE, Log
from selectron.numeric.arrays import Matrix, Signs
from selectron.numeric.rows import Rows

NO_FORECASTS = np.empty((0, 4))
SILENT = Log.of(0)


class Ask(NamedTuple):
    """Predictions, and which of the labels are worth asking for: an entry a row, or one row's."""

    labels: Any
    margins: Any
    probabilities: Any
    asked: Any
    tickets: Any  # the number of the question, -1 where none is asked


class Run:
    """What a fit begins and a partial_fit goes on with."""

    def __init__(self, machine: Machine, labels: Labels) -> None:
        self.machine = machine
        self.labels = labels
        self.tickets = Tickets()

    def teach(self, rows: Rows, y: Any, log: Log = SILENT) -> None:
        """Pass over rows with their labels in an array, or with an oracle to ask."""
        self.tickets.just_asked = None
        if callable(y):
            self._consult(rows, _oracle(y), log)
        elif self.labels.complete:
            given = Given(y, self.labels.classes)
            learn_batch(self.machine, rows, self.labels.signs(y), log, given=given)
        else:
            self._consult(rows, lambda t: y[t], log)

    def ask(self, rows: Rows) -> Ask:
        self.tickets.just_asked = None
        self.look_for_overdue()
        n, first = shape(rows)[0], self.machine.n_seen
        log = Log.of(n)
        learn_batch(self.machine, rows, np.ones(n, np.int8), log, teach=False)
        tickets = self.tickets.issue(rows, log.forecasts, log.probabilities, log.asked, first)
        margins = log.forecasts[:, 0].copy()
        return Ask(self.labels.names(margins), margins, log.probabilities, log.asked, tickets)

    def look_for_overdue(self) -> None:
        """Let the query rule know how many questions are hardly waited for any more."""
        if self.tickets.look_for_overdue(self.machine.n_seen):
            self.machine.overlook(self.tickets.n_overdue)

    def tell(self, answers: list[tuple[Any, Any]]) -> int:
        """Learn answers to questions; all tickets and labels are checked before any is learnt."""
        labels = self.labels.copy()
        lessons = [(t, self.tickets.question(t), labels.sign(label)) for t, label in answers]
        self.labels.classes = labels.classes
        learnt = 0
        for ticket, question, sign in lessons:
            if question is not None and int(ticket) in self.tickets.waiting:
                rows = question.rows(self.machine.d)
                self.lesson(
                    rows, np.array([sign], np.int8), question.forecast[np.newaxis], fresh=False
                )
                self.enter_answer(question, sign)
                self.tickets.answer(ticket, self.machine.n_seen)
                learnt += 1
        return learnt

    def enter_answer(self, question: Question, sign: float) -> None:
        """Let the estimate of the error know the answer, if there is one."""
        if self.machine.ledger is not None:
            self.machine.ledger.answer(question.round, question.forecast[0], sign)

    def forget(self, tickets: Iterable[Any]) -> int:
        """Give up questions that still wait, and return how many there were."""
        still = {int(t): question for t in tickets if (question := self.tickets.question(t))}
        for ticket, question in still.items():
            self.tickets.settle(ticket)
            if self.machine.ledger is not None:
                self.machine.ledger.give_up(question.round)
        self.machine.give_up(len(still))
        return len(still)

    def lesson(self, rows: Rows, signs: Signs, asked_with: Matrix, *, fresh: bool) -> None:
        """Learn labels that come outside a pass."""
        status = self.machine.lesson(rows, signs, asked_with, fresh=fresh)
        if status != DONE:
            raise refusal(self.machine, rows, Stop(0, status))

    def _consult(self, rows: Rows, label_of: Callable[[int], Any], log: Log) -> None:
        vet(self.machine, rows)
        consult(self.machine, rows, lambda t: self.labels.sign(label_of(t)), log)


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
