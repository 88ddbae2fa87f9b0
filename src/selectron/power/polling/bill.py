"""What polling cost: polls, and the seconds that items waited.

`replay` bills any schedule. The functions below it bill the best schedules that knew the arrivals.
"""

from collections.abc import Iterable
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from numba import njit

from selectron.arrays import Vector
from selectron.power.polling.schedules import Schedule

DAY = 86_400.0


class Arrivals(NamedTuple):
    """When items arrive, and how long the stream lasts, in seconds."""

    times: Vector
    duration: float


def poisson(seed: int, *, rate: float = 1 / 30, duration: float = DAY) -> Arrivals:
    """Draw items that arrive independently of each other, `rate` a second."""
    generator = np.random.default_rng([seed, 0])
    count = generator.poisson(rate * duration)
    return Arrivals(np.sort(generator.random(count)) * duration, duration)


def bursts(
    seed: int, *, gap: float = 900.0, size: float = 30.0, rate: float = 0.5, duration: float = DAY
) -> Arrivals:
    """Draw bursts that begin at random: `size` items on average, `rate` a second."""
    generator = np.random.default_rng([seed, 1])
    begins = np.sort(generator.random(generator.poisson(duration / gap))) * duration
    sizes = generator.geometric(1 / size, len(begins))
    waits = [np.cumsum(generator.exponential(1 / rate, n)) for n in sizes]
    parts = [begin + wait for begin, wait in zip(begins, waits, strict=True)]
    times = np.concatenate([np.empty(0), *parts])
    return Arrivals(np.sort(times[times < duration]), duration)


def on_off(
    seed: int,
    *,
    on: float = 20.0,
    off: float = 120.0,
    shape: float = 1.5,
    rate: float = 0.5,
    duration: float = DAY,
) -> Arrivals:
    """Draw a source that is on and off for times with a Pareto tail, `on` and `off` at least."""
    generator = np.random.default_rng([seed, 2])
    parts, now = [np.empty(0)], 0.0
    while now < duration:
        now += off * (1 + generator.pareto(shape))
        length = on * (1 + generator.pareto(shape))
        parts.append(now + np.sort(generator.random(generator.poisson(rate * length))) * length)
        now += length
    times = np.concatenate(parts)
    return Arrivals(times[times < duration], duration)


class Bill(NamedTuple):
    polls: int
    items: int
    waited_s: float  # summed over the items

    def cost(self, poll_cost: float, delay_cost: float) -> float:
        return poll_cost * self.polls + delay_cost * self.waited_s


def replay(schedule: Schedule, times: Vector, duration: float) -> Bill:
    """Poll for items that arrive at these times, until the first poll at or after `duration`.

    Parameters
    ----------
    schedule : Schedule
        Such as an `AdaptivePoller` or a `BackOff`.
    times : array
        When items arrive: seconds from 0 up to `duration`, sorted.
    duration : float
        Seconds.

    Examples
    --------
    >>> from selectron.power.polling import FixedInterval
    >>> replay(FixedInterval(2.0), np.array([0.5, 1.0, 5.0]), 6.0)
    Bill(polls=3, items=3, waited_s=3.5)
    """
    check_arrivals(times, duration)
    now, found, polls, waited = 0.0, 0, 0, 0.0
    while now < duration:
        interval = schedule.next()
        now += interval
        polls += 1
        until = int(np.searchsorted(times, now, side="right"))
        for arrival in times[found:until].tolist():
            waited += now - arrival
        schedule.observe(until - found, interval)
        found = until
    return Bill(polls, found, waited)


def check_arrivals(times: Vector, duration: float) -> None:
    edges = np.concatenate([[0.0], times, [duration]])
    if not (np.diff(edges) >= 0).all():
        raise ValueError(
            f"arrivals must be sorted and lie between 0 and the duration, {duration}: sort them "
            "and subtract when the stream began"
        )


class Best(NamedTuple):
    """The bounds of the cheapest schedule, and what it cost."""

    min_interval: float
    max_interval: float
    cost: float


def back_off_bill(times: Vector, duration: float, min_interval: float, max_interval: float) -> Bill:
    """Replay a `BackOff` in compiled code; equal bounds make a fixed interval.

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
    return cheapest(times, duration, prices, ((x, x) for x in intervals))


def best_back_off(
    times: Vector, duration: float, prices: tuple[float, float], intervals: Iterable[float]
) -> Best:
    """Return the cheapest back-off with bounds among these intervals, fixed ones included."""
    pairs = combinations_with_replacement(sorted(intervals), 2)
    return cheapest(times, duration, prices, pairs)


def cheapest(
    times: Vector,
    duration: float,
    prices: tuple[float, float],
    bounds: Iterable[tuple[float, float]],
) -> Best:
    bills = (Best(*pair, back_off_bill(times, duration, *pair).cost(*prices)) for pair in bounds)
    return min(bills, key=lambda best: best.cost)


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
