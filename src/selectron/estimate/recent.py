"""The error of late: evidence that starts anew again and again.

What is estimated is the share of wrong predictions among the rounds since a start, each prediction
as it was made then: the error of the recent learners on recent rows, not of today's learner on all.
Valid under any drift. Start number j gets the share 1/(j (j + 1)) of what the level leaves; these
shares sum to 1, so with the level's probability no window is ever wrong.
"""

from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from selectron.estimate.answers import read_answers, read_pending
from selectron.estimate.evidence import Evidence, Pending
from selectron.estimate.report import Estimate
from selectron.estimate.starts import Doublings, Quarters, Starts
from selectron.estimate.tally import Construction, check_level

LATER_HALF = 0  # a window that grows with the stream, in files


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
        """Return the level of this window alone that leaves enough for all others."""
        number = self._starts.number(self.since)
        return 1.0 - (1.0 - level) / (number * (number + 1))

    def reach(self, rounds: int, *, outside: int = 0) -> None:
        """Say how many rounds there have been in all, as in `Evidence`.

        If rounds are outside, it has to be called at every `next_start`: on which side of a start
        they fell must be known.
        """
        if outside != self._outside and rounds > self.next_start:
            raise ValueError(
                f"{outside - self._outside} rounds outside between rounds {self.rounds} and "
                f"{rounds}: tell the total at round {self.next_start} first, where a piece starts"
            )
        self._pieces[-1].reach(rounds, outside)  # refuses what does not add up
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
        """Take in answers, as in `Evidence`; those to older rounds change nothing."""
        answers = read_answers(rounds, odds, predicted, labels, self.rounds)
        signs = np.atleast_1d(np.asarray(predicted)), np.atleast_1d(np.asarray(labels))
        for piece in self._pieces:
            since = answers.rounds >= piece.start
            numbers = answers.rounds[since] - piece.start
            piece.evidence.add(numbers, answers.odds[since], *(s[since] for s in signs))

    def forget(self, rounds: ArrayLike, odds: ArrayLike) -> None:
        """Take in that these questions will never be answered."""
        asked = read_pending((rounds, odds), self.rounds)
        for piece in self._pieces:
            since = asked.rounds >= piece.start
            piece.evidence.forget(asked.rounds[since] - piece.start, asked.odds[since])

    def estimate(
        self,
        level: float = 0.95,
        *,
        pending: Pending = 0,
        construction: Construction | None = None,
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
        shown = piece.evidence.estimate(share, pending=pending, construction=construction)
        return replace(shown, level=level)

    def state(self) -> dict[str, Any]:
        """Return all there is, as plain arrays."""
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
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Go on exactly where `state` was taken."""
        window, rounds, outside = (int(n) for n in state["recent"])
        fields = {name.removeprefix("pieces_"): v for name, v in state.items() if "_" in name}
        recent = cls(window or None, float(fields["explore"][0]))
        recent.rounds, recent._outside = rounds, outside
        recent._pieces = [
            Piece(
                int(start), int(before), Evidence.from_state({n: v[k] for n, v in fields.items()})
            )
            for k, (start, before) in enumerate(state["starts"])
        ]
        return recent
