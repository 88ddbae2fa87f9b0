"""LPSM: learn how long to sleep, with Learn-α over fixed sleeping times ([Mon06], Figure 2-4)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from selectron.arrays import Vector
from selectron.experts import LearnAlpha
from selectron.power.clock import BEACON, beacon_after
from selectron.power.policies.policy import Controller

BEACON_MS = BEACON // 1_000_000

# (sleeping times of the experts in ms, ms just slept, bytes that waited) -> a loss for each expert
SleepLoss = Callable[[Vector, float, int], Vector]


@dataclass(frozen=True)
class DelayAndEnergy:
    """Charge the waiting time of bytes and a price of waking: γ I T_i² / (2 T_t) + energy(T_i).

    I bytes waited for a beacon after a sleep of T_t ([Mon06], equation 2.35).

    Parameters
    ----------
    gamma : float
        Weight of a byte's delay; 1/1.2e5 with 1/T and 1/1.2e3 with 1/log T in [Mon06].
    energy : callable
        The price of waking after T milliseconds, for an array of such T.
    """

    gamma: float
    energy: Callable[[Vector], Vector]

    def __post_init__(self) -> None:
        if not 0 < self.gamma < np.inf:
            raise ValueError(f"gamma={self.gamma!r} must be greater than 0; [Mon06] has 1/1.2e5")

    def __call__(self, sleeps_ms: Vector, slept_ms: float, buffered: int) -> Vector:
        delay = sleeps_ms * sleeps_ms * (self.gamma * buffered / (2 * slept_ms))
        return delay + self.energy(sleeps_ms)


def inverse(sleeps_ms: Vector) -> Vector:
    """Price a wake-up after T milliseconds at 1/T."""
    return 1 / sleeps_ms


def inverse_log(sleeps_ms: Vector) -> Vector:
    """Price a wake-up at 1/log T: short sleeps cost more than with 1/T."""
    return 1 / np.log(sleeps_ms)


INVERSE = DelayAndEnergy(1 / 1.2e5, inverse)
INVERSE_LOG = DelayAndEnergy(1 / 1.2e3, inverse_log)


class LpsmController(Controller):
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
        # Half way rounds up, as for equal weights on 100 … 1200 ms: no last bit may decide there.
        self.beacons = max(1, int(mean / BEACON_MS + 0.5 + 1e-9))

    def woke(self, now: int, buffered: int) -> int:
        # A copy, because a loss that a user wrote may change its argument in place.
        slept = self.beacons * BEACON_MS
        self.experts.update(self.loss(self.sleeps_ms.copy(), slept, buffered))
        self.choose()
        return 0

    def sleep(self, now: int) -> int:
        return beacon_after(now, self.beacons * BEACON)


@dataclass(frozen=True)
class Lpsm:
    """Sleep for the weighted mean of what the experts propose ([Mon06], Figure 2-4).

    Each expert is a fixed sleeping time. At every scheduled wake-up each expert is charged what its
    time would have cost, and Learn-α shifts the weights.

    Parameters
    ----------
    loss : callable
        ``loss(sleeps_ms, slept_ms, bytes_waiting)`` returns a loss for each sleeping time; the
        default is equation 2.35.
    sleeps_ms : tuple of float
        The experts; [Mon06] has 100 ms to 1.2 s.
    horizon : int
        Wake-ups for which Learn-α's switching rates are chosen; the default is the "45 minutes" of
        [Mon06], counted in beacons.
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
    """Return LPSM with 1/log T, which prices energy higher ([Mon06] section 2.5.4)."""
    return Lpsm(loss=INVERSE_LOG, name="lpsm-1/logT")
