"""One row at a time, with as little between the caller and the kernel as can be."""

from typing import Any

import numpy as np

from selectron.classifier.inputs import all_finite
from selectron.classifier.run import Ask, Run
from selectron.numeric.arrays import Vector
from selectron.numeric.coins import coins
from selectron.numeric.rows import Csr, Dense, Rows
from selectron.single import compiled_ask, compiled_learn, compiled_predict, entry_point

COINS_AHEAD = 1024


class OneRow:
    """Predict, ask and learn single rows with one learner."""

    def __init__(self, run: Run, *, sparse: bool) -> None:
        machine = run.machine
        d, bodies = machine.d, machine.bodies
        self.run = run
        self.sparse = sparse
        self.open_ticket: int | None = None  # of the row just asked about
        self._dtype = machine.dtype
        self._x = np.zeros(0 if sparse else d, machine.dtype)
        self._layout = self._x.dtype, self._x.shape, self._x.strides
        self._room = _room(d, machine.dtype, sparse=sparse)
        self._told = np.zeros(5)
        self._coins: Vector = np.zeros(0)
        self._first_coin = 0
        state = machine.learner, machine.numbers, self._room
        self._state = state
        self._predict = entry_point(compiled_predict(bodies), *state, self._x)
        self._learn = entry_point(compiled_learn(bodies), *state, self._x, 1.0, True)
        self._ask = entry_point(compiled_ask(bodies), *state, self._x, 0.5, self._told)

    def predict(self, x: Any) -> Any:
        if type(x) is not np.ndarray or (x.dtype, x.shape, x.strides) != self._layout:
            x = self._taken(x)
        margin = self._predict(*self._state, x)
        if margin - margin != 0.0:
            self._refuse(x)
        names = self.run.labels.names_by_side
        return names[margin > 0.0] if names else None

    def learn(self, x: Any, y: Any) -> None:
        if type(x) is not np.ndarray or (x.dtype, x.shape, x.strides) != self._layout:
            x = self._taken(x)
        run = self.run
        sign = run.labels.signs_by_name.get(y) or run.labels.sign(y)
        ticket = self.open_ticket
        margin = self._learn(*self._state, x, sign, ticket is None)
        if margin - margin != 0.0:
            self._refuse(x)
        if ticket is None:
            run.machine.n_seen += 1
            run.machine.n_asked += 1
        else:
            run.tickets.settle(ticket)
            self.open_ticket = None

    def ask(self, x: Any) -> Ask:
        if type(x) is not np.ndarray or (x.dtype, x.shape, x.strides) != self._layout:
            x = self._taken(x)
        run, told = self.run, self._told
        coin = self._coin()
        margin = self._ask(*self._state, x, coin, told)
        if margin - margin != 0.0:
            self._refuse(x)
        probability = float(told[4])
        asked = coin < probability
        ticket = -1
        if asked:
            row = x[np.newaxis] if not self.sparse else self._room
            rows: Rows = Dense(row) if not self.sparse else row
            ticket = run.tickets.issue_one(rows, told[:4], probability, run.machine.n_seen)
        run.machine.n_seen += 1
        run.machine.n_asked += asked
        self.open_ticket = ticket if asked else None
        names = run.labels.names_by_side
        return Ask(names[margin > 0.0] if names else None, margin, probability, asked, ticket)

    def _coin(self) -> float:
        machine = self.run.machine
        ahead = machine.n_seen - self._first_coin
        if not 0 <= ahead < len(self._coins):
            self._first_coin, ahead = machine.n_seen, 0
            self._coins = coins(machine.seed, machine.n_seen, COINS_AHEAD)
        return float(self._coins[ahead])

    def _taken(self, x: Any) -> Any:
        """Return x as an array the kernels can read, or copy a sparse row into the room."""
        d = self.run.machine.d
        if not self.sparse:
            row = np.ascontiguousarray(x, self._dtype)
            if row.shape == (1, d):
                row = row[0]
            if row.shape != (d,):
                raise ValueError(f"a row of {d} features is expected, got shape {row.shape}")
            return row
        if x.shape[-1] != d or (x.ndim == 2 and x.shape[0] != 1) or len(x.data) > d:
            raise ValueError(f"a row of {d} features is expected, got shape {x.shape}")
        n = len(x.data)
        self._room.values[:n] = x.data
        self._room.indices[:n] = x.indices
        self._room.starts[1] = n
        return self._x

    def _refuse(self, x: Any) -> None:
        rows = self._room if self.sparse else Dense(np.atleast_2d(x))
        if not all_finite(rows):
            raise ValueError("Input X contains NaN or infinity: drop or impute such rows first")
        raise ValueError(
            f"{self.run.machine.rules.update.label} cannot read this row: it has norm 0, numbers "
            "too large, or columns out of order"
        )


def _room(d: int, dtype: Any, *, sparse: bool) -> Any:
    if sparse:
        return Csr(np.zeros(d, dtype), np.zeros(d, np.int32), np.zeros(2, np.int64), d)
    return Dense(np.zeros((1, d), dtype))
