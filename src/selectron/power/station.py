"""The client's radio and the access point that buffers for it while it sleeps.

Two states are kept apart: the radio is *open* when the access point may send to it, and *awake*
(which is what costs) when it is open or is sending. A station that sends out of its sleep wakes for
the transmission only; what arrives meanwhile is still buffered.
"""

from collections.abc import Callable
from typing import Any

from selectron.power.events import Events
from selectron.power.grid import FOREVER
from selectron.power.network import Link, Network
from selectron.power.policies.policy import Controller, next_beacon

# size in bytes, when it reached the access point, what its arrival does
Packet = tuple[int, int, Callable[..., None], tuple[Any, ...]]


class Station:
    """One client under a policy, with the links on its either side."""

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
        self.sending_until = 0  # when the last packet sent is at the access point
        self.beacons = 0
        self.awake = 0  # nanoseconds awake, counted up to `counted`
        self.counted = 0
        self.is_open = True
        self.listen_until = controller.begin()
        self.wake_at = FOREVER
        self.check_at = -1
        self.sleep_when_idle()

    def send_up(self, size: int, arrival: Callable[..., None], *arguments: Any) -> None:
        """Send a packet from the client to the server."""
        now = self.events.now
        self.sending_until = self.radio_up.carry(now, size)
        # Nothing else feeds the wire in this direction, so both hops are known at once.
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

    def send_down(self, size: int, arrival: Callable[..., None], *arguments: Any) -> None:
        """Send a packet from the server to the client."""
        at_access_point = self.wire_down.carry(self.events.now, size)
        self.events.at(at_access_point, self.forward, (size, at_access_point, arrival, arguments))

    def forward(self, packet: Packet) -> None:
        """Pass a packet on to the client, or keep it while the client sleeps."""
        if self.is_open:
            self.in_flight += 1
            self.events.at(self.radio_down.carry(self.events.now, packet[0]), self.deliver, packet)
        else:
            self.buffer.append(packet)
            self.buffered += packet[0]

    def deliver(self, packet: Packet) -> None:
        self.in_flight -= 1
        size, arrived, arrival, arguments = packet
        self.controller.received(self.events.now, size, arrived)
        arrival(*arguments)
        self.sleep_when_idle()

    def wake(self) -> None:
        """Wake for the beacon that is due: poll, and stay open if something waits."""
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
        """Go to sleep if the link is idle in both directions and the policy listens no more."""
        if not self.is_open or self.in_flight:
            return  # what is in flight asks again when it arrives
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
        """Add the time awake so far to the account."""
        if self.is_open and self.events.now > self.counted:
            self.awake += self.events.now - self.counted
            self.counted = self.events.now
