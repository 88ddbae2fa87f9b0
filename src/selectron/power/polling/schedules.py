"""When to poll: what every schedule can do, and the two schedules that do not learn."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from math import inf
from typing import Protocol


class Schedule(Protocol):
    """Says when to poll next, and learns how many items a poll found."""

    def next(self) -> float: ...

    def observe(self, n_items: float, elapsed: float | None = None) -> None: ...


class Countable(Protocol):
    """A schedule that counts the polls it has observed."""

    @property
    def n_polls(self) -> int: ...

    def next(self) -> float: ...


def sleep_between_polls(schedule: Countable) -> Iterator[float]:
    while True:
        polls, interval = schedule.n_polls, schedule.next()
        time.sleep(interval)
        yield interval
        check_observed(schedule, polls)


async def await_between_polls(schedule: Countable) -> AsyncIterator[float]:
    while True:
        polls, interval = schedule.n_polls, schedule.next()
        await asyncio.sleep(interval)
        yield interval
        check_observed(schedule, polls)


def check_observed(schedule: Countable, polls_before: int) -> None:
    if schedule.n_polls == polls_before:
        raise RuntimeError(
            "the poll was not observed; call observe(n_items) in the loop, with 0 if it found "
            "nothing"
        )


class BackOff:
    """Double the interval after every poll that finds nothing; begin anew after one that does.

    Examples
    --------
    >>> schedule = BackOff(1.0, 3.0)
    >>> for found in (0, 0, 5):
    ...     schedule.observe(found)
    ...     print(schedule.next())
    2.0
    3.0
    1.0
    """

    def __init__(self, min_interval: float, max_interval: float) -> None:
        if not 0 < min_interval <= max_interval < inf:
            raise ValueError(
                f"intervals from {min_interval} to {max_interval}; give 0 < min <= max, in seconds"
            )
        self.min_interval = min_interval
        self.max_interval = max_interval
        self.interval = min_interval
        self.n_polls = 0

    def next(self) -> float:
        return self.interval

    def observe(self, n_items: float, elapsed: float | None = None) -> None:
        grown = self.min_interval if n_items > 0 else 2 * self.interval
        self.interval = min(grown, self.max_interval)
        self.n_polls += 1

    __iter__ = sleep_between_polls
    __aiter__ = await_between_polls


class FixedInterval(BackOff):
    """Poll at the same interval for ever: a back-off that cannot grow."""

    def __init__(self, interval: float) -> None:
        super().__init__(interval, interval)
