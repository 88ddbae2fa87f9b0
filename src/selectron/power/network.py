"""The equipment of [Mon06] section 2.5.4: links and TCP settings, and what the radio costs."""

from dataclasses import dataclass
from typing import ClassVar

from selectron.spec import NOT_NEGATIVE, POSITIVE, Range, Spec

DELAY = Range(0.0, 3600.0)
COUNT = Range(1, 1e6)
COUNTS = ("mss", "header", "initial_window", "window", "segments_per_ack", "connections")


@dataclass(frozen=True)
class Network(Spec):
    """Links and TCP settings; the links are those of [Mon06] section 2.5.4.

    Parameters
    ----------
    radio_mbps, radio_delay_s : float
        The link between client and access point, in both directions.
    wire_mbps, wire_delay_s : float
        The link between access point and server, in both directions.
    mss, header : int
        Bytes of data in a full segment, and bytes of TCP/IP header on every packet.
    initial_window, window : int
        Segments in flight at the start, and at most.
    segments_per_ack : int
        After so many full segments an ACK goes out at once; after fewer, at the 100 ms tick.
    nagle : bool
        Hold back a last, partial segment until all segments before it are acknowledged.
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


@dataclass(frozen=True)
class Radio(Spec):
    """Power and energy of an 802.11 card; the defaults are those of [KB02] and [Mon06] 2.5.4.

    Parameters
    ----------
    awake_w, asleep_w : float
        Watts.
    beacon_j : float
        Joules for each beacon that the card wakes for.
    """

    awake_w: float = 0.75
    asleep_w: float = 0.05
    beacon_j: float = 0.0015

    RANGES: ClassVar = dict.fromkeys(("awake_w", "asleep_w", "beacon_j"), NOT_NEGATIVE)

    def joules(self, duration_s: float, awake_s: float, beacons: int) -> float:
        asleep_s = duration_s - awake_s
        return self.awake_w * awake_s + self.asleep_w * asleep_s + self.beacon_j * beacons
