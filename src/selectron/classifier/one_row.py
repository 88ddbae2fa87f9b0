"""One row at a time, with as little between the caller and the loop as can be.

The loops for one row are called at raw entry points and look at the row themselves: at its type,
shape and strides. A row that is not exactly as they were compiled for is converted first. Where
there is no such loop (kernels, several labels a row, learners of others), a row is a batch of one.
So are the first few rows of every learner: who has no more does not wait until loops are compiled.
"""

from collections.abc import Callable
from math import nan
from typing import Any, NamedTuple

import numpy as np

from selectron.arrays import Given, Table
from selectron.classifier.labels import read_labels
from selectron.classifier.multilabel import AnyRun
from selectron.classifier.rows import Form, RowReader
from selectron.classifier.run import PASSED, AskOne, Run
from selectron.classifier.tickets import Question
from selectron.compiler.handles import handle
from selectron.loop import NEW, OLD, QUESTION, Kernel, Subject, entry_point, play_row, predict_row
from selectron.numeric.coins import coins
from selectron.numeric.rows import row_columns, row_values
from selectron.protocol import MANY, TWO

COINS_AHEAD = 1024
FIRST_CALLS = 16  # are batches of one


class OneRow(NamedTuple):
    """Predict, ask and learn single rows of one class of objects, with one learner."""

    predict: Callable[[Table], Given]
    ask: Callable[[Table], AskOne]
    learn: Callable[[Table, Given], object]


def batch_of_one(run: AnyRun, like: Table) -> OneRow:
    """Return methods that take one row as a batch of one: for kernels, or several labels a row."""
    machine = run.machine
    reader = RowReader.like(like, machine.d, machine.dtype, machine.rules.update.label)

    def predict(x: Table) -> Given:
        return run.name_one(reader.table(x))

    def ask(x: Table) -> AskOne:
        with run.lock:
            label, margin, odds, asked, ticket = (part[0] for part in run.ask(reader.table(x)))
            run.tickets.just_asked = int(ticket) if asked else None
        margin = margin if np.ndim(margin) else float(margin)
        return AskOne(label, margin, float(odds), bool(asked), int(ticket))

    def learn(x: Table, y: Given) -> None:
        with run.lock:
            rows = reader.table(x)
            if run.arrived:  # an oracle failed when it was asked for the label of this row
                run.teach(rows, read_labels([y], 1))
                return
            ticket = run.tickets.answered_by(row_values(rows).reshape(-1), row_columns(rows))
            if ticket is None:
                run.learn_new(rows, y)
            elif y is None:
                raise ValueError("a label is needed here, got None")
            else:
                run.tell([(ticket, y)])

    return OneRow(predict, ask, learn)


class Thin:
    """One machine, one form of rows, and the handle by which the loops find the learner."""

    def __init__(self, run: Run, like: Table) -> None:
        machine = run.machine
        self.run, self.machine, self.labels = run, machine, run.labels
        self.reader = RowReader.like(like, machine.d, machine.dtype, machine.rules.update.label)
        self.told = np.zeros((MANY if machine.n_classes > 2 else TWO) + 1)
        states = machine.states
        self.handle = handle(Subject(states.tree, states.numbers, self.reader.layout(), self.told))

    def convert(self, loop: Kernel) -> Kernel:
        """Return what converts a row and hands it to the loop, or refuses it.

        The loop answers NaN, and has changed nothing, if a row does not lie as it should.
        """
        reader, handle = self.reader, self.handle

        def hand_over(x: Table, *rest: float) -> Any:
            row = reader.read(x)
            margin = loop(handle, *row, *rest)
            if margin != margin:
                raise reader.refusal(row[0])
            return margin

        return hand_over


def thin_row(run: Run, like: Table, estimator: Any) -> OneRow:
    """Bind the loops for one row to the learner, for rows of the class of this one.

    A loop is compiled when it is first called: who only learns does not wait for the others.
    The usual row goes straight to the loop, which looks at it: one call more is a tenth of the
    whole, and scipy's `shape` is such a call. Each method is written out for that reason.
    """
    thin = Thin(run, like)
    predict = _predictor(thin)
    return OneRow(predict, _asker(thin, estimator), _learner(thin, estimator, predict))


def _predictor(thin: Thin) -> Callable[[Table], Given]:
    reader, handle = thin.reader, thin.handle
    dense, csr, whole = reader.form is Form.DENSE, reader.form is Form.CSR, (1, reader.d)
    names, many = thin.labels.names_by_side, thin.machine.n_classes > 2
    loop: Kernel

    def first(*row: object) -> Any:
        nonlocal loop
        loop = entry_point(predict_row, thin.machine.states, handle)
        return loop(*row)

    loop = first
    side_of = thin.convert(lambda *row: loop(*row))

    def predict(x: Table) -> Given:
        if dense:
            side = loop(handle, x, None, None)
        elif csr and x._shape == whole:
            side = loop(handle, x.data, x.indices, x.indptr)
        else:
            side = nan
        if side != side:
            side = side_of(x)
        if many:
            return names[int(side)]
        if not names:
            return None
        return names[1] if side > 0.0 else names[0]

    return predict


