"""TCP without losses, as ns-2's FullTcp does it: what decides in which beacon a byte can come.

Slow start from ``initial_window`` segments, one more for each ACK, up to ``window``; an ACK at once
for ``segments_per_ack`` full segments, for less at the next tick of a 100 ms clock; a last, partial
segment waits until all before it is acknowledged (Nagle). Connections are opened by a handshake
and not closed. Nothing is ever lost, so there is no retransmission timer.
"""

from collections.abc import Callable

from selectron.power.events import Events
from selectron.power.grid import beacon_after
from selectron.power.network import Network

Transmit = Callable[..., None]  # (size, arrival, *arguments)


class Endpoint:
    """One end of a connection: sends its bytes, acknowledges the other end's."""

    def __init__(self, events: Events, network: Network, transmit: Transmit) -> None:
        self.events = events
        self.network = network
        self.transmit = transmit
        self.peer: Endpoint
        self.on_data: Callable[[int], None]  # called with all bytes received so far
        self.total = 0  # bytes given to send
        self.sent = 0
        self.acked = 0
        self.cwnd = network.initial_window
        self.received = 0
        self.unacked = 0  # bytes received since the last ACK went out
        self.owes_ack = False

    def write(self, size: int) -> None:
        self.total += size
        self.pump(forced=False)

    def pump(self, forced: bool, acknowledge: bool = False) -> None:
        """Send what the window allows; ``acknowledge`` sends an ACK even without data."""
        network, mss = self.network, self.network.mss
        window = min(self.cwnd, network.window) * mss
        while forced or (self.sent < min(self.total, self.acked + window) and not self.lone_byte):
            length = min(mss, min(self.total - self.acked, window) - (self.sent - self.acked))
            ends = self.sent + length >= self.total
            may_go = length == mss or (ends and (self.acked == self.sent or not network.nagle))
            if not (acknowledge or (length > 0 and may_go)):
                return
            self.emit(length)
            if length == 0:
                return
            forced = acknowledge = False

    @property
    def lone_byte(self) -> bool:
        """A single last byte waits for the ACK of all before it, Nagle or not: so does FullTcp."""
        return self.total - self.sent == 1 and self.acked < self.sent

    def emit(self, length: int) -> None:
        self.sent += length
        self.unacked = 0
        self.owes_ack = False
        self.transmit(length + self.network.header, self.peer.receive, length, self.received)

    def receive(self, length: int, ack: int) -> None:
        forced = False
        if ack > self.acked:
            self.acked = ack
            self.cwnd += 1
            forced = ack == self.sent
        if length:
            self.received += length
            self.unacked += length
            self.plan_ack()
            self.on_data(self.received)
            # The application may have answered, and the answer carried the ACK.
            forced = self.unacked >= self.network.segments_per_ack * self.network.mss
            self.pump(forced, acknowledge=forced)
        else:
            self.pump(forced)

    def plan_ack(self) -> None:
        """Acknowledge at the next tick, unless an ACK goes out before."""
        if not self.owes_ack:
            self.owes_ack = True
            self.events.at(beacon_after(self.events.now), self.tick)

    def tick(self) -> None:
        if self.owes_ack:
            self.pump(forced=True, acknowledge=True)


class Connection:
    """One object fetched: handshake, request, the server's delay, reply; or bytes pushed."""

    def __init__(
        self,
        events: Events,
        network: Network,
        send_up: Transmit,
        send_down: Transmit,
        fetched: Callable[[], None],
    ) -> None:
        self.events = events
        self.header = network.header
        self.client = Endpoint(events, network, send_up)
        self.server = Endpoint(events, network, send_down)
        self.client.peer, self.server.peer = self.server, self.client
        self.fetched = fetched

    def fetch(self, request: int, reply: int, delay: int) -> None:
        """Ask for ``reply`` bytes with ``request`` bytes; the server thinks for ``delay``."""

        def answer(received: int) -> None:
            if received == request:
                if delay:
                    self.events.at(self.events.now + delay, self.server.write, reply)
                else:
                    self.server.write(reply)

        def collect(received: int) -> None:
            if received == reply:
                self.fetched()

        self.server.on_data = answer
        self.client.on_data = collect
        self.client.total = request
        self.client.transmit(self.header, self.accept)

    def push(self, size: int) -> None:
        """Send ``size`` bytes unasked; the handshake was long ago."""
        due = self.server.total + size

        def collect(received: int) -> None:
            if received == due:
                self.fetched()

        self.client.on_data = collect
        self.server.write(size)

    def accept(self) -> None:
        """At the server: answer the SYN."""
        self.server.transmit(self.header, self.established)

    def established(self) -> None:
        """At the client: acknowledge the SYN-ACK, then send the request in a packet of its own."""
        self.client.transmit(self.header, self.handshake_over)
        self.client.pump(forced=True, acknowledge=True)

    def handshake_over(self) -> None:
        """At the server: nothing to do before the request comes."""
