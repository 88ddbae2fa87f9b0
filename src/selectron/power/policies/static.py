"""802.11's own power saving: wake for every beacon."""

from dataclasses import dataclass

from selectron.power.grid import beacon_after


class StaticController:
    def begin(self) -> int:
        return 0

    def sent(self, now: int, size: int) -> int:
        return 0

    def received(self, now: int, size: int, arrived: int) -> None:
        """Take no notice."""

    def woke(self, now: int, buffered: int) -> int:
        return 0

    def sleep(self, now: int) -> int:
        return beacon_after(now)


@dataclass(frozen=True)
class StaticPsm:
    """Wake every 100 ms, stay awake only while the link is active (802.11 PSM)."""

    name: str = "static"

    def start(self) -> StaticController:
        return StaticController()
