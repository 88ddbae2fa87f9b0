"""Time and the beacon grid: whole nanoseconds, and radios that wake at multiples of 100 ms.

Integer time makes every sum exact. Whether a packet reached the access point before a beacon never
hangs on rounding, so a run has the same bits on every machine.
"""

SECOND = 1_000_000_000
BEACON = SECOND // 10  # 802.11 stations wake, and ns-2's delayed ACKs go out, on this grid
FOREVER = 1 << 62


def nanoseconds(seconds: float) -> int:
    """Round a time in seconds to whole nanoseconds."""
    return round(seconds * SECOND)


def beacon_after(now: int, interval: int = BEACON) -> int:
    """Give the beacon ``interval`` after the last one at or before ``now``."""
    return now - now % BEACON + interval
