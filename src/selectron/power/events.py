"""A queue of things to happen: earliest first, and in the order they were planned when at once."""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any


class Events:
    """The simulation's clock and its agenda."""

    __slots__ = ("agenda", "now", "planned")

    def __init__(self) -> None:
        self.agenda: list[tuple[int, int, Callable[..., None], tuple[Any, ...]]] = []
        self.now = 0
        self.planned = 0

    def at(self, time: int, action: Callable[..., None], *arguments: Any) -> None:
        """Plan ``action(*arguments)`` for ``time``, in nanoseconds."""
        self.planned += 1
        heappush(self.agenda, (time, self.planned, action, arguments))

    def step(self) -> None:
        """Let the next thing happen."""
        self.now, _, action, arguments = heappop(self.agenda)
        action(*arguments)
