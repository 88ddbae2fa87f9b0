"""What a power-saving policy decides: how long to listen, and for which beacon to wake."""

from typing import Protocol

from selectron.power.grid import BEACON, SECOND


class Controller(Protocol):
    """The decisions of one station; every time is in nanoseconds."""

    def begin(self) -> int:
        """Say until when to listen from time 0 on; 0 is not at all."""

    def sent(self, now: int, size: int) -> int:
        """Say until when to listen after sending ``size`` bytes at ``now``.

        ``now`` or less is not at all, and the beacon to wake for stays. Anything later opens the
        radio: what waits is received, and when that is over ``sleep`` is asked again.
        """

    def received(self, now: int, size: int, arrived: int) -> None:
        """Learn that a packet came, and when it had reached the access point.

        802.11 has no such time stamp; [Mon06] section 2.5.5 would ask the access point for it.
        """

    def woke(self, now: int, buffered: int) -> int:
        """Learn that a beacon was woken for, and how many bytes waited; listen until when?

        With bytes waiting, the station stays open until they are received in any case.
        """

    def sleep(self, now: int) -> int:
        """Say for which beacon to wake: a multiple of 100 ms after ``now``."""


class Policy(Protocol):
    """What a user writes: a name, and a fresh controller for each run."""

    @property
    def name(self) -> str:
        """The name in tables and plots."""

    def start(self) -> Controller:
        """Give a controller that has learnt nothing yet."""


def next_beacon(controller: Controller, now: int) -> int:
    """Ask for which beacon to wake, and refuse what would stop the clock."""
    beacon = controller.sleep(now)
    if beacon <= now or beacon % BEACON:
        raise ValueError(
            f"sleep({now}) gave {beacon}: {beacon / SECOND:g} s is not a beacon after "
            f"{now / SECOND:g} s; give a later multiple of {BEACON} ns"
        )
    return beacon
