"""How a goal gets certified: learn first, then start, then ask by certainty until it is sure."""

from math import inf
from typing import Self

import numpy as np

from selectron.arrays import Vector
from selectron.estimate.evidence import State
from selectron.estimate.profile import RANKS, Profile
from selectron.estimate.wager import Wager

LOOK = 16  # rounds after which floors are set anew and a start may open
FIRST_LABELS = 10  # no start before
CALM = 0.67  # of the bound: a learner that asks so little has learnt
MOST_LABELS = 3.0  # over the bound: the first start opens after so many labels in any case


class Certifying:
    """A wager, the profile that shapes the odds for it, and when its starts open.

    Parameters
    ----------
    bound, floor, risk
        As in `Wager`.
    """

    def __init__(self, bound: float, floor: float, *, risk: bool = False) -> None:
        self.wager = Wager(bound, floor, risk=risk)
        self.profile = Profile()
        self.next_start = inf  # labels at which a further start opens
        self.edges: Vector = np.zeros(len(RANKS))
        self.floors: Vector = np.zeros(len(RANKS) + 1)  # 0: the learner learns first

    def stretch(self, rounds: int) -> int:
        """Return how many rounds may be played before the next look."""
        to_look, to_go = LOOK - rounds % LOOK, self.wager.rounds_to_go()
        return to_look if to_go is None else min(to_look, to_go)

    def play(self, level: float, odds: float, *, asked: bool, inside: bool) -> None:
        """Enter a round: its certainty, its odds, and whether they reach the floor.

        Rounds before the first question, which measure the rows, do not count.
        """
        if self.profile.seen or asked:
            self.profile.see(level, odds)
        if inside:
            self.wager.play()
            if asked:
                self.wager.ask(odds)

    def look(self, rounds: int) -> None:
        """Ahead of a round, set the floors anew, and open a start if it is time.

        That happens at certain rounds only, so that batches make no difference.
        """
        if rounds % LOOK:
            return
        if self._due():
            first = not self.wager.starts
            self.next_start = 2.0 * (self.profile.n_labels if first else self.next_start)
            if first:
                self.profile.forget_mistakes()
            self.wager.open(rounds)
        if self.wager.starts:
            self.edges = self.profile.edges()
            self.floors = self.profile.floors(self.wager.floor, self.wager.bound)

    def _due(self) -> bool:
        labels, bound = self.profile.n_labels, self.wager.bound
        if self.wager.starts:
            return labels >= self.next_start
        calm = self.profile.rate <= CALM * bound
        return labels >= FIRST_LABELS and (calm or labels >= MOST_LABELS / bound)

    def state(self) -> State:
        """Return everything as plain arrays."""
        floors = {"edges": self.edges.copy(), "floors": self.floors.copy()}
        next_start = 0.0 if self.next_start == inf else self.next_start
        state = {"next": np.array([next_start]), **floors}
        for name, part in (("starts", self.wager), ("profile", self.profile)):
            state |= {f"{name}_{field}": value for field, value in part.state().items()}
        return state

    def restore(self, state: State) -> Self:
        """Go on exactly where `state` was taken."""
        for name, part in (("starts", self.wager), ("profile", self.profile)):
            mine = {k.removeprefix(f"{name}_"): v for k, v in state.items() if k.startswith(name)}
            part.restore(mine)
        self.next_start = float(state["next"][0]) or inf
        self.edges, self.floors = np.array(state["edges"]), np.array(state["floors"])
        if not ((self.floors >= 0.0) & (self.floors <= 1.0)).all():
            raise ValueError(f"floors from {self.floors.min()} to {self.floors.max()}")
        return self
