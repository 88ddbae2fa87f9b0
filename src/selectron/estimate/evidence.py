"""Evidence on the predictions of a stream, gathered from the labels that were asked."""

from math import isfinite
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from selectron.estimate.answers import read_answers, read_pending
from selectron.estimate.report import Estimate, estimate_of
from selectron.estimate.sums import Sums
from selectron.estimate.tally import Construction, Tally, check_level
from selectron.estimate.thinning import Thinning

Pending = int | ArrayLike


class Evidence:
    """Running sums over the asked labels of a stream, in constant memory.

    Of the rounds it hears only how many there were. An asked round comes with its number, its odds
    and the signs of prediction and label, in any order and as late as it likes.

    Parameters
    ----------
    explore : float
        The floor: the least odds of asking, in [0, 1], known beforehand. Rounds with smaller odds
        are outside, asked or not. With 0 there is a lower end only.

    Examples
    --------
    >>> evidence = Evidence(explore=0.1)
    >>> evidence.reach(1000)
    >>> evidence.add([3, 5, 600, 700], [1.0, 0.5, 0.1, 0.1], [1, -1, 1, -1], [-1, -1, 1, -1])
    >>> print(evidence.estimate())
    error 0.1 % (0.1 to 5.1 %, 95 % at all times), 4 labels of 1,000 rounds
    """

    def __init__(self, explore: float) -> None:
        if not (isfinite(explore) and 0.0 <= explore <= 1.0):
            raise ValueError(f"explore must lie in [0, 1], got {explore}")
        self.explore = float(explore)
        self.rounds = 0
        self._outside = 0
        self._labels_outside = 0
        self._sums = Sums.none()

    def reach(self, rounds: int, *, outside: int = 0) -> None:
        """Say how many rounds there have been in all.

        Parameters
        ----------
        rounds : int
            Rounds so far, asked or not.
        outside : int
            How many of them had odds below the floor: while the rows are being measured, say, or
            after a budget was spent.
        """
        if rounds < self.rounds or outside < self._outside:
            raise ValueError(
                f"rounds only add up: told {rounds} ({outside} outside) after "
                f"{self.rounds} ({self._outside} outside)"
            )
        if outside > rounds:
            raise ValueError(f"{outside} rounds outside of {rounds} in all")
        self.rounds, self._outside = int(rounds), int(outside)

    def add(
        self, rounds: ArrayLike, odds: ArrayLike, predicted: ArrayLike, labels: ArrayLike
    ) -> None:
        """Take in the answer to one asked round, or to many.

        Parameters
        ----------
        rounds : int or array
            Their numbers, 0 for the first.
        odds : float or array
            The probability with which each was asked, in (0, 1].
        predicted, labels : int or array
            +1 or -1: what was predicted before asking, and the answer.
        """
        answers = read_answers(rounds, odds, predicted, labels, self.rounds)
        self._take(answers.odds, answers.outcomes)

    def forget(self, rounds: ArrayLike, odds: ArrayLike) -> None:
        """Take in that these questions will never be answered: they stay pending for ever."""
        asked = read_pending((rounds, odds), self.rounds)
        self._take(asked.odds, asked.outcomes)

    def estimate(
        self,
        level: float = 0.95,
        *,
        pending: Pending = 0,
        construction: Construction | None = None,
        guess: float = 0.0,
    ) -> Estimate:
        """Estimate the error of the stream so far, with an interval valid at all times.

        Parameters
        ----------
        level : float
            Probability, in (0, 1), that the interval holds at all times at once.
        pending : int or (rounds, odds)
            Questions whose answers are not in: which and at what odds, or how many; a number alone
            is taken at the least odds.
        construction : Thinning or Bernstein, optional
            `Thinning()` if left out, which is never wider.
        guess : float
            Control variate: a guess of the error, made before the stream. Any guess leaves the
            estimate unbiased; one near the truth multiplies its variance by (1 - error), which
            helps where the error is large and the odds are even. The ends do not use it.
        """
        check_level(level)
        return estimate_of(self.tally(pending), level, construction or Thinning(), guess)

    def tally(self, pending: Pending = 0) -> Tally:
        """Return what is known now, as plain sums."""
        sums = self._sums.copy()
        waiting = read_pending(pending, self.rounds, worst=self.explore)
        inside = waiting.odds >= self.explore
        sums.add(waiting.outcomes[inside], waiting.odds[inside], self.explore)
        outside = max(self._outside, self._labels_outside)
        return Tally(sums, self.explore, self.rounds - outside, outside)

    def merged(self, other: "Evidence") -> "Evidence":
        """Return the evidence of two streams taken together."""
        if self.explore != other.explore:
            raise ValueError(
                f"evidence with the floors {self.explore} and {other.explore} does not add up: "
                "gather both with the smaller one"
            )
        both = Evidence(self.explore)
        both.rounds = self.rounds + other.rounds
        both._outside = self._outside + other._outside
        both._labels_outside = self._labels_outside + other._labels_outside
        both._sums = self._sums.plus(other._sums)
        return both

    def state(self) -> dict[str, Any]:
        """Return all there is, as plain arrays."""
        counts = [self.rounds, self._outside, self._labels_outside]
        numbers = {"explore": np.array(self.explore), "rounds": np.array(counts, np.int64)}
        return {**numbers, **self._sums.copy()._asdict()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Go on exactly where `state` was taken."""
        evidence = cls(float(state["explore"]))
        evidence.rounds, evidence._outside, evidence._labels_outside = (
            int(n) for n in state["rounds"]
        )
        evidence._sums = Sums(*(np.array(state[name], float) for name in Sums._fields))
        return evidence

    def _take(self, odds: Any, outcomes: NDArray[np.int64]) -> None:
        inside = odds >= self.explore
        self._labels_outside += int((~inside).sum())
        self._sums.add(outcomes[inside], odds[inside], self.explore)
