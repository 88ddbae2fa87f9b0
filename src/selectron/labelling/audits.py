"""What audits say of the error: an interval that holds at all times at once.

An audit is an item drawn evenly from those without a label, so its answer says something of all of
them. Two questions are answered. How often was the model wrong when it was audited, while it went
on learning (`of_late`)? And how many of the items that are left does a model get wrong that no
longer changes (`of_the_rest`)? Both are bets against "the error is larger than e": a gambler who
would have grown rich from any start, had e been true, refutes it. No bet looks ahead, so the
interval may be looked at after every answer (Ville's inequality).
"""

from collections.abc import Callable, Sequence
from math import exp, log
from typing import NamedTuple

import numpy as np

from selectron.arrays import Vector

RATES = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5)  # of the bets of `of_late`
LIMITS = (0.02, 0.05, 0.1, 0.2, 0.4)  # shares of wrong items that bets are made against
BELIEVED = (0.01, 0.06, 0.16, 0.3, 0.5, 0.7)  # shares that gamblers believe in, of the limit
GOAL_SHARE = 0.7  # of the capital, set against the goal if there is one


class Draw(NamedTuple):
    """An audit and its answer."""

    wrong: bool
    left: int  # items that could be drawn
    gone: int = 0  # mistakes that other answers may have taken away since the model was fixed


class Audited(NamedTuple):
    """The audits of a desk, and what else is known of the items."""

    draws: list[Draw]
    left: int  # items without a label now
    fixed: bool = False  # the model, or whatever else is audited, does not change
    found: int = 0  # mistakes that answers other than audits have surely shown meanwhile
    goal: float | None = None


def estimate(audited: Audited, level: float) -> dict[str, float | int | None]:
    """Return error, low, high and the number of audits.

    Of what is fixed all of the level goes into the upper limit, which the goal is held against;
    the lower one is 0, for a limit on both sides would hold less often than the level says.
    """
    draws, left, fixed, found, goal = audited
    if fixed:
        return of_the_rest(draws, left, level, found=found, goal=goal)._asdict()
    return of_late(draws, level)._asdict()


class Interval(NamedTuple):
    """The share of wrong items as the audits have it, with its limits."""

    error: float | None
    low: float
    high: float
    audits: int


NOTHING_KNOWN = Interval(None, 0.0, 1.0, 0)


def of_late(draws: Sequence[Draw], level: float) -> Interval:
    """Bound the mean chance of a mistake at these audits, whatever changed between them.

    >>> interval = of_late([Draw(False, 1000)] * 95 + [Draw(True, 900)] * 5, 0.95)
    >>> print(interval.error, round(interval.low, 3), round(interval.high, 3))
    0.05 0.006 0.17
    """
    n, wrong = len(draws), sum(draw.wrong for draw in draws)
    if n == 0:
        return NOTHING_KNOWN
    enough = log(2.0 * len(RATES) / (1.0 - level))  # two sides, and as many gamblers as rates
    high = min((rate * wrong + enough) / (1.0 - exp(-rate)) for rate in RATES)
    low = max((rate * wrong - enough) / (exp(rate) - 1.0) for rate in RATES)
    return Interval(wrong / n, max(0.0, low / n), min(1.0, high / n), n)


def of_the_rest(
    draws: Sequence[Draw], left: int, level: float, *, found: int = 0, goal: float | None = None
) -> Interval:
    """Bound the share of mistakes among the items that are left, of a model that stays as it is.

    Parameters
    ----------
    draws : list of Draw
        Since the model was fixed.
    left : int
        Items without a label now.
    found : int
        Mistakes of the model that answers other than audits have surely shown since.
    goal : float, optional
        The share that most bets are made against.

    >>> interval = of_the_rest([Draw(False, 4000 - t) for t in range(60)], 3940, 0.95, goal=0.05)
    >>> print(interval.error, interval.high <= 0.05)
    0.0 False
    >>> interval = of_the_rest([Draw(False, 4000 - t) for t in range(90)], 3910, 0.95, goal=0.05)
    >>> print(interval.error, interval.high <= 0.05)
    0.0 True
    """
    if not draws:
        return NOTHING_KNOWN
    wrong = sum(draw.wrong for draw in draws)
    bets, capital = _bets(goal)
    enough = 1.0 / (1.0 - level)

    def refuted(total: int) -> bool:
        """Tell whether so many mistakes in all, found ones included, cannot be."""
        shown, wealth = 0, capital.copy()
        for draw in draws:
            share = min(1.0, max(0, total - shown - draw.gone) / draw.left)
            wealth *= np.maximum(1.0 + bets * (share - draw.wrong), 0.0)
            shown += draw.wrong
        return bool(wealth.sum() >= enough)

    most = _first(refuted, wrong + found, wrong + found + left)
    high = min(1.0, max(0, most - 1 - wrong - found) / max(left, 1)) if left else 0.0
    return Interval(wrong / len(draws), 0.0, high, len(draws))


def _bets(goal: float | None) -> tuple[Vector, Vector]:
    """Return how much of its wealth each gambler bets on "right", and the wealth it begins with."""
    limits = [(limit, (1.0 - GOAL_SHARE * (goal is not None)) / len(LIMITS)) for limit in LIMITS]
    if goal is not None:
        limits.append((goal, GOAL_SHARE))
    bets = [
        min((1.0 - belief) / (1.0 - limit), 0.999 / (1.0 - limit))
        for limit, _ in limits
        for belief in BELIEVED
    ]
    capital = [share / len(BELIEVED) for _, share in limits for _ in BELIEVED]
    return np.array(bets), np.array(capital)


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the first whole number in [low, high] from which on it holds; high + 1 if none."""
    high += 1
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
