"""What a power-saving policy decides: how long to listen, and for which beacon to wake."""

from typing import Protocol

from selectron.power.clock import BEACON, SECOND, nanoseconds
from selectron.spec import Range, Spec

SLEEP_S = Range(0.1, 3600.0)  # what a longest sleep may be


class Controller(Protocol):
    """The decisions of one station; every time is in nanoseconds.

    A controller that inherits from this class never listens and ignores packets, except where it
    defines a method of its own. A controller need not inherit from this class.
    """

    def begin(self) -> int:
        """Return until when to listen from time 0 on; 0 is not at all."""
        return 0

    def sent(self, now: int, size: int) -> int:
        """Return until when to listen after sending ``size`` bytes at ``now``.

        ``now`` or less is not at all, and the beacon to wake for stays the same. Anything later
        opens the radio: the station receives what waits, and then calls ``sleep`` again.
        """
        return 0

    def received(self, now: int, size: int, arrived: int) -> None:
        """Learn that a packet came, and when the packet had reached the access point.

        802.11 has no such time stamp; [Mon06] section 2.5.5 would ask the access point for it.
        """
        return

    def woke(self, now: int, buffered: int) -> int:
        """Learn that the station woke for a beacon and how many bytes waited.

        Return until when to listen. With bytes waiting, the station stays open until it has
        received them in any case.
        """
        return 0

    def sleep(self, now: int) -> int:
        """Return the beacon to wake for: a multiple of 100 ms after ``now``."""


class Policy(Protocol):
    """What a user writes: a name, and a fresh controller for each run."""

    @property
    def name(self) -> str:
        """The name in tables and plots."""

    def start(self) -> Controller:
        """Return a controller that has learnt nothing yet."""


def next_beacon(controller: Controller, now: int) -> int:
    """Ask for which beacon to wake, and refuse a time at which no beacon comes."""
    beacon = controller.sleep(now)
    if beacon <= now or beacon % BEACON:
        raise ValueError(
            f"sleep({now}) gave {beacon}: {beacon / SECOND:g} s is not a beacon after "
            f"{now / SECOND:g} s; give a later multiple of {BEACON} ns"
        )
    return beacon


def check_longest_sleep(spec: Spec, name: str) -> None:
    """Refuse a longest sleep that would end between two beacons."""
    seconds = getattr(spec, name)
    if nanoseconds(seconds) % BEACON:
        raise ValueError(f"{spec.label}: {name}={seconds!r} is not a multiple of 0.1 s")
