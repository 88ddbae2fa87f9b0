"""Questions that wait for their answers.

A ticket is the number of the question: 0 for the first. Whatever was asked and is not waiting any
more has been answered or given up, so nothing grows with the number of questions but the rows that
still wait.
"""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Array, Indices, Label, Table, Vector
from selectron.numeric.rows import Rows, one_row, part, row_columns, row_values

# An answer is overdue after four times the usual wait, 200 rounds at least; 1,000 before the first.
WAITS, SHORTEST_WAIT, FIRST_WAIT = 4.0, 200.0, 1000.0


MOST_NUMBERS = 1 << 20  # in the rows of answers that can be corrected


class Question(NamedTuple):
    """A row whose label was asked, with what was forecast when it was asked."""

    values: Vector
    indices: Indices | None  # None: a dense row
    told: Vector  # margin, unit, norm, variance, of many classes best and second; the odds last
    round: int

    @classmethod
    def about(cls, rows: Rows, t: int, told: Vector, round_: int) -> "Question":
        """Return the question about row t."""
        mine = part(rows, t, t + 1)
        columns = row_columns(mine)
        columns = None if columns is None else columns.copy()
        return cls(row_values(mine).reshape(-1).copy(), columns, told.copy(), round_)

    def rows(self, d: int) -> Rows:
        """Return the row as a table of one."""
        return one_row(self.values, self.indices, d)

    def of_many(self) -> "Question":
        """Return the question of two classes as one of many."""
        margin, *rest, odds = self.told
        best = float(margin > 0.0)
        return self._replace(told=np.array([abs(margin), *rest, best, 1.0 - best, odds]))


class Waiting(NamedTuple):
    """A question that waits for its answer, as a user sees it."""

    ticket: int
    row: Table  # the numbers; of a sparse row, a CSR array of one row
    guess: Label  # the class that was predicted, None if none was known
    odds: float  # with which it was asked
    round: int  # in which it was asked
    age: int  # rounds since


@dataclass
class Tickets:
    """The questions that wait, by number, and how many were ever asked."""

    n_asked: int = 0
    waiting: dict[int, Question] = field(default_factory=dict)
    just_asked: int | None = None  # by `ask_one`, whose answer may come without its number
    answers: int = 0
    rounds_waited: int = 0  # by all answers together
    fresh_from: int = 0  # questions before this one are overdue
    n_overdue: int = 0  # of those that still wait
    answered: dict[int, tuple[Question, float]] = field(default_factory=dict)  # not in files

    def copy(self) -> "Tickets":
        return replace(self, waiting=self.waiting.copy(), answered=self.answered.copy())

    def issue(
        self, rows: Rows, told: Array, asked: NDArray[np.bool_], first_round: int
    ) -> NDArray[np.int64]:
        """Number the questions of a batch, all or none; -1 for the rows that were not asked."""
        tickets, first = np.full(len(asked), -1, np.int64), self.n_asked
        try:
            for t in np.flatnonzero(asked).tolist():
                tickets[t] = self.keep(Question.about(rows, t, told[t], first_round + t))
        except BaseException:
            for number in range(first, self.n_asked + 1):
                self.waiting.pop(number, None)
            self.n_asked = first
            raise
        return tickets

    def keep(self, question: Question) -> int:
        """Let a question wait, and return its number."""
        number = self.n_asked
        self.waiting[number] = question
        self.n_asked += 1
        return number

    def question(self, ticket: object) -> Question | None:
        """Return the question that waits under this number, None if it was settled."""
        number = _number(ticket)
        if not 0 <= number < self.n_asked:
            raise ValueError(
                f"unknown ticket {ticket!r}: "
                + (
                    f"tickets run from 0 to {self.n_asked - 1}"
                    if self.n_asked
                    else "none was issued"
                )
                + ("; -1 marks a row that was not asked" if number == -1 else "")
            )
        return self.waiting.get(number)

    def asked_before(self, round_: int) -> list[int]:
        """List the questions that wait since before this round."""
        return [ticket for ticket, asked in self.waiting.items() if asked.round < round_]

    def find_overdue(self, now: int) -> bool:
        """Find the questions that have waited far longer than usual; tell whether any is new."""
        usual = self.rounds_waited / self.answers if self.answers else FIRST_WAIT / WAITS
        latest = now - max(SHORTEST_WAIT if self.answers else 0.0, WAITS * usual)
        before = self.n_overdue
        while self.fresh_from < self.n_asked:
            question = self.waiting.get(self.fresh_from)
            if question is not None and question.round >= latest:
                break
            self.n_overdue += question is not None
            self.fresh_from += 1
        return self.n_overdue != before

    def keep_answer(self, ticket: int, code: float) -> None:
        """Keep the latest answers, for corrections: 2²⁰ numbers in all."""
        self.answered[ticket] = self.waiting[ticket], code
        room = MOST_NUMBERS // max(1, len(self.waiting[ticket].values))
        while len(self.answered) > room:
            del self.answered[next(iter(self.answered))]

    def answer(self, ticket: object, now: int) -> None:
        """Settle a question that was answered."""
        self.answers += 1
        self.rounds_waited += now - self.waiting[_number(ticket)].round
        self.settle(ticket)

    def answered_at_once(self, n: int) -> None:
        """Count n questions about rows at hand that were answered as soon as they were asked."""
        self.n_asked += n
        self.answers += n
        self.rounds_waited += n

    def settle(self, ticket: object) -> None:
        number = _number(ticket)
        if self.waiting.pop(number, None) is not None and number < self.fresh_from:
            self.n_overdue -= 1
        if self.just_asked == ticket:
            self.just_asked = None

    def answered_by(self, values: Vector, columns: Indices | None) -> int | None:
        """Return the question just asked if it was about this row.

        That it was just asked is forgotten by whoever learns a row, not here: a row that is refused
        must change nothing.
        """
        ticket = self.just_asked
        question = self.waiting.get(ticket) if ticket is not None else None
        if question is None:
            return None
        same = np.array_equal(values, question.values)
        if columns is not None and question.indices is not None:
            same = same and np.array_equal(columns, question.indices)
        return ticket if same else None


def _number(ticket: object) -> int:
    if isinstance(ticket, bool) or not isinstance(ticket, int | np.integer):
        raise ValueError(f"unknown ticket {ticket!r}: a ticket is a whole number")
    return int(ticket)
