"""One row at a time, with as little between the caller and the kernel as can be.

The kernels are called at raw entry points, which do not look at the types of their arguments. So a
row is handed over only if its type, shape and strides are exactly those they were made for; any
other is converted first.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from selectron.classifier.inputs import all_finite
from selectron.classifier.run import Ask, Run
from selectron.numeric.arrays import Vector
from selectron.numeric.coins import coins
from selectron.numeric.rows import Csr, Dense
from selectron.single import compiled_ask, compiled_learn, compiled_predict, entry_point

COINS_AHEAD = 1024


class OneRow(NamedTuple):
    """Predict, ask and learn single rows, dense or sparse, with one learner."""

    predict: Callable[[Any], Any]
    ask: Callable[[Any], Ask]
    learn: Callable[[Any, Any], None]


class Bench(NamedTuple):
    """What the three of them share: the learner, room for a row, and the layout rows must have."""

    run: Run
    room: Any
    example: Vector

    @property
    def sparse(self) -> bool:
        return isinstance(self.room, Csr)

    @property
    def state(self) -> tuple[Any, Vector, Any]:
        return self.run.machine.learner, self.run.machine.numbers, self.room

    @property
    def layout(self) -> tuple[Any, Any, Any]:
        return self.example.shape, self.example.strides, self.example.dtype

    def take(self, x: Any) -> Vector:
        """Return the row in the layout of the example, or put a sparse one into the room."""
        if not self.sparse:
            return _dense(x, self.run.machine.d, self.example.dtype)
        _fill(self.room, x)
        return self.example

    def refusal(self, x: Any) -> ValueError:
        rows = self.room if self.sparse else Dense(np.atleast_2d(x))
        if not all_finite(rows):
            return ValueError("Input X contains NaN or infinity: drop or impute such rows first")
        return ValueError(
            f"{self.run.machine.rules.update.label} cannot read this row: it has norm 0, numbers "
            "too large, or columns out of range"
        )


def one_row(run: Run, *, sparse: bool) -> OneRow:
    """Bind the kernels to the learner; its arrays stay where they are."""
    d, dtype = run.machine.d, run.machine.dtype
    room: Any = Dense(np.zeros((1, 1), dtype))
    if sparse:
        room = Csr(np.zeros(d, dtype), np.zeros(d, np.uint32), np.zeros(2, np.int64), d)
    bench = Bench(run, room, np.zeros(0 if sparse else d, dtype))
    return OneRow(_predictor(bench), _asker(bench), _learner(bench))


def _predictor(bench: Bench) -> Callable[[Any], Any]:
    learner, numbers, room = bench.state
    shape, strides, dtype = bench.layout
    labels = bench.run.labels
    kernel = entry_point(
        compiled_predict(bench.run.machine.bodies), learner, numbers, room, bench.example
    )

    def predict(x: Any) -> Any:
        try:
            if x.shape != shape or x.strides != strides or x.dtype is not dtype:
                x = bench.take(x)
        except AttributeError:
            x = bench.take(x)
        margin = kernel(learner, numbers, room, x)
        if margin - margin != 0.0:
            raise bench.refusal(x)
        names = labels.names_by_side
        return names[margin > 0.0] if names else None

    return predict


def _learner(bench: Bench) -> Callable[[Any, Any], None]:
    learner, numbers, room = bench.state
    shape, strides, dtype = bench.layout
    machine, labels, tickets = bench.run.machine, bench.run.labels, bench.run.tickets
    kernel = entry_point(
        compiled_learn(machine.bodies), learner, numbers, room, bench.example, 1.0, True
    )

    def learn(x: Any, y: Any) -> None:
        try:
            if x.shape != shape or x.strides != strides or x.dtype is not dtype:
                x = bench.take(x)
        except AttributeError:
            x = bench.take(x)
        sign = labels.signs_by_name.get(y) or labels.sign(y)
        ticket = tickets.just_asked
        margin = kernel(learner, numbers, room, x, sign, ticket is None)
        if margin - margin != 0.0:
            raise bench.refusal(x)
        if ticket is None:
            machine.n_seen += 1
            machine.n_asked += 1
        else:
            tickets.settle(ticket)
            tickets.just_asked = None

    return learn


def _asker(bench: Bench) -> Callable[[Any], Ask]:
    learner, numbers, room = bench.state
    shape, strides, dtype = bench.layout
    machine, labels, tickets = bench.run.machine, bench.run.labels, bench.run.tickets
    toss, told = _Coins(bench.run), np.zeros(5)
    kernel = entry_point(
        compiled_ask(machine.bodies), learner, numbers, room, bench.example, 0.5, told
    )

    def ask(x: Any) -> Ask:
        try:
            if x.shape != shape or x.strides != strides or x.dtype is not dtype:
                x = bench.take(x)
        except AttributeError:
            x = bench.take(x)
        coin = toss()
        margin = kernel(learner, numbers, room, x, coin, told)
        if margin - margin != 0.0:
            raise bench.refusal(x)
        probability = float(told[4])
        asked = coin < probability
        ticket = -1
        if asked:
            rows = room if bench.sparse else Dense(x[np.newaxis])
            ticket = tickets.issue_one(rows, told[:4], probability, machine.n_seen)
        machine.n_seen += 1
        machine.n_asked += asked
        tickets.just_asked = ticket if asked else None
        names = labels.names_by_side
        return Ask(names[margin > 0.0] if names else None, margin, probability, asked, ticket)

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


def _dense(x: Any, d: int, dtype: Any) -> Vector:
    row = np.ascontiguousarray(x, dtype)
    if row.shape == (1, d):
        row = row[0]
    if row.shape != (d,):
        raise ValueError(f"a row of {d} features is expected, got shape {np.shape(x)}")
    return row


def _fill(room: Csr, x: Any) -> None:
    n, d = len(x.data), room.width
    if x.shape[-1] != d or (x.ndim == 2 and x.shape[0] != 1) or n > d:
        raise ValueError(f"a row of {d} features is expected, got shape {x.shape}")
    room.values[:n] = x.data
    room.indices[:n] = x.indices
    room.starts[1] = n
