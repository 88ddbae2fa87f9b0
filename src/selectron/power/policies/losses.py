"""What a sleep is thought to cost: waiting bytes against energy ([Mon06], equation 2.35)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from selectron.arrays import Vector

# (sleeping times of the experts in ms, ms just slept, bytes that waited) -> a loss for each expert
SleepLoss = Callable[[Vector, float, int], Vector]


@dataclass(frozen=True)
class DelayAndEnergy:
    """γ I T_i² / (2 T_t) + energy(T_i): the bytes' waiting time and a price of waking.

    Parameters
    ----------
    gamma : float
        Weight of a byte's delay; 1/1.2e5 with 1/T and 1/1.2e3 with 1/log T in [Mon06].
    energy : callable
        Price of waking after T milliseconds, for an array of them.
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
    """Price a wake-up 1/T."""
    return 1 / sleeps_ms


def inverse_log(sleeps_ms: Vector) -> Vector:
    """Price a wake-up 1/log T: short sleeps cost more than with 1/T."""
    return 1 / np.log(sleeps_ms)


INVERSE = DelayAndEnergy(1 / 1.2e5, inverse)
INVERSE_LOG = DelayAndEnergy(1 / 1.2e3, inverse_log)
