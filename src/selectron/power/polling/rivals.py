"""What pollers do that do not learn: a fixed interval, and exponential back-off."""

from collections.abc import AsyncIterator, Iterator
from math import inf

from selectron.power.polling.waiting import await_between_polls, sleep_between_polls


class BackOff:
    """Double the interval at every poll that finds nothing; begin anew at one that does.

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

    def __iter__(self) -> Iterator[float]:
        return sleep_between_polls(self)

    def __aiter__(self) -> AsyncIterator[float]:
        return await_between_polls(self)


class FixedInterval(BackOff):
    """Poll at the same interval for ever."""

    def __init__(self, interval: float) -> None:
        super().__init__(interval, interval)
