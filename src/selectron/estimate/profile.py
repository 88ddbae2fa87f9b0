"""How often predictions are wrong at each rank of certainty, and the floor that follows from it.

To certify an error with few labels, unsure rows deserve two to four times the odds of sure ones,
and no more. The floor of a row is explore · sqrt(1 + q (1 - q) / bound), where q is about how
often rows of its rank are wrong. Any q leaves a wager valid; a good one makes it cheap.
"""

from math import sqrt
from typing import Self

import numpy as np

from selectron.arrays import Vector
from selectron.estimate.evidence import State

RANKS = np.array([0.03, 0.06, 0.125, 0.25, 0.5])  # shares of the rows: between bins
GUESS = np.array([0.35, 0.2, 0.1, 0.03, 0.008, 0.003])  # the error of each bin beforehand
STRENGTH = np.array([8.0, 8.0, 12.0, 20.0, 40.0, 80.0])  # labels that the guess stands for
LATEST = 200  # rows among which a row is ranked
STEEP = 1.0  # 1/2c for the rate c = bound/2 at which a goal 2.5 times the error is certified
FADE = 0.01  # speed at which the rate of asking follows the odds


class Profile:
    """Counts of labels and mistakes by rank of certainty, and the certainties of late."""

    def __init__(self) -> None:
        self.levels = np.zeros(LATEST)  # the certainties of the latest rows, in a ring
        self.seen = 0  # rows
        self.n_labels = 0
        self.labels, self.wrong = np.zeros(len(GUESS)), np.zeros(len(GUESS))
        self.rate = 1.0  # of asking, of late

    def see(self, level: float, odds: float) -> None:
        """Take in a row."""
        self.levels[self.seen % LATEST] = level
        self.seen += 1
        self.rate += FADE * (odds - self.rate)

    def learn(self, level: float, *, wrong: bool) -> None:
        """Take in a label, at the rank that its row has now."""
        known = self._known()
        rank = float(np.count_nonzero(known < level)) / max(len(known), 1)
        k = int(np.searchsorted(RANKS, rank, side="right"))
        self.n_labels += 1
        self.labels[k] += 1.0
        self.wrong[k] += wrong

    def forget_mistakes(self) -> None:
        """Count mistakes anew: those of a beginner say little of a learner that has learnt."""
        self.labels[:], self.wrong[:] = 0.0, 0.0

    def edges(self) -> Vector:
        """Return the certainties between the bins."""
        known = np.sort(self._known())
        edges: Vector = known[(RANKS * len(known)).astype(int)] if len(known) else 0.0 * RANKS
        return edges

    def floors(self, explore: float, bound: float) -> Vector:
        """Return the floor of each bin."""
        q = (self.wrong + GUESS * STRENGTH) / (self.labels + STRENGTH)
        return np.array([min(1.0, explore * sqrt(1.0 + STEEP * p * (1.0 - p) / bound)) for p in q])

    def _known(self) -> Vector:
        return self.levels[: min(self.seen, LATEST)]

    def state(self) -> State:
        """Return everything as plain arrays."""
        return {
            "levels": self.levels.copy(),
            "bins": np.stack([self.labels, self.wrong]),
            "seen": np.array([self.seen, self.n_labels], np.int64),
            "rate": np.array([self.rate]),
        }

    def restore(self, state: State) -> Self:
        """Go on exactly where `state` was taken."""
        self.levels, self.rate = np.array(state["levels"]), float(state["rate"][0])
        self.labels, self.wrong = np.array(state["bins"])
        self.seen, self.n_labels = (int(n) for n in state["seen"])
        sound = (self.levels >= 0.0).all() and (self.wrong <= self.labels).all()
        if not (sound and (self.wrong >= 0.0).all() and 0.0 <= self.rate <= 1.0):
            raise ValueError("certainties, counts or a rate that cannot be")
        return self
