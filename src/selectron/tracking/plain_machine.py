"""Learners of any make at work: the rounds of the compiled loop, one row at a time in Python."""

from copy import deepcopy
from typing import Any

import numpy as np

from selectron.arrays import Matrix, Signs, Vector
from selectron.classifier.batch import TAME
from selectron.classifier.inputs import part, shape
from selectron.classifier.machine import Machine, Stop
from selectron.classifier.rules import Rules
from selectron.experts import Mixture
from selectron.loop import DONE, LABEL_NEEDED, LABEL_UNKNOWN, NOT_FINITE, UNKNOWN, UPDATED, Log
from selectron.numeric.coins import coins
from selectron.numeric.rows import Csr, DenseRow, Rows
from selectron.protocol import Forecast, advance, ask_probability, expire, mark_overdue, observe
from selectron.tracking.adapters import FrozenLearner, Member
from selectron.tracking.rounds import Diary
from selectron.tracking.vote import vote, write_losses


class PlainMachine(Machine):
    """Members behind one interface, a mixture that weighs them, and coins from a seed."""

    def __init__(
        self,
        rules: Rules,
        mixture: Mixture,
        members: list[Member],
        d: int,
        dtype: np.dtype[Any],
        seed: int,
    ) -> None:
        self.rules, self.mixture, self.members = rules, mixture, members
        self.d, self.dtype, self.seed = d, dtype, seed
        self.n_seen, self.n_asked, self.waits = 0, 0, False
        self.query = rules.query.begin(d)
        self.diary = Diary.of(0, mixture.n)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.mixture = type(self.mixture).from_state(self.mixture.state())  # own arrays again

    def snapshot(self) -> Any:
        counts = self.n_seen, self.n_asked
        # A frozen one never changes, and a copy of it would read a copy of the run's labels.
        members = [m if isinstance(m, FrozenLearner) else deepcopy(m) for m in self.members]
        return members, self.mixture.state(), self.query, counts

    def restore(self, snapshot: Any) -> None:
        self.members, mixture, self.query, (self.n_seen, self.n_asked) = snapshot
        self.mixture = type(self.mixture).from_state(mixture)

    def outweighs(self, rows: Rows) -> bool:
        return True  # copying learners of any make may cost anything

    def give_up(self, n: int) -> None:
        self.query = expire(self.query, n)

    def mark_overdue(self, n: int) -> None:
        self.query = mark_overdue(self.query, n)

    def run(
        self,
        rows: Rows,
        labels: Signs,
        *,
        log: Log,
        first: int = 0,
        pause: bool = False,
        teach: bool = True,
    ) -> Stop:
        """Run the rounds from row `first` on, until their end or until they have to stop."""
        n, _ = shape(rows)
        tossed = coins(self.seed, self.n_seen, n - first)
        for t in range(first, n):
            status = self._round(rows, t, labels, float(tossed[t - first]), log, teach)
            if status not in (DONE, UPDATED):
                return Stop(t, status)
            if pause and status == UPDATED:
                return Stop(t + 1, status)
        return Stop(n, DONE)

    def lesson(self, rows: Rows, labels: Signs, asked_with: Matrix, *, fresh: bool) -> int:
        """Learn given labels; return the status."""
        for t in range(len(labels)):
            x = _dense(part(rows, t, t + 1))
            margins, margin = self._hear(x)
            if np.isnan(margin):
                return NOT_FINITE
            probability = 1.0
            if fresh:
                self.query = advance(self.query, _forecast(margin), True)
            elif len(asked_with):
                margin, probability = asked_with[t, 0], asked_with[t, 1]
            self._learn(x, float(labels[t]), margins, margin, probability)
        return DONE

    def margins(self, rows: Rows, *, exact: bool) -> Vector:
        """Return the vote on every row; NaN where it cannot be read."""
        X = _dense(rows)
        if not _readable(X):
            return np.full(len(X), np.nan)
        margins = np.column_stack([member.margins(X) for member in self.members])
        weights = self.mixture.weights
        return np.array([vote(weights, row) for row in margins])

    def _round(self, rows: Rows, t: int, labels: Signs, coin: float, log: Log, teach: bool) -> int:
        x = _dense(part(rows, t, t + 1))
        margins, margin = self._hear(x)
        if np.isnan(margin):
            return NOT_FINITE
        probability = ask_probability(self.query, DenseRow(x[0]), _forecast(margin))
        asked = bool(coin < probability)
        if asked and teach and labels[t] not in (-1, 1):
            return LABEL_UNKNOWN if labels[t] == UNKNOWN else LABEL_NEEDED
        if log.kept:
            log.forecasts[t, :2] = margin, probability
            log.probabilities[t], log.asked[t], log.updated[t] = probability, asked, asked and teach
        if self.diary.kept:
            self.diary.weights[t], self.diary.margins[t] = self.mixture.weights, margins
        self.query = advance(self.query, _forecast(margin), asked)
        self.n_seen += 1
        self.n_asked += asked
        if not (asked and teach):
            return DONE
        self._learn(x, float(labels[t]), margins, margin, probability)
        return UPDATED

    def _hear(self, x: Matrix) -> tuple[Vector, float]:
        """Return every member's margin for a row, and their vote: nan if they cannot read it."""
        if not _readable(x):
            return np.zeros(len(self.members)), np.nan
        margins = np.array([member.margins(x)[0] for member in self.members])
        return margins, vote(self.mixture.weights, margins)

    def _learn(
        self, x: Matrix, y: float, margins: Vector, margin: float, probability: float
    ) -> None:
        self.query = observe(self.query, DenseRow(x[0]), _forecast(margin), y)
        losses = np.empty(len(margins))
        write_losses(margins, y, probability, losses)
        for member in self.members:
            member.learn(x[0], y)
        self.mixture.update(losses)


def _readable(X: Matrix) -> bool:
    """Tell whether all numbers are finite, and so small that their squares are."""
    return bool((np.abs(X) < TAME[X.dtype]).all())


def _forecast(margin: float) -> Forecast:
    return Forecast(margin, 1.0, 1.0, 0.0, True)


def _dense(rows: Rows) -> Matrix:
    if not isinstance(rows, Csr):
        return rows.values
    X = np.zeros((shape(rows)[0], rows.width), rows.values.dtype)
    for t in range(len(X)):
        mine = slice(rows.starts[t], rows.starts[t + 1])
        X[t, rows.indices[mine]] = rows.values[mine]
    return X
