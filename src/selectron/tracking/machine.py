"""A crew of our own rules at work: their states, the mixture, and the compiled loops."""

from typing import Any

import numpy as np

from selectron.arrays import Matrix, Signs, Vector
from selectron.classifier.inputs import part, shape
from selectron.classifier.machine import CHUNK, Machine, Stop
from selectron.classifier.rules import Rules
from selectron.compiler.numbers import numbers_of
from selectron.experts import Mixture
from selectron.loop import DONE, UPDATED, Learner, Log
from selectron.numeric.coins import coins
from selectron.numeric.rows import Rows
from selectron.scalings import Raw
from selectron.tracking.crew import chain
from selectron.tracking.mixtures import jury_of
from selectron.tracking.rounds import (
    HEARD,
    Diary,
    compiled_lesson,
    compiled_margins,
    compiled_rounds,
    crew_digest,
)

SHORT = 1024  # rows a call where it will stop at the next label


class CrewMachine(Machine):
    """Rules of ours as experts, at width d, and coins from a seed."""

    def __init__(
        self, rules: Rules, mixture: Mixture, d: int, dtype: np.dtype[Any], seed: int
    ) -> None:
        states = [rule.begin(d, dtype) for rule in rules.update.learners]
        self.rules, self.mixture, self.jury = rules, mixture, jury_of(mixture)
        self.d, self.dtype, self.seed = d, dtype, seed
        self.n_seen, self.n_asked, self.waits = 0, 0, False
        self.learner = Learner(Raw().begin(d, dtype), chain(states), rules.query.begin(d))
        self.numbers = np.array(numbers_of(self.learner))
        self.bodies = crew_digest(self.learner)
        self.diary = Diary.of(0, mixture.n)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.adopt_mixture(self.mixture.state())

    @property
    def weights(self) -> Vector:
        return self.jury.weights.copy()

    def adopt_mixture(self, state: dict[str, Any]) -> None:
        """Go on with the mixture that was in this state."""
        self.mixture = type(self.mixture).from_state(state)
        self.jury = jury_of(self.mixture)

    def snapshot(self) -> Any:
        return super().snapshot(), self.mixture.state()

    def restore(self, snapshot: Any) -> None:
        rules, mixture = snapshot
        super().restore(rules)
        self.adopt_mixture(mixture)

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
        kernel = compiled_rounds(self.bodies)
        chunk = CHUNK if self.jury.inside and not pause else SHORT
        origin = self.n_seen - first
        position, status = first, DONE
        while position < n and status == DONE:
            start, stop = position, min(n, position + chunk)
            moved, status, n_asked = kernel(
                self.learner,
                self.numbers,
                self.jury,
                part(rows, start, stop),
                labels[start:stop],
                coins(self.seed, origin + start, stop - start),
                log.part(start, stop),
                self.diary.part(start, stop),
                pause,
                teach,
            )
            if status == HEARD:
                self._weigh()
                status = UPDATED if pause else DONE
            position = start + moved
            self.n_seen = origin + position
            self.n_asked += int(n_asked)
        return Stop(position, status)

    def lesson(self, rows: Rows, labels: Signs, asked_with: Matrix, *, fresh: bool) -> int:
        """Learn given labels; return the status."""
        kernel = compiled_lesson(self.bodies)
        status = DONE
        for t in range(len(labels)):
            one, told = part(rows, t, t + 1), asked_with[t : t + 1]
            y = float(labels[t])
            status = kernel(self.learner, self.numbers, self.jury, one, y, told, fresh)
            if status != DONE:
                break
            self._weigh()
        return int(status)

    def margins(self, rows: Rows, *, exact: bool) -> Vector:
        """Return the vote on every row; NaN if they cannot be read."""
        votes = np.empty(shape(rows)[0])
        kernel = compiled_margins(self.bodies)
        if kernel(self.learner, self.numbers, self.jury, rows, votes) != DONE:
            votes[:] = np.nan
        return votes

    def _weigh(self) -> None:
        self.mixture.update(self.jury.losses[0])
        self.jury.weights[:] = self.mixture.weights
