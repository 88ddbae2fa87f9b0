"""On which occasion a packet was sent: what may follow it differs, so each has its own learner."""

from selectron.power.grid import SECOND

ANSWERED, ACKNOWLEDGED, UNASKED = range(3)
OCCASIONS = 3

SMALL = 64  # bytes: a packet without data
LATE_ACK = (SECOND // 1000 * 3, SECOND // 1000 * 150)  # after what it acknowledges
LATELY = 2 * SECOND


class Occasions:
    """Tells a request from an ACK after a reply, and both from an ACK of what came unasked.

    A small packet sent 3 to 150 ms after one was received is a delayed ACK: no answer will come to
    it. Any other packet may be answered, ACKs sent at once included: they let a reply go on.
    """

    def __init__(self) -> None:
        self.asked_at = -LATELY
        self.received_at = -LATELY

    def received(self, now: int) -> None:
        self.received_at = now

    def sent(self, now: int, size: int) -> int:
        """Give the occasion, and remember the packet."""
        if size > SMALL:
            self.asked_at = now
        first, last = LATE_ACK
        if size > SMALL or not first <= now - self.received_at <= last:
            return ANSWERED
        return ACKNOWLEDGED if now - self.asked_at < LATELY else UNASKED
