"""Answers as they come from outside: checked, and read as outcomes."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from selectron.arrays import Vector
from selectron.estimate.sums import LOST


class Answers(NamedTuple):
    """Asked rounds: their numbers, their odds, and what became of them."""

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


def read_pending(pending: Any, played: int, worst: float = 0.0) -> Answers:
    """Check questions without answers: (rounds, odds), or their number, at the worst odds."""
    if isinstance(pending, int | np.integer):
        if not 0 <= pending <= played:
            raise ValueError(f"{pending} pending questions of {played} rounds")
        odds = np.full(int(pending), worst if worst > 0.0 else 1.0)
        return Answers(np.full(len(odds), played - 1), odds, np.full(len(odds), LOST))
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
