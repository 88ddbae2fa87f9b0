"""The best that a fixed interval or a back-off could have done, had it known the arrivals."""

from collections.abc import Iterable
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from numba import njit

from selectron.arrays import Vector
from selectron.power.polling.bill import Bill, check_arrivals


class Best(NamedTuple):
    """Intervals, and what they cost."""

    min_interval: float
    max_interval: float
    cost: float


def back_off_bill(times: Vector, duration: float, min_interval: float, max_interval: float) -> Bill:
    """Replay a `BackOff` in compiled code; equal bounds are a fixed interval.

    Examples
    --------
    >>> back_off_bill(np.array([0.5, 1.0, 5.0]), 6.0, 2.0, 2.0)
    Bill(polls=3, items=3, waited_s=3.5)
    """
    check_arrivals(times, duration)
    polls, waited = play_back_off(
        np.asarray(times, dtype=np.float64), float(duration), min_interval, max_interval
    )
    return Bill(polls, len(times), waited)


def best_fixed_interval(
    times: Vector, duration: float, prices: tuple[float, float], intervals: Iterable[float]
) -> Best:
    """Return the cheapest of these fixed intervals at (poll_cost, delay_cost)."""
    bills = {(x, x): back_off_bill(times, duration, x, x) for x in intervals}
    return cheapest(bills, prices)


def best_back_off(
    times: Vector, duration: float, prices: tuple[float, float], intervals: Iterable[float]
) -> Best:
    """Return the cheapest back-off with bounds among these intervals, fixed ones included."""
    pairs = combinations_with_replacement(sorted(intervals), 2)
    bills = {(low, high): back_off_bill(times, duration, low, high) for low, high in pairs}
    return cheapest(bills, prices)


def cheapest(bills: dict[tuple[float, float], Bill], prices: tuple[float, float]) -> Best:
    costs = {pair: bill.cost(*prices) for pair, bill in bills.items()}
    pair = min(costs, key=costs.__getitem__)
    return Best(*pair, costs[pair])


@njit(cache=True)
def play_back_off(
    times: Vector, duration: float, min_interval: float, max_interval: float
) -> tuple[int, float]:
    now, waited, interval = 0.0, 0.0, min_interval
    found = polls = 0
    while now < duration:
        now += interval
        polls += 1
        interval = min(2 * interval, max_interval)
        while found < len(times) and times[found] <= now:
            waited += now - times[found]
            found += 1
            interval = min_interval
    return polls, waited
