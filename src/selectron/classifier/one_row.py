"""One row at a time, with as little between the caller and the kernel as can be.

The kernels are called at raw entry points and look at the row themselves: at its type, shape and
strides. One that is not exactly as they were made for is converted first.
"""

from collections.abc import Callable
from math import nan
from typing import Any, NamedTuple

import numpy as np

from selectron.classifier.machine import PASSED
from selectron.classifier.row_forms import Bench, Form
from selectron.classifier.run import Ask, Run
from selectron.classifier.tickets import Question
from selectron.compiler.handles import Handle, handle
from selectron.forecasts import MANY, TWO
from selectron.numeric.coins import coins
from selectron.single import (
    compiled_ask,
    compiled_learn,
    compiled_predict,
    entry_point,
    row_digest,
)

COINS_AHEAD = 1024


class Owner(NamedTuple):
    """The estimator, and its way to learn once a class has joined."""

    estimator: Any
    learn: Callable[[Any, Any], Any]


class OneRow(NamedTuple):
    """Predict, ask and learn single rows, dense or sparse, with one learner."""

    predict: Callable[[Any], Any]
    ask: Callable[[Any], Ask]
    learn: Callable[[Any, Any], Any]


class Work(NamedTuple):
    """What the three are made of."""

    bench: Bench
    handle: Handle
    bodies: str

    @classmethod
    def for_rows_like(cls, run: Run, x: Any) -> "Work":
        bench = Bench.for_rows_like(run, x)
        return cls(bench, handle(bench.subject), row_digest(run.machine.learner))

    def entry(self, compiled: Callable[[str], Any], *rest: Any) -> Callable[..., float]:
        kernel: Callable[..., float] = entry_point(compiled(self.bodies), self.handle, *rest)
        return kernel

    def convert(self, kernel: Any) -> Callable[..., Any]:
        """Return a function that converts a row, gives it to the kernel, or refuses it.

        The kernel answers NaN, and has changed nothing, if a row does not lie as it should.
        """
        bench, handle = self.bench, self.handle

        def hand_over(x: Any, *rest: Any) -> Any:
            values, columns = bench.read(x)
            margin = kernel(handle, values, columns, *rest)
            if margin != margin:
                raise bench.refusal(values)
            return margin

        return hand_over


def one_row(run: Run, like: Any, owner: Owner) -> OneRow:
    """Bind the kernels to the learner, for rows of the class of this one.

    Each is compiled when it is first called: who only learns does not wait for the other two.
    """
    work = Work.for_rows_like(run, like)
    predict = _predictor(work)
    return OneRow(predict, _asker(work), _learner(work, owner, predict))


def _predictor(work: Work) -> Callable[[Any], Any]:
    bench, handle = work.bench, work.handle
    dense, csr, whole = bench.form is Form.DENSE, bench.form is Form.CSR, (1, bench.d)
    labels, many = bench.run.labels, bench.run.machine.many
    kernel: Callable[..., float]

    def first(*row: Any) -> float:
        nonlocal kernel
        kernel = work.entry(compiled_predict)
        return kernel(*row)

    kernel = first
    side_of = work.convert(lambda *row: kernel(*row))

    def predict(x: Any) -> Any:
        # The usual row goes straight to the kernel, which looks at it: a call more is a tenth of
        # the whole, and scipy's `shape` is such a call.
        if dense:
            side = kernel(handle, x, None)
        elif csr and x._shape == whole:
            side = kernel(handle, x.data, x.indices)
        else:
            side = nan
        if side != side:
            side = side_of(x)
        names = labels.names_by_side
        if many:
            return names[int(side)]
        if not names:
            return None
        return names[1] if side > 0.0 else names[0]

    return predict