def _learner(
    thin: Thin, estimator: Any, look: Callable[[Table], Given]
) -> Callable[[Table, Given], object]:
    reader, handle, run, labels = thin.reader, thin.handle, thin.run, thin.labels
    dense, csr, whole = reader.form is Form.DENSE, reader.form is Form.CSR, (1, reader.d)
    remembers, codes = run.remembers, labels.codes_by_name
    acquire, release = run.lock.acquire, run.lock.release  # half the price of `with`
    loop: Kernel

    def first(*row: object) -> Any:
        nonlocal loop
        loop = entry_point(play_row, thin.machine.states, handle, 1.0, NEW)
        return loop(*row)

    loop = first
    teach = thin.convert(lambda *row: loop(*row))

    def learn(x: Table, y: Given) -> object:
        acquire()
        try:
            try:
                code = codes[y]
            except (KeyError, TypeError):  # a new class, or not a label at all
                return estimator._learn_class(x, y, look)
            if run.labels is not labels:  # a class has joined in another thread
                return estimator._bind(x).learn(x, y)
            tickets = run.tickets
            ticket = tickets.just_asked
            if ticket is not None:
                ticket = tickets.answered_by(*reader.read(x)[:2])
            kind = NEW if ticket is None else OLD
            if dense:
                margin = loop(handle, x, None, None, code, kind)
            elif csr and x._shape == whole:
                margin = loop(handle, x.data, x.indices, x.indptr, code, kind)
            else:
                margin = nan
            if margin != margin:
                teach(x, code, kind)
            if remembers:
                usual = dense and margin == margin
                values, columns = (x.copy(), None) if usual else reader.kept(x)
                run.memory.keep(values, columns, code)
            if ticket is None:
                run.rounds += 1
                run.n_asked += 1
                tickets.just_asked = None
            else:
                run.enter_answer(tickets.waiting[ticket], code)
                tickets.answer(ticket, run.rounds)
        finally:
            release()
        return estimator

    return learn


def _asker(thin: Thin, estimator: Any) -> Callable[[Table], AskOne]:
    reader, handle, run, labels = thin.reader, thin.handle, thin.run, thin.labels
    dense, csr, whole = reader.form is Form.DENSE, reader.form is Form.CSR, (1, reader.d)
    many, names = thin.machine.n_classes > 2, labels.names_by_side
    acquire, release = run.lock.acquire, run.lock.release
    toss, told, item = _Coins(run), thin.told, thin.told.item
    new = tuple.__new__  # a third of the price of the constructor
    ledger = run.ledger
    loop: Kernel

    def first(*row: object) -> Any:
        nonlocal loop
        loop = entry_point(play_row, thin.machine.states, handle, 0.5, QUESTION)
        return loop(*row)

    loop = first
    play = thin.convert(lambda *row: loop(*row))

    def ask(x: Table) -> AskOne:
        acquire()
        try:
            if run.labels is not labels:  # a class has joined in another thread
                answer: AskOne = estimator._bind(x).ask(x)
                return answer
            tickets = run.tickets
            if tickets.fresh_from < tickets.n_asked:
                run.find_overdue()
            stopped = ledger is not None and ledger.caught_up(run.rounds).met_at is not None
            if ledger is not None:
                run.shape_odds()
            coin = PASSED if stopped else toss()
            if dense:
                side = loop(handle, x, None, None, coin, QUESTION)
            elif csr and x._shape == whole:
                side = loop(handle, x.data, x.indices, x.indptr, coin, QUESTION)
            else:
                side = nan
            usual = dense and side == side
            if side != side:
                side = play(x, coin, QUESTION)
            margin, odds = item(0), 0.0 if stopped else item(-1)
            asked = coin < odds
            ticket = -1
            if asked:
                values, columns = (x.copy(), None) if usual else reader.kept(x)
                ticket = tickets.keep(Question(values, columns, told.copy(), run.rounds))
            if ledger is not None:
                ledger.enter_one(told, odds, asked=asked)
            run.rounds += 1
            run.n_asked += asked
            tickets.just_asked = ticket if asked else None
        finally:
            release()
        name = names[int(side) if many else side > 0.0] if names else None
        return new(AskOne, (name, margin, odds, asked, ticket))

    return ask


class _Coins:
    """The coins of the rounds to come, some ahead."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.ahead: list[float] = []
        self.first = 0

    def __call__(self) -> float:
        k = self.run.rounds - self.first
        if not 0 <= k < len(self.ahead):
            self.first, k = self.run.rounds, 0
            self.ahead = coins(self.run.machine.seed, self.first, COINS_AHEAD).tolist()
        return self.ahead[k]
