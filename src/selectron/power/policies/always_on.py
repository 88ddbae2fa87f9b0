"""No power saving: the radio is always awake."""

from dataclasses import dataclass

from selectron.power.grid import FOREVER


class AlwaysOnController:
    def begin(self) -> int:
        return FOREVER

    def sent(self, now: int, size: int) -> int:
        return FOREVER

    def received(self, now: int, size: int, arrived: int) -> None:
        """Take no notice."""

    def woke(self, now: int, buffered: int) -> int:
        return FOREVER

    def sleep(self, now: int) -> int:
        return FOREVER


@dataclass(frozen=True)
class AlwaysOn:
    """Never sleep: what every slowdown is measured against."""

    name: str = "none"

    def start(self) -> AlwaysOnController:
        return AlwaysOnController()
