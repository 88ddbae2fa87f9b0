"""Sleeping until the next poll, in a loop or in a coroutine."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from typing import Protocol


class Countable(Protocol):
    """A schedule that counts the polls it has heard of."""

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
