"""The three-node network of [Mon06] section 2.5.4: a client, its access point, a web server."""

from dataclasses import dataclass
from typing import ClassVar

from selectron.power.grid import SECOND, nanoseconds
from selectron.spec import POSITIVE, Range, Spec

DELAY = Range(0.0, 3600.0)
COUNT = Range(1, 1e6)
COUNTS = ("mss", "header", "initial_window", "window", "segments_per_ack", "connections")


@dataclass(frozen=True)
class Network(Spec):
    """Links and TCP settings; the links are those of [Mon06] section 2.5.4.

    Parameters
    ----------
    radio_mbps, radio_delay_s : float
        Client to access point, either way.
    wire_mbps, wire_delay_s : float
        Access point to server, either way.
    mss, header : int
        Bytes of data in a full segment, and of TCP/IP header on every packet.
    initial_window, window : int
        Segments in flight at the start and at most.
    segments_per_ack : int
        Full segments received before an ACK goes out at once; less waits for the 100 ms tick.
    nagle : bool
        Hold back a last, partial segment until all before it is acknowledged.
    connections : int
        Images fetched at the same time, each over a connection of its own.
    """

    radio_mbps: float = 5.0
    radio_delay_s: float = 1e-4
    wire_mbps: float = 10.0
    wire_delay_s: float = 0.02
    mss: int = 1460
    header: int = 40
    initial_window: int = 2
    window: int = 44
    segments_per_ack: int = 1
    nagle: bool = False
    connections: int = 4

    RANGES: ClassVar = {
        "radio_mbps": POSITIVE,
        "radio_delay_s": DELAY,
        "wire_mbps": POSITIVE,
        "wire_delay_s": DELAY,
    } | dict.fromkeys(COUNTS, COUNT)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in COUNTS:
            if not isinstance(getattr(self, name), int):
                raise TypeError(f"Network: {name} must be whole, got {getattr(self, name)!r}")


class Link:
    """One direction of a link: packets leave one after another and fly for ``delay``."""

    __slots__ = ("bits_per_second", "delay", "free")

    def __init__(self, mbps: float, delay_s: float) -> None:
        self.bits_per_second = max(1, round(mbps * 1e6))
        self.delay = nanoseconds(delay_s)
        self.free = 0  # when the last packet has left

    def carry(self, time: int, size: int) -> int:
        """Put a packet of ``size`` bytes on the link at ``time`` and say when it arrives."""
        start = time if time > self.free else self.free
        self.free = start + size * 8 * SECOND // self.bits_per_second
        return self.free + self.delay
