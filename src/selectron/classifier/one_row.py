"""One row at a time, with as little between the caller and the kernel as can be.

The kernels are called at raw entry points, which do not look at the types of their arguments. So a
row is handed over only if its type, shape and strides are exactly those they were made for; any
other is converted first.
"""

from collections.abc import Callable
from math import nan
from typing import Any, NamedTuple

import numpy as np

from selectron.classifier.machine import PASSED
from selectron.classifier.row_forms import COLUMN, NO_COLUMNS, Bench, Form
from selectron.classifier.run import Ask, Run
from selectron.classifier.tickets import Question
from selectron.forecasts import MANY, TWO
from selectron.numeric.coins import coins
from selectron.single import compiled_ask, compiled_learn, compiled_predict

COINS_AHEAD = 1024


class Owner(NamedTuple):
    """The estimator, and its ways for rows of another class, or once a class has joined."""

    estimator: Any
    predict: Callable[[Any], Any]
    learn: Callable[[Any, Any], Any]


class OneRow(NamedTuple):
    """Predict, ask and learn single rows, dense or sparse, with one learner."""

    predict: Callable[[Any], Any]
    ask: Callable[[Any], Ask]
    learn: Callable[[Any, Any], Any]


def one_row(run: Run, like: Any, owner: Owner) -> OneRow:
    """Bind the kernels to the learner, for rows of the class of this one."""
    bench = Bench.for_rows_like(run, like)
    kind = like.__class__
    predict = _predictor(bench, kind, owner)
    return OneRow(predict, _asker(bench), _learner(bench, kind, owner, predict))


def _handed_over(bench: Bench, kernel: Any) -> Callable[..., Any]:
    """Return a function that converts a row, gives it to the kernel, and refuses it if it must.

    The kernel answers NaN, and has changed nothing, if a row does not lie as it should.
    """
    learner, numbers, layout = bench.state

    def hand_over(x: Any, *rest: Any) -> Any:
        values, columns = bench.read(x)
        margin = kernel(learner, numbers, layout, values, columns, *rest)
        if margin != margin:
            raise bench.refusal(values)
        return margin

    return hand_over


def _predictor(bench: Bench, kind: Any, owner: Owner) -> Callable[[Any], Any]:
    learner, numbers, layout = bench.state
    dtype, whole = bench.dtype, (1, layout.d)
    dense, csr = kind is np.ndarray, bench.form is Form.CSR
    labels = bench.run.labels
    kernel = bench.entry(compiled_predict(bench.run.machine.bodies))
    side_of = _handed_over(bench, kernel)

    def predict_many(x: Any) -> Any:
        return labels.names_by_side[int(side_of(x))]

    def predict(x: Any) -> Any:
        # The usual row goes straight to the kernel: one more call is a tenth of the whole, and
        # scipy's `shape` is such a call.
        margin = nan
        if dense:
            if x.dtype is dtype and x.ndim == 1:
                margin = kernel(learner, numbers, layout, x, NO_COLUMNS)
        elif csr:
            values, columns = x.data, x.indices
            if values.dtype is dtype and columns.dtype is COLUMN and x._shape == whole:
                margin = kernel(learner, numbers, layout, values, columns)
        if margin != margin:
            margin = side_of(x)
        names = labels.names_by_side
        return names[margin > 0.0] if names else None

    return predict_many if bench.run.machine.many else predict


def _learner(
    bench: Bench, kind: Any, owner: Owner, look: Callable[[Any], Any]
) -> Callable[[Any, Any], Any]:
    learner, numbers, layout = bench.state
    dtype, whole = bench.dtype, (1, layout.d)
    dense, csr = kind is np.ndarray, bench.form is Form.CSR
    machine, labels, tickets = bench.run.machine, bench.run.labels, bench.run.tickets
    kernel = bench.entry(compiled_learn(machine.bodies), 1.0, True)
    teach = _handed_over(bench, kernel)
    run, remembers = bench.run, bench.run.remembers
    estimator = owner.estimator

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
        margin, new = nan, ticket is None
        if dense:
            if x.dtype is dtype and x.ndim == 1:
                margin = kernel(learner, numbers, layout, x, NO_COLUMNS, code, new)
        elif csr:
            values, columns = x.data, x.indices
            if values.dtype is dtype and columns.dtype is COLUMN and x._shape == whole:
                margin = kernel(learner, numbers, layout, values, columns, code, new)
        usual = margin == margin
        if not usual:
            teach(x, code, new)
        if remembers and labels.open:
            kept: tuple[Any, Any] = (x.copy(), None) if usual and dense else bench.kept(x)
            run.memory.keep(*kept, code)
        if new:
            machine.n_seen += 1
            machine.n_asked += 1
            tickets.just_asked = None
        elif ticket is not None:
            bench.run.enter_answer(tickets.waiting[ticket], code)
            tickets.answer(ticket, machine.n_seen)
        return estimator

    return learn


def _asker(bench: Bench) -> Callable[[Any], Ask]:
    machine, labels, tickets = bench.run.machine, bench.run.labels, bench.run.tickets
    toss, told = _Coins(bench.run), np.zeros((MANY if machine.many else TWO) + 1)
    ledger = machine.ledger
    play = _handed_over(bench, bench.entry(compiled_ask(machine.bodies), 0.5, told))

    def ask(x: Any) -> Ask:
        if tickets.fresh_from < tickets.n_asked:
            bench.run.look_for_overdue()
        stopped = ledger is not None and ledger.caught_up(machine.n_seen).met_at is not None
        coin = PASSED if stopped else toss()
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
