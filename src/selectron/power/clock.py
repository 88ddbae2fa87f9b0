"""Simulated time: whole nanoseconds, a beacon every 100 ms, and a queue of planned events.

Integer time makes every sum exact. Rounding never decides whether a packet reached the access point
before a beacon, so a run has the same bits on every machine.
"""

from collections.abc import Callable
from heapq import heappop, heappush

SECOND = 1_000_000_000
BEACON = SECOND // 10  # 802.11 stations wake, and ns-2's delayed ACKs go out, on this grid
FOREVER = 1 << 62


def nanoseconds(seconds: float) -> int:
    """Round a time in seconds to whole nanoseconds."""
    return round(seconds * SECOND)


def beacon_after(now: int, interval: int = BEACON) -> int:
    """Return the beacon ``interval`` after the last beacon at or before ``now``."""
    return now - now % BEACON + interval


class Events:
    """The clock of a simulation, and a queue of events.

    The earliest event comes first. Events of the same time come in the order they were planned.
    """

    __slots__ = ("agenda", "now", "planned")

    def __init__(self) -> None:
        self.agenda: list[tuple[int, int, Callable[..., None], tuple[object, ...]]] = []
        self.now = 0
        self.planned = 0

    def at(self, time: int, action: Callable[..., None], *arguments: object) -> None:
        """Plan ``action(*arguments)`` for ``time``, in nanoseconds."""
        self.planned += 1
        heappush(self.agenda, (time, self.planned, action, arguments))

    def step(self) -> None:
        """Move the clock to the next event and carry it out."""
        self.now, _, action, arguments = heappop(self.agenda)
        action(*arguments)