def _learner(work: Work, owner: Owner, look: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    bench, handle = work.bench, work.handle
    dense, csr, whole = bench.form is Form.DENSE, bench.form is Form.CSR, (1, bench.d)
    machine, labels, tickets = bench.run.machine, bench.run.labels, bench.run.tickets
    run, remembers = bench.run, bench.run.remembers
    estimator = owner.estimator
    kernel: Callable[..., float]

    def first(*row: Any) -> float:
        nonlocal kernel
        kernel = work.entry(compiled_learn, 1.0, True)
        return kernel(*row)

    kernel = first
    teach = work.convert(lambda *row: kernel(*row))

    def learn(x: Any, y: Any) -> Any:
        try:
            code = labels.codes_by_name[y]
        except (KeyError, TypeError):  # a new class, or not a label at all
            if not labels.knows(y):
                look(x)  # a row that is refused must not leave its class behind
            if tickets.just_asked is not None and run.begins_anew(y):
                ticket = tickets.answered_by(x, bench.read)
                if ticket is not None:
                    estimator.tell(ticket, y)
                    return estimator
            code = run.admit(y)
            if run.machine is not machine:
                return owner.learn(x, y)
        ticket = tickets.just_asked
        if ticket is not None:
            ticket = tickets.answered_by(x, bench.read)
        new = ticket is None
        if dense:
            margin = kernel(handle, x, None, code, new)
        elif csr and x._shape == whole:
            margin = kernel(handle, x.data, x.indices, code, new)
        else:
            margin = nan
        if margin != margin:
            teach(x, code, new)
        if remembers and labels.open:
            usual = dense and margin == margin
            values, columns = (x.copy(), None) if usual else bench.kept(x)
            run.memory.keep(values, columns, code)
        if new:
            machine.n_seen += 1
            machine.n_asked += 1
            tickets.just_asked = None
        elif ticket is not None:
            bench.run.enter_answer(tickets.waiting[ticket], code)
            tickets.answer(ticket, machine.n_seen)
        return estimator

    return learn


def _asker(work: Work) -> Callable[[Any], Ask]:
    bench, handle = work.bench, work.handle
    dense, csr, whole = bench.form is Form.DENSE, bench.form is Form.CSR, (1, bench.d)
    machine, labels, tickets = bench.run.machine, bench.run.labels, bench.run.tickets
    toss, told = _Coins(bench.run), np.zeros((MANY if machine.many else TWO) + 1)
    ledger = machine.ledger
    kernel: Callable[..., float]

    def first(*row: Any) -> float:
        nonlocal kernel
        kernel = work.entry(compiled_ask, 0.5, told)
        return kernel(*row)

    kernel = first
    play = work.convert(lambda *row: kernel(*row))

    def ask(x: Any) -> Ask:
        if tickets.fresh_from < tickets.n_asked:
            bench.run.look_for_overdue()
        stopped = ledger is not None and ledger.caught_up(machine.n_seen).met_at is not None
        coin = PASSED if stopped else toss()
        if dense:
            side = kernel(handle, x, None, coin, told)
        elif csr and x._shape == whole:
            side = kernel(handle, x.data, x.indices, coin, told)
        else:
            side = nan
        if side != side:
            side = play(x, coin, told)
        margin, probability = float(told[0]), 0.0 if stopped else float(told[-1])
        asked = coin < probability
        ticket = -1
        if asked:
            question = Question(*bench.kept(x), told[:-1].copy(), probability, machine.n_seen)
            ticket = tickets.keep(question)
        if ledger is not None:
            ledger.enter_one(probability, asked=asked)
        machine.n_seen += 1
        machine.n_asked += asked
        tickets.just_asked = ticket if asked else None
        names = labels.names_by_side
        name = names[int(side) if machine.many else side > 0.0] if names else None
        return Ask(name, margin, probability, asked, ticket)

    return ask


class _Coins:
    """The coins of the rounds to come, some ahead."""

    def __init__(self, run: Run) -> None:
        self.machine = run.machine
        self.ahead: list[float] = []
        self.first = 0

    def __call__(self) -> float:
        k = self.machine.n_seen - self.first
        if not 0 <= k < len(self.ahead):
            self.first, k = self.machine.n_seen, 0
            self.ahead = coins(self.machine.seed, self.first, COINS_AHEAD).tolist()
        return self.ahead[k]
