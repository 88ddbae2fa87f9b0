"""What polling cost: polls, and the seconds items waited."""

from typing import NamedTuple, Protocol

import numpy as np

from selectron.arrays import Vector


class Schedule(Protocol):
    """Anything that says when to poll next and hears what was found."""

    def next(self) -> float: ...

    def observe(self, n_items: float, elapsed: float | None = None) -> None: ...


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
        An `AdaptivePoller`, or a rival.
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
