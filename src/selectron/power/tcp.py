"""TCP without losses, as ns-2's FullTcp does it: TCP decides for which beacon a byte can arrive.

The window starts at ``initial_window`` segments and grows by one for each ACK, up to ``window``. An
ACK goes out at once after ``segments_per_ack`` full segments, after fewer at the next tick of a
100 ms clock. A last, partial segment waits until all segments before it are acknowledged (Nagle).
A handshake opens each connection; no connection is closed. No packet is ever lost, so there is no
retransmission timer.
"""

from collections.abc import Callable

from selectron.power.clock import Events, beacon_after
from selectron.power.network import Network

Transmit = Callable[..., None]  # (size, arrival, *arguments)


class Endpoint:
    """One end of a connection: sends its own bytes and acknowledges those of the other end."""

    def __init__(self, events: Events, network: Network, transmit: Transmit) -> None:
        self.events = events
        self.network = network
        self.transmit = transmit
        self.peer: Endpoint
        self.on_data: Callable[[int], None]  # called with all bytes received so far
        self.total = 0  # bytes that the application has written
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
        """Whether one last byte waits for the ACK of all before it: FullTcp does, Nagle or not."""
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
            # If the application has answered, its answer has carried the ACK.
            forced = self.unacked >= self.network.segments_per_ack * self.network.mss
            self.pump(forced, acknowledge=forced)
        else:
            self.pump(forced)

    def plan_ack(self) -> None:
        """Plan an ACK for the next tick; `emit` cancels it if a packet goes out before."""
        if not self.owes_ack:
            self.owes_ack = True
            self.events.at(beacon_after(self.events.now), self.tick)

    def tick(self) -> None:
        if self.owes_ack:
            self.pump(forced=True, acknowledge=True)


class Connection:
    """One connection between client and server: it fetches one object, or carries pushed bytes."""

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
        """Send ``request`` bytes; after ``delay`` the server answers with ``reply`` bytes."""

        def answer(received: int) -> None:
            if received == request:
                if delay:
                    self.events.at(self.events.now + delay, self.server.write, reply)
                else:
                    self.server.write(reply)

        self.server.on_data = answer
        self.expect(reply)
        self.client.total = request
        self.client.transmit(self.header, self.accept)

    def push(self, size: int) -> None:
        """Let the server send ``size`` bytes unasked; a pushed connection needs no handshake."""
        self.expect(self.server.total + size)
        self.server.write(size)

    def expect(self, total: int) -> None:
        """Call ``fetched`` once the client has received ``total`` bytes."""

        def collect(received: int) -> None:
            if received == total:
                self.fetched()

        self.client.on_data = collect

    def accept(self) -> None:
        """Answer the SYN, at the server."""
        self.server.transmit(self.header, self.established)

    def established(self) -> None:
        """Acknowledge the SYN-ACK, at the client, then send the request in a packet of its own."""
        self.client.transmit(self.header, self.handshake_over)
        self.client.pump(forced=True, acknowledge=True)

    def handshake_over(self) -> None:
        """Do nothing, at the server: it waits for the request."""
