"""What a run gives: energy, latency, and if wanted the diary of every sleep."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from selectron.arrays import Vector
from selectron.power.energy import Radio
from selectron.power.grid import SECOND, beacon_after
from selectron.power.policies.policy import Controller


@dataclass(frozen=True)
class Run:
    """One policy on one workload.

    Parameters
    ----------
    policy : str
        Name of the policy.
    latencies_s : Vector
        For each page, seconds from its first packet to its last byte.
    duration_s, awake_s : float
        Seconds simulated, and those in which the radio was awake.
    beacons : int
        Times the radio woke for a beacon.
    radio : Radio
        What these cost.
    diary : Diary or None
        Every sleep, when the run was asked to keep it.
    """

    policy: str
    latencies_s: Vector
    duration_s: float
    awake_s: float
    beacons: int
    radio: Radio
    diary: "Diary | None" = None

    @property
    def joules(self) -> float:
        return self.radio.joules(self.duration_s, self.awake_s, self.beacons)

    @property
    def energy_j_per_page(self) -> float:
        return self.joules / len(self.latencies_s)

    @property
    def beacon_j_per_page(self) -> float:
        return self.radio.beacon_j * self.beacons / len(self.latencies_s)

    @property
    def latency_s(self) -> float:
        return float(np.mean(self.latencies_s))

    def slowdowns(self, baseline: "Run") -> Vector:
        """Divide each page's latency by its latency in ``baseline``, on the same workload."""
        self.check_same_pages(baseline)
        return self.latencies_s / baseline.latencies_s

    def delays_s(self, baseline: "Run") -> Vector:
        """Subtract from each page's latency that in ``baseline``, on the same workload."""
        self.check_same_pages(baseline)
        return self.latencies_s - baseline.latencies_s

    def cost_per_hour(self, baseline: "Run", lambda_: float) -> float:
        """Add up Joules and ``lambda_`` times the seconds of delay over ``baseline``."""
        cost = self.joules + lambda_ * float(np.sum(self.delays_s(baseline)))
        return 3600 * cost / self.duration_s

    def check_same_pages(self, baseline: "Run") -> None:
        if len(self.latencies_s) != len(baseline.latencies_s):
            raise ValueError(
                f"{self.policy} loaded {len(self.latencies_s)} pages and {baseline.policy} "
                f"{len(baseline.latencies_s)}; compare runs of the same workload"
            )

    def slowdown(self, baseline: "Run") -> float:
        """Average the slowdown over the pages ([Mon06], Figure 2-7)."""
        return float(np.mean(self.slowdowns(baseline)))


def make_run(
    policy: str,
    latencies: Sequence[int],
    *,
    duration: int,
    awake: int,
    beacons: int,
    radio: Radio,
    controller: Controller,
) -> Run:
    """Turn an engine's nanoseconds into seconds."""
    return Run(
        policy,
        np.array(latencies, dtype=np.float64) / SECOND,
        duration / SECOND,
        awake / SECOND,
        beacons,
        radio,
        controller.diary() if isinstance(controller, DiaryKeeper) else None,
    )


@dataclass(frozen=True)
class Diary:
    """Every time the station went to sleep: when, and what the last beacon had had for it.

    ``sleep_s`` is counted from the beacon before, so it is a multiple of 0.1 s.
    """

    time_s: Vector
    sleep_s: Vector
    bytes_waiting: Vector


class DiaryKeeper:
    """A controller that notes down what another one decides."""

    def __init__(self, controller: Controller) -> None:
        self.controller = controller
        self.begin = controller.begin
        self.sent = controller.sent
        self.received = controller.received
        self.waiting = 0
        self.entries: list[tuple[int, int, int]] = []

    def woke(self, now: int, buffered: int) -> int:
        self.waiting = buffered
        return self.controller.woke(now, buffered)

    def sleep(self, now: int) -> int:
        until = self.controller.sleep(now)
        self.entries.append((now, until - beacon_after(now, 0), self.waiting))
        return until

    def diary(self) -> Diary:
        rows = np.array(self.entries, dtype=np.float64).reshape(-1, 3)
        return Diary(rows[:, 0] / SECOND, rows[:, 1] / SECOND, rows[:, 2])
