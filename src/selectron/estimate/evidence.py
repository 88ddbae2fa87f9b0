"""Evidence on the predictions of a stream, gathered from the labels that were asked."""

from math import isfinite
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from selectron.arrays import Array, Vector
from selectron.estimate.constructions import Construction, Thinning
from selectron.estimate.estimates import Estimate, Tally, check_level, estimate_of
from selectron.estimate.sums import LOST, Sums

Pending = int | tuple[ArrayLike, ArrayLike]  # how many, or their rounds and odds
WORST, AT_RANDOM = "worst", "at random"  # what questions that were given up may stand for
State = dict[str, Array]


class Answers(NamedTuple):
    """Asked rounds: their numbers, their odds and their outcomes."""

    rounds: NDArray[np.int64]
    odds: Vector
    outcomes: NDArray[np.int64]


def read_answers(
    rounds: ArrayLike, odds: ArrayLike, predicted: ArrayLike, labels: ArrayLike, played: int
) -> Answers:
    """Check answers to rounds 0 to `played` - 1."""
    numbers, probabilities = _asked(rounds, odds, played)
    guessed, true = _signs("predicted", predicted), _signs("labels", labels)
    if not len(numbers) == len(guessed) == len(true):
        raise ValueError(
            f"{len(numbers)} rounds with {len(guessed)} predictions and {len(true)} labels: give "
            "one of each for every asked round"
        )
    return Answers(numbers, probabilities, 2 * (guessed > 0) + (true > 0))


def read_pending(pending: Pending, played: int, worst: float = 0.0) -> Answers:
    """Check questions without answers: (rounds, odds), or how many, all at the worst odds."""
    if isinstance(pending, int | np.integer):
        if not 0 <= pending <= played:
            raise ValueError(f"{pending} pending questions of {played} rounds")
        at_worst = np.full(int(pending), worst if worst > 0.0 else 1.0)
        n = len(at_worst)
        return Answers(np.full(n, played - 1), at_worst, np.full(n, LOST))
    try:
        rounds, odds = pending
    except (TypeError, ValueError):
        raise ValueError(f"pending is a number or (rounds, odds), got {pending!r}") from None
    numbers, probabilities = _asked(rounds, odds, played)
    return Answers(numbers, probabilities, np.full(len(numbers), LOST))


def _asked(rounds: ArrayLike, odds: ArrayLike, played: int) -> tuple[NDArray[np.int64], Vector]:
    numbers = np.atleast_1d(np.asarray(rounds))
    probabilities = np.atleast_1d(np.asarray(odds, float))
    if numbers.size and not np.issubdtype(numbers.dtype, np.integer):
        raise ValueError(f"rounds are whole numbers, 0 for the first, got {rounds!r}")
    if numbers.shape != probabilities.shape or numbers.ndim != 1:
        raise ValueError(f"{numbers.shape} rounds with {probabilities.shape} odds: give one each")
    unplayed = (numbers < 0) | (numbers >= played)
    if unplayed.any():
        first = numbers[unplayed][0]
        raise ValueError(f"round {first} of {played} has not been played: call reach first")
    bad = ~((probabilities > 0.0) & (probabilities <= 1.0))
    if bad.any():
        raise ValueError(
            f"a label asked with odds {probabilities[bad][0]}: odds lie in (0, 1], and what has "
            "odds 0 is never asked"
        )
    return numbers.astype(np.int64), probabilities


def _signs(name: str, values: ArrayLike) -> NDArray[np.int64]:
    signs = np.atleast_1d(np.asarray(values))
    wrong = ~np.isin(signs, (-1, 1))
    if wrong.any() or signs.ndim != 1:
        shown = signs[wrong][0] if wrong.any() else signs.shape
        raise ValueError(f"{name} are -1 or +1, got {shown}: map classes to signs first")
    return signs.astype(np.int64)


