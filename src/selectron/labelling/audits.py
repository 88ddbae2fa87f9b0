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

from selectron.arrays import Matrix, Vector

RATES = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5)  # of the bets of `of_late`
LIMITS = (0.02, 0.05, 0.1, 0.2, 0.4)  # shares of wrong items that bets are made against
BELIEVED = (0.01, 0.06, 0.16, 0.3, 0.5, 0.7)  # shares that gamblers believe in, of the limit
GOAL_SHARE = 0.7  # of the capital, set against the goal if there is one


class Draw(NamedTuple):
    """An audit and its answer."""

    wrong: bool
    left: int  # items that could be drawn
    gone: int = 0  # mistakes that other answers may have taken away since the model was fixed
    goal: float | None = None  # the share that most bets were made against when it was drawn


class Audited(NamedTuple):
    """The audits of a desk, and what else is known of the items."""

    draws: list[Draw]
    left: int  # items without a label now
    fixed: bool = False  # the model, or whatever else is audited, does not change
    found: int = 0  # mistakes that answers other than audits have surely shown meanwhile


def estimate(audited: Audited, level: float) -> dict[str, float | int | None]:
    """Return error, low, high and the number of audits.

    Of what is fixed all of the level goes into the upper limit, which the goal is held against;
    the lower one is 0, for a limit on both sides would hold less often than the level says.
    """
    draws, left, fixed, found = audited
    if fixed:
        return of_the_rest(draws, left, level, found=found)._asdict()
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


def of_the_rest(draws: Sequence[Draw], left: int, level: float, *, found: int = 0) -> Interval:
    """Bound the share of mistakes among the items that are left, of a model that stays as it is.

    Bets are made before the answer is known, against the goal of that moment. A goal that is
    changed later leaves them as they were: it would look back on answers otherwise.

    Parameters
    ----------
    draws : list of Draw
        Since the model was fixed.
    left : int
        Items without a label now.
    found : int
        Mistakes of the model that answers other than audits have surely shown since.

    >>> draws = [Draw(False, 4000 - t, goal=0.05) for t in range(90)]
    >>> interval = of_the_rest(draws[:60], 3940, 0.95)
    >>> print(interval.error, interval.high <= 0.05)
    0.0 False
    >>> interval = of_the_rest(draws, 3910, 0.95)
    >>> print(interval.error, interval.high <= 0.05)
    0.0 True
    """
    if not draws:
        return NOTHING_KNOWN
    wrong = sum(draw.wrong for draw in draws)
    bets, capital = _bets([draw.goal for draw in draws])
    enough = 1.0 / (1.0 - level)

    said, left_then, gone = np.array([draw[:3] for draw in draws], float).T
    shown = np.cumsum(said) - said  # by the audits before

    def refuted(total: int) -> bool:
        """Tell whether so many mistakes in all, found ones included, cannot be."""
        shares = np.minimum(1.0, np.maximum(0.0, total - shown - gone) / left_then)
        growth = np.maximum(1.0 + bets * (shares - said)[:, np.newaxis], 0.0)
        wealth = np.multiply.reduce(np.vstack([capital, growth]))  # bet after bet
        return bool(wealth.sum() >= enough)

    most = _first(refuted, wrong + found, wrong + found + left)
    high = min(1.0, max(0, most - 1 - wrong - found) / max(left, 1)) if left else 0.0
    return Interval(wrong / len(draws), 0.0, high, len(draws))


def _bets(goals: list[float | None]) -> tuple[Matrix, Vector]:
    """Return how much of its wealth each gambler (column) bets on "right" at each draw (row).

    And the wealth it begins with. If there was a goal at the first draw, most of the capital is set
    against whatever the goal is; without one it is not bet.
    """
    share = GOAL_SHARE * (goals[0] is not None)
    fixed = [bet for limit in LIMITS for bet in _against(limit)]
    capital = [(1.0 - share) / len(LIMITS) / len(BELIEVED)] * len(fixed)
    if not share:
        return np.array([fixed] * len(goals)), np.array(capital)
    idle = [0.0] * len(BELIEVED)
    bets = [fixed + (idle if goal is None else _against(goal)) for goal in goals]
    return np.array(bets), np.array(capital + [share / len(BELIEVED)] * len(BELIEVED))


def _against(limit: float) -> list[float]:
    """Return the bets against a share, one for each share that is believed in instead."""
    return [min((1.0 - b) / (1.0 - limit), 0.999 / (1.0 - limit)) for b in BELIEVED]


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
