"""What a radio costs: so much awake, so much asleep, so much a beacon."""

from dataclasses import dataclass
from typing import ClassVar

from selectron.spec import NOT_NEGATIVE, Spec


@dataclass(frozen=True)
class Radio(Spec):
    """Power and energy of an 802.11 card; the defaults are those of [KB02] and [Mon06] 2.5.4.

    Parameters
    ----------
    awake_w, asleep_w : float
        Watts.
    beacon_j : float
        Joules for each beacon woken for.
    """

    awake_w: float = 0.75
    asleep_w: float = 0.05
    beacon_j: float = 0.0015

    RANGES: ClassVar = dict.fromkeys(("awake_w", "asleep_w", "beacon_j"), NOT_NEGATIVE)

    def joules(self, duration_s: float, awake_s: float, beacons: int) -> float:
        asleep_s = duration_s - awake_s
        return self.awake_w * awake_s + self.asleep_w * asleep_s + self.beacon_j * beacons
