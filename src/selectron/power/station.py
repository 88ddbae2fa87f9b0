"""The client's radio and the access point that buffers for it while it sleeps.

Two states differ. The radio is *open* when the access point may send to it. The radio is *awake*,
which costs energy, when it is open or is sending. A station that sends while it sleeps is awake
for the transmission only; the access point still buffers what arrives meanwhile.
"""

from collections.abc import Callable
from typing import NamedTuple

from selectron.power.clock import FOREVER, SECOND, Events, nanoseconds
from selectron.power.network import Network
from selectron.power.policies.policy import Controller, next_beacon


class Link:
    """One direction of a link: packets leave one after another, and each travels for ``delay``."""

    __slots__ = ("bits_per_second", "delay", "free")

    def __init__(self, mbps: float, delay_s: float) -> None:
        self.bits_per_second = max(1, round(mbps * 1e6))
        self.delay = nanoseconds(delay_s)
        self.free = 0  # when the last packet has left the sender

    def carry(self, time: int, size: int) -> int:
        """Put a packet of ``size`` bytes on the link at ``time``; return when it arrives."""
        start = time if time > self.free else self.free
        self.free = start + size * 8 * SECOND // self.bits_per_second
        return self.free + self.delay


class Packet(NamedTuple):
    """A packet from the server to the client."""

    size: int  # bytes
    arrived: int  # when the packet reached the access point
    arrival: Callable[..., None]  # what happens when the client receives the packet
    arguments: tuple[object, ...]


class Station:
    """One client under a policy, with its access point and the links on both sides of it."""

    def __init__(self, events: Events, network: Network, controller: Controller) -> None:
        self.events = events
        self.controller = controller
        self.radio_up = Link(network.radio_mbps, network.radio_delay_s)
        self.radio_down = Link(network.radio_mbps, network.radio_delay_s)
        self.wire_up = Link(network.wire_mbps, network.wire_delay_s)
        self.wire_down = Link(network.wire_mbps, network.wire_delay_s)
        self.buffer: list[Packet] = []
        self.buffered = 0  # bytes in the buffer, I_t
        self.in_flight = 0  # packets on the radio link towards the client
        self.sending_until = 0  # when the access point has the last packet sent
        self.beacons = 0
        self.awake = 0  # nanoseconds awake, up to the time `counted`
        self.counted = 0
        self.is_open = True
        self.listen_until = controller.begin()
        self.wake_at = FOREVER
        self.check_at = -1
        self.sleep_when_idle()

    def send_up(self, size: int, arrival: Callable[..., None], *arguments: object) -> None:
        """Send a packet from the client to the server."""
        now = self.events.now
        self.sending_until = self.radio_up.carry(now, size)
        # No other station sends on this wire, so the time after both hops is known now.
        self.events.at(self.wire_up.carry(self.sending_until, size), arrival, *arguments)
        listen_until = self.controller.sent(now, size)
        if self.is_open:
            self.listen_until = listen_until
        elif listen_until > now:
            self.open(listen_until)
        else:
            self.awake += self.sending_until - max(now, self.counted)
            self.counted = self.sending_until
            return
        self.sleep_when_idle()

    def send_down(self, size: int, arrival: Callable[..., None], *arguments: object) -> None:
        """Send a packet from the server to the client."""
        at_access_point = self.wire_down.carry(self.events.now, size)
        packet = Packet(size, at_access_point, arrival, arguments)
        self.events.at(at_access_point, self.forward, packet)

    def forward(self, packet: Packet) -> None:
        """Pass a packet on to the client, or buffer it while the client sleeps."""
        if self.is_open:
            self.in_flight += 1
            arrives = self.radio_down.carry(self.events.now, packet.size)
            self.events.at(arrives, self.deliver, packet)
        else:
            self.buffer.append(packet)
            self.buffered += packet.size

    def deliver(self, packet: Packet) -> None:
        self.in_flight -= 1
        self.controller.received(self.events.now, packet.size, packet.arrived)
        packet.arrival(*packet.arguments)
        self.sleep_when_idle()

    def wake(self) -> None:
        """Wake for the beacon that is due, and stay open if packets wait or the policy listens."""
        now = self.events.now = self.wake_at
        self.beacons += 1
        listen_until = self.controller.woke(now, self.buffered)
        if self.buffered or listen_until > now:
            self.open(listen_until)
            self.sleep_when_idle()
        else:
            self.wake_at = next_beacon(self.controller, now)

    def open(self, listen_until: int) -> None:
        self.is_open = True
        self.listen_until = listen_until
        self.wake_at = FOREVER
        self.counted = max(self.counted, self.events.now)
        waiting, self.buffer, self.buffered = self.buffer, [], 0
        for packet in waiting:
            self.forward(packet)

    def sleep_when_idle(self) -> None:
        """Go to sleep if the link is idle in both directions and the policy stopped listening."""
        if not self.is_open or self.in_flight:
            return  # `deliver` calls this method again when a packet arrives
        now = self.events.now
        busy_until = max(self.sending_until, self.listen_until)
        if now >= busy_until:
            self.count_awake()
            self.is_open = False
            self.wake_at = next_beacon(self.controller, now)
        elif busy_until < FOREVER and busy_until != self.check_at:
            self.check_at = busy_until
            self.events.at(busy_until, self.sleep_when_idle)

    def count_awake(self) -> None:
        """Add the time awake since the last count."""
        if self.is_open and self.events.now > self.counted:
            self.awake += self.events.now - self.counted
            self.counted = self.events.now
