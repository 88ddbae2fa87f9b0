"""LPSM: learn how long to sleep, with Learn-α over fixed sleeping times ([Mon06], Figure 2-4)."""

from dataclasses import dataclass

import numpy as np

from selectron.experts import LearnAlpha
from selectron.power.grid import BEACON, beacon_after
from selectron.power.policies.losses import INVERSE, INVERSE_LOG, SleepLoss

BEACON_MS = BEACON // 1_000_000


class LpsmController:
    def __init__(self, experts: LearnAlpha, sleeps_ms: tuple[float, ...], loss: SleepLoss) -> None:
        self.experts = experts
        self.sleeps = sleeps_ms
        self.sleeps_ms = np.array(sleeps_ms, dtype=np.float64)
        self.loss = loss
        self.choose()

    def choose(self) -> None:
        """Take the weighted mean of the sleeping times (2.32), to the nearest 100 ms."""
        mean = 0.0
        for weight, sleep in zip(self.experts.weights.tolist(), self.sleeps, strict=True):
            mean += weight * sleep
        # Up when half way, as equal weights on 100 … 1200 ms are: no last bit may decide that.
        self.beacons = max(1, int(mean / BEACON_MS + 0.5 + 1e-9))

    def begin(self) -> int:
        return 0

    def sent(self, now: int, size: int) -> int:
        return 0

    def received(self, now: int, size: int, arrived: int) -> None:
        """Take no notice."""

    def woke(self, now: int, buffered: int) -> int:
        # A copy: a loss of the user's that works in place must not move the experts.
        slept = self.beacons * BEACON_MS
        self.experts.update(self.loss(self.sleeps_ms.copy(), slept, buffered))
        self.choose()
        return 0

    def sleep(self, now: int) -> int:
        return beacon_after(now, self.beacons * BEACON)


@dataclass(frozen=True)
class Lpsm:
    """Sleep for the weighted mean of what the experts propose ([Mon06], Figure 2-4).

    Each expert is a fixed sleeping time. At every scheduled wake-up each of them is charged what
    its time would have cost, and Learn-α shifts the weights.

    Parameters
    ----------
    loss : callable
        ``loss(sleeps_ms, slept_ms, bytes_waiting)`` gives a loss for each sleeping time: (2.35) by
        default, any other function of yours as well.
    sleeps_ms : tuple of float
        The experts; [Mon06] has 100 ms to 1.2 s.
    horizon : int
        Wake-ups for which Learn-α's switching rates are chosen. "45 minutes" of [Mon06], counted
        in beacons.
    name : str
        Name in tables and plots.
    """

    loss: SleepLoss = INVERSE
    sleeps_ms: tuple[float, ...] = tuple(100.0 * i for i in range(1, 13))
    horizon: int = 27_000
    name: str = "lpsm-1/T"

    def __post_init__(self) -> None:
        if len(self.sleeps_ms) < 2 or not all(0 < sleep < 1e9 for sleep in self.sleeps_ms):
            raise ValueError(
                f"sleeps_ms={self.sleeps_ms!r} must hold two or more sleeping times in ms, each > 0"
            )
        if self.horizon < 1:
            raise ValueError(f"horizon={self.horizon!r} must be at least 1 wake-up")
        sleeps = np.array(self.sleeps_ms, dtype=np.float64)
        for buffered in (0, 1500):
            losses = np.asarray(self.loss(sleeps.copy(), self.sleeps_ms[0], buffered))
            if losses.shape != sleeps.shape or not ((losses >= 0) & (losses < np.inf)).all():
                raise ValueError(
                    f"loss(sleeps_ms, {self.sleeps_ms[0]!r}, {buffered}) gave {losses!r}; it must "
                    f"give {len(sleeps)} finite numbers, 0 or more, one for each sleeping time"
                )

    def start(self) -> LpsmController:
        experts = LearnAlpha(len(self.sleeps_ms), horizon=self.horizon)
        return LpsmController(experts, self.sleeps_ms, self.loss)


def lpsm_inverse_log() -> Lpsm:
    """Give LPSM with 1/log T, which prices energy higher ([Mon06] section 2.5.4)."""
    return Lpsm(loss=INVERSE_LOG, name="lpsm-1/logT")
