"""When the evidence of a window starts anew, and which start is old enough to speak for it."""

from typing import NamedTuple, Protocol, Self

import numpy as np

IN_A_WINDOW = 4
FIRST_DOUBLING = 500


class Starts(Protocol):
    """A list of rounds, fixed beforehand; 0 is the first."""

    def after(self, start: int) -> int: ...
    def first_from(self, rounds: int) -> int: ...
    def number(self, start: int) -> int: ...
    def oldest(self, rounds: int) -> int: ...


class Quarters(NamedTuple):
    """Every quarter of a window of fixed size."""

    window: int

    @classmethod
    def of(cls, window: int) -> Self:
        whole = isinstance(window, int | np.integer) and not isinstance(window, bool)
        if not whole or window < IN_A_WINDOW or window % IN_A_WINDOW:
            raise ValueError(f"window must be a multiple of {IN_A_WINDOW} rounds, got {window!r}")
        return cls(int(window))

    def after(self, start: int) -> int:
        return start + self.window // IN_A_WINDOW

    def first_from(self, rounds: int) -> int:
        quarter = self.window // IN_A_WINDOW
        return -(-rounds // quarter) * quarter

    def number(self, start: int) -> int:
        return start // (self.window // IN_A_WINDOW) + 1

    def oldest(self, rounds: int) -> int:
        return rounds - self.window - self.window // IN_A_WINDOW


class Doublings(NamedTuple):
    """500, 1,000, 2,000, ...: the last start but one leaves out a quarter of the rounds to a half.

    There are few of them, so that each has a large share of what the level leaves.
    """

    def after(self, start: int) -> int:
        return 2 * start if start else FIRST_DOUBLING

    def first_from(self, rounds: int) -> int:
        start = 0
        while start < rounds:
            start = self.after(start)
        return start

    def number(self, start: int) -> int:
        return (start // FIRST_DOUBLING).bit_length() + 1

    def oldest(self, rounds: int) -> int:
        last = self.first_from(rounds // 2 + 1)
        return last // 2 if last > FIRST_DOUBLING else 0
