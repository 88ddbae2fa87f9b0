"""Bounded SlowDown [KB02]: stay awake after a request, then sleep longer and longer.

An answer that is not there a time e after the request takes at least e, so sleeping for at most
p e more cannot make it slower than 1 + p times its own time.
"""

from dataclasses import dataclass
from typing import ClassVar

from selectron.power.grid import BEACON, beacon_after, nanoseconds
from selectron.spec import FRACTION, Range, Spec


class BoundedSlowdownController:
    def __init__(self, p: float, cap: int) -> None:
        self.cap = cap
        self.listen = round(BEACON / p)
        self.sent_at = -self.listen  # no request yet: nothing to listen for

    def begin(self) -> int:
        return 0

    def sent(self, now: int, size: int) -> int:
        self.sent_at = now
        return now + self.listen

    def received(self, now: int, size: int, arrived: int) -> None:
        """Take no notice."""

    def woke(self, now: int, buffered: int) -> int:
        return 0

    def sleep(self, now: int) -> int:
        beacons = (now - self.sent_at) // self.listen  # = floor(p elapsed / BEACON)
        return beacon_after(now, min(max(beacons * BEACON, BEACON), self.cap))


@dataclass(frozen=True)
class BoundedSlowdown(Spec):
    """Let no answer take more than 1 + p times its own time [KB02].

    Parameters
    ----------
    p : float
        In (0, 1]; the radio listens for 100 ms / p after sending.
    cap_s : float
        Longest sleep, a multiple of 0.1 s.
    """

    p: float = 1.0
    cap_s: float = 0.9

    RANGES: ClassVar = {"p": FRACTION, "cap_s": Range(0.1, 3600.0)}

    def __post_init__(self) -> None:
        super().__post_init__()
        if nanoseconds(self.cap_s) % BEACON:
            raise ValueError(f"BoundedSlowdown: cap_s={self.cap_s!r} is not a multiple of 0.1 s")

    @property
    def name(self) -> str:
        return f"bsd-{100 * self.p:g}"

    def start(self) -> BoundedSlowdownController:
        return BoundedSlowdownController(self.p, nanoseconds(self.cap_s))