class Evidence:
    """Running sums over the asked labels of a stream, in constant memory.

    `reach` tells how many rounds there were. `add` takes an asked round with its number, its odds
    and the signs of prediction and label, in any order and at any later time.

    Parameters
    ----------
    explore : float
        The floor: the least odds of asking, in [0, 1], known beforehand. Rounds with smaller odds
        are left outside, asked or not. With 0 the interval has a lower end only.

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
            How many of them had odds below the floor, such as those of a warm-up or those after
            a budget was spent.
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
        """Add the answers to one asked round or to many.

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
        self.take(answers.odds, answers.outcomes)

    def forget(self, rounds: ArrayLike, odds: ArrayLike) -> None:
        """Count these questions as given up: nobody will ever know the answer."""
        asked = read_pending((rounds, odds), self.rounds)
        self.take(asked.odds, asked.outcomes)

    def estimate(
        self,
        level: float = 0.95,
        *,
        pending: Pending = 0,
        construction: Construction | None = None,
        guess: float = 0.0,
        missing: str = WORST,
    ) -> Estimate:
        """Estimate the error of the stream so far, with an interval valid at all times.

        Parameters
        ----------
        level : float
            Probability, in (0, 1), that the interval holds at all times at once.
        pending : int or (rounds, odds)
            Questions without an answer yet: their rounds and odds, or how many; a number alone is
            taken at the least odds.
        construction : Thinning or Bernstein, optional
            `Thinning()` if left out, which is never wider.
        guess : float
            Control variate: a guess of the error, made before the stream. Any guess leaves the
            estimate unbiased; one near the truth multiplies its variance by (1 - error), which
            helps where the error is large and the odds are even. The ends do not use it.
        missing : "worst" or "at random"
            What questions that were given up would have been answered. "worst": anything, so that
            the interval always holds. "at random": whether a question is given up does not depend
            on whether the prediction was right. Then they are left out, with the share of the
            rounds that they stand for; as that share is estimated, the interval holds
            approximately.
        """
        check_level(level)
        tally = self.tally(pending, missing=missing)
        return estimate_of(tally, level, construction or Thinning(), guess)

    def tally(self, pending: Pending = 0, *, missing: str = WORST) -> Tally:
        """Return the sums now, with pending questions as lost answers."""
        if missing not in (WORST, AT_RANDOM):
            raise ValueError(f"missing is {WORST!r} or {AT_RANDOM!r}, got {missing!r}")
        sums, outside = self._sums.copy(), max(self._outside, self._labels_outside)
        rounds, lost = self.rounds - outside, round(float(sums.counts[LOST]))
        if missing == AT_RANDOM and lost:
            rounds = round(rounds * (1.0 - float(sums.weights[LOST] / sums.weights.sum())))
            for field in sums:
                field[LOST] = 0.0
        waiting = read_pending(pending, self.rounds, worst=self.explore)
        inside = waiting.odds >= self.explore
        sums.add(waiting.outcomes[inside], waiting.odds[inside], self.explore)
        return Tally(sums, self.explore, rounds, outside, int(inside.sum()), lost)

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

    def state(self) -> State:
        """Return everything as plain arrays."""
        counts = [self.rounds, self._outside, self._labels_outside]
        numbers = {"explore": np.array(self.explore), "rounds": np.array(counts, np.int64)}
        return {**numbers, **self._sums.copy()._asdict()}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Go on exactly where `state` was taken."""
        evidence = cls(float(state["explore"]))
        rounds, outside, labels = (int(n) for n in state["rounds"])
        evidence._sums = Sums(*(np.array(state[name], float) for name in Sums._fields))
        if not (0 <= max(outside, labels) <= rounds and evidence._sums.possible):
            raise ValueError(f"{outside} of {rounds} rounds outside, or sums that cannot be")
        evidence.rounds, evidence._outside, evidence._labels_outside = rounds, outside, labels
        return evidence

    def take(self, odds: Vector, outcomes: NDArray[np.int64]) -> None:
        """Add checked rounds to the sums, if their odds reach the floor."""
        inside = odds >= self.explore
        self._labels_outside += int((~inside).sum())
        self._sums.add(outcomes[inside], odds[inside], self.explore)
