"""The error of recent rounds: evidence that starts anew again and again.

The estimate is the share of wrong predictions among the rounds since a start. Each prediction
counts as the learner made it in its round, so this is not the error of today's learner on all rows.
The interval holds under any drift. Start number j gets the share 1/(j (j + 1)) of 1 - level. These
shares sum to 1, so with probability `level` no window is ever wrong.
"""

from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from selectron.estimate.constructions import Construction
from selectron.estimate.estimates import Estimate, check_level
from selectron.estimate.evidence import (
    WORST,
    Answers,
    Evidence,
    Pending,
    State,
    read_answers,
    read_pending,
)

LATER_HALF = 0  # stands in files for a window that grows with the stream
IN_A_WINDOW = 4
FIRST_DOUBLING = 500


class Quarters(NamedTuple):
    """A start every quarter of a window of fixed size."""

    window: int

    @classmethod
    def of(cls, window: int) -> Self:
        whole = isinstance(window, int | np.integer) and not isinstance(window, bool)
        if not whole or window < IN_A_WINDOW or window % IN_A_WINDOW:
            raise ValueError(f"window must be a multiple of {IN_A_WINDOW} rounds, got {window!r}")
        return cls(int(window))

    def after(self, start: int) -> int:
        return start + self.window // IN_A_WINDOW

    def first_from(self, rounds: int) -> int:
        quarter = self.window // IN_A_WINDOW
        return -(-rounds // quarter) * quarter

    def number(self, start: int) -> int:
        return start // (self.window // IN_A_WINDOW) + 1

    def oldest(self, rounds: int) -> int:
        return rounds - self.window - self.window // IN_A_WINDOW


class Doublings(NamedTuple):
    """Starts at 500, 1,000, 2,000, ...: the last but one skips a quarter to a half of the rounds.

    There are few starts, so that each has a large share of 1 - level.
    """

    def after(self, start: int) -> int:
        return 2 * start if start else FIRST_DOUBLING

    def first_from(self, rounds: int) -> int:
        start = 0
        while start < rounds:
            start = self.after(start)
        return start

    def number(self, start: int) -> int:
        return (start // FIRST_DOUBLING).bit_length() + 1

    def oldest(self, rounds: int) -> int:
        last = self.first_from(rounds // 2 + 1)
        return last // 2 if last > FIRST_DOUBLING else 0


Starts = Quarters | Doublings  # the rounds at which evidence starts anew, fixed beforehand


class Piece(NamedTuple):
    """The evidence since a start."""

    start: int
    outside_before: int
    evidence: Evidence

    def reach(self, rounds: int, outside: int) -> None:
        self.evidence.reach(rounds - self.start, outside=outside - self.outside_before)


class Recent:
    """Evidence on the last `window` rounds, up to a quarter more; on all of them before.

    Parameters
    ----------
    window : int, optional
        In rounds, a multiple of 4, fixed beforehand. Without it the window grows with the stream:
        it is the later half of the rounds, up to three quarters; all of them up to round 1,000.
    explore : float
        As in `Evidence`.

    Examples
    --------
    >>> recent = Recent(window=400, explore=0.1)
    >>> recent.reach(1000)
    >>> recent.add([3, 5, 600, 700], [1.0, 0.5, 0.1, 0.1], [1, -1, 1, -1], [-1, -1, 1, -1])
    >>> print(recent.estimate())
    error 0.0 % (0.0 to 19.2 %, 95 % at all times), 2 labels of 500 rounds
    """

    def __init__(self, window: int | None = None, explore: float = 0.0) -> None:
        self._starts: Starts = Doublings() if window is None else Quarters.of(window)
        self.window = None if window is None else int(window)
        self.rounds = 0
        self._outside = 0
        self._pieces = [Piece(0, 0, Evidence(explore))]

    @property
    def explore(self) -> float:
        return self._pieces[0].evidence.explore

    @property
    def next_start(self) -> int:
        """The round at which the next piece starts."""
        return self._starts.after(self._pieces[-1].start)

    @property
    def since(self) -> int:
        """The round at which the window starts."""
        return self._pieces[0].start

    @property
    def latest(self) -> Evidence:
        """The evidence of the window, with its rounds numbered from its start."""
        return self._pieces[0].evidence

    def share_of(self, level: float) -> float:
        """Return the level for this window alone, so that all windows together keep `level`."""
        number = self._starts.number(self.since)
        return 1.0 - (1.0 - level) / (number * (number + 1))

    def reach(self, rounds: int, *, outside: int = 0) -> None:
        """Say how many rounds there have been in all, as in `Evidence`.

        If rounds are outside, call this at every `next_start`, so that it is known on which side
        of a start they fell.
        """
        if outside != self._outside and rounds > self.next_start:
            raise ValueError(
                f"{outside - self._outside} rounds outside between rounds {self.rounds} and "
                f"{rounds}: tell the total at round {self.next_start} first, where a piece starts"
            )
        self._pieces[-1].reach(rounds, outside)  # refuses counts that do not add up
        oldest = self._starts.oldest(rounds)
        start = self._starts.first_from(max(oldest, self.next_start))
        while start <= rounds:
            self._pieces.append(Piece(start, outside, Evidence(self.explore)))
            start = self._starts.after(start)
        self._pieces = [piece for piece in self._pieces if piece.start >= oldest]
        for piece in self._pieces:
            piece.reach(rounds, outside)
        self.rounds, self._outside = int(rounds), int(outside)

    def add(
        self, rounds: ArrayLike, odds: ArrayLike, predicted: ArrayLike, labels: ArrayLike
    ) -> None:
        """Add answers, as in `Evidence`; answers to older rounds change nothing."""
        self._take(read_answers(rounds, odds, predicted, labels, self.rounds))

    def forget(self, rounds: ArrayLike, odds: ArrayLike) -> None:
        """Count these questions as given up."""
        self._take(read_pending((rounds, odds), self.rounds))

    def _take(self, answers: Answers) -> None:
        for piece in self._pieces:
            since = answers.rounds >= piece.start
            piece.evidence.take(answers.odds[since], answers.outcomes[since])

    def estimate(
        self,
        level: float = 0.95,
        *,
        pending: Pending = 0,
        construction: Construction | None = None,
        missing: str = WORST,
    ) -> Estimate:
        """Estimate the error of the window, with an interval that holds for all windows at once."""
        check_level(level)
        piece, share = self._pieces[0], self.share_of(level)
        waiting = read_pending(pending, self.rounds)
        if isinstance(pending, int | np.integer):
            pending = min(int(pending), piece.evidence.rounds)
        else:
            since = waiting.rounds >= piece.start
            pending = (waiting.rounds[since] - piece.start, waiting.odds[since])
        shown = piece.evidence.estimate(
            share, pending=pending, construction=construction, missing=missing
        )
        return replace(shown, level=level)

    def state(self) -> State:
        """Return everything as plain arrays."""
        counts = [self.window or LATER_HALF, self.rounds, self._outside]
        starts = [[piece.start, piece.outside_before] for piece in self._pieces]
        states = [piece.evidence.state() for piece in self._pieces]
        stacked = {f"pieces_{name}": np.stack([s[name] for s in states]) for name in states[0]}
        return {
            "recent": np.array(counts, np.int64),
            "starts": np.array(starts, np.int64),
            **stacked,
        }

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Go on exactly where `state` was taken."""
        window, rounds, outside = (int(n) for n in state["recent"])
        fields = {name.removeprefix("pieces_"): v for name, v in state.items() if "_" in name}
        recent = cls(window or None, float(fields["explore"][0]))
        recent.rounds, recent._outside = rounds, outside
        starts = state["starts"][:, 0]
        if not ((starts[1:] > starts[:-1]).all() and starts[-1] <= rounds and outside <= rounds):
            raise ValueError(f"windows start at {starts.tolist()} of {rounds} rounds")
        recent._pieces = [
            Piece(
                int(start), int(before), Evidence.from_state({n: v[k] for n, v in fields.items()})
            )
            for k, (start, before) in enumerate(state["starts"])
        ]
        return recent
