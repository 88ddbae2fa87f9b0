"""Policies that do not learn: no power saving, 802.11's own, and Bounded SlowDown [KB02]."""

from dataclasses import dataclass
from typing import ClassVar

from selectron.power.clock import BEACON, FOREVER, beacon_after, nanoseconds
from selectron.power.policies.policy import SLEEP_S, Controller, check_longest_sleep
from selectron.spec import FRACTION, Spec


@dataclass(frozen=True)
class AlwaysOn(Controller):
    """Never sleep: every slowdown is measured against this policy."""

    name: str = "none"

    def start(self) -> Controller:
        return self  # a policy without memory is its own controller

    def begin(self) -> int:
        return FOREVER

    def sent(self, now: int, size: int) -> int:
        return FOREVER

    def sleep(self, now: int) -> int:
        return FOREVER


@dataclass(frozen=True)
class StaticPsm(Controller):
    """Wake every 100 ms, stay awake only while the link is active (802.11 PSM)."""

    name: str = "static"

    def start(self) -> Controller:
        return self

    def sleep(self, now: int) -> int:
        return beacon_after(now)


class BoundedSlowdownController(Controller):
    def __init__(self, p: float, cap: int) -> None:
        self.cap = cap
        self.listen = round(BEACON / p)
        self.sent_at = -self.listen  # no request yet, so the radio does not listen

    def sent(self, now: int, size: int) -> int:
        self.sent_at = now
        return now + self.listen

    def sleep(self, now: int) -> int:
        beacons = (now - self.sent_at) // self.listen  # = floor(p elapsed / BEACON)
        return beacon_after(now, min(max(beacons * BEACON, BEACON), self.cap))


@dataclass(frozen=True)
class BoundedSlowdown(Spec):
    """Let no answer take more than 1 + p times its own time [KB02].

    The radio stays awake after a request, then sleeps longer and longer. An answer that has not
    come a time e after the request takes at least e. Sleeping for at most p e more cannot make that
    answer slower than 1 + p times its own time.

    Parameters
    ----------
    p : float
        In (0, 1]; the radio listens for 100 ms / p after sending.
    cap_s : float
        Longest sleep, a multiple of 0.1 s.
    """

    p: float = 1.0
    cap_s: float = 0.9

    RANGES: ClassVar = {"p": FRACTION, "cap_s": SLEEP_S}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_longest_sleep(self, "cap_s")

    @property
    def name(self) -> str:
        return f"bsd-{100 * self.p:g}"

    def start(self) -> BoundedSlowdownController:
        return BoundedSlowdownController(self.p, nanoseconds(self.cap_s))
