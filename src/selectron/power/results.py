"""The result of a run: energy, latency, and on request a diary of every sleep."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypedDict, Unpack

import numpy as np

from selectron.arrays import Vector
from selectron.power.clock import SECOND, beacon_after
from selectron.power.network import Network, Radio
from selectron.power.policies.policy import Controller, Policy
from selectron.power.workload import Workload


@dataclass(frozen=True)
class Diary:
    """Every time the station went to sleep: when, for how long, and what the last beacon announced.

    ``sleep_s`` is counted from the beacon before, so it is a multiple of 0.1 s.
    """

    time_s: Vector
    sleep_s: Vector
    bytes_waiting: Vector


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
        How often the radio woke for a beacon.
    radio : Radio
        Prices of being awake, of sleeping and of a beacon.
    diary : Diary or None
        Every sleep, if the simulation was asked to note them.
    """

    policy: str
    latencies_s: Vector
    duration_s: float
    awake_s: float
    beacons: int
    radio: Radio
    diary: Diary | None = None

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
        return self.latencies_s / self.pages_of(baseline)

    def slowdown(self, baseline: "Run") -> float:
        """Average the slowdown over the pages ([Mon06], Figure 2-7)."""
        return float(np.mean(self.slowdowns(baseline)))

    def delays_s(self, baseline: "Run") -> Vector:
        """Subtract from each page's latency its latency in ``baseline``, on the same workload."""
        return self.latencies_s - self.pages_of(baseline)

    def cost_per_hour(self, baseline: "Run", lambda_: float) -> float:
        """Add up Joules and ``lambda_`` times the seconds of delay over ``baseline``, per hour."""
        cost = self.joules + lambda_ * float(np.sum(self.delays_s(baseline)))
        return 3600 * cost / self.duration_s

    def pages_of(self, baseline: "Run") -> Vector:
        """Return the latencies of ``baseline``, or refuse a run of another workload."""
        if len(self.latencies_s) != len(baseline.latencies_s):
            raise ValueError(
                f"{self.policy} loaded {len(self.latencies_s)} pages and {baseline.policy} "
                f"{len(baseline.latencies_s)}; compare runs of the same workload"
            )
        return baseline.latencies_s


class Counts(NamedTuple):
    """What an engine counted; every time is in nanoseconds."""

    latencies: Sequence[int]
    duration: int
    awake: int
    beacons: int


class DiaryKeeper:
    """A controller that passes every question on to another one and notes its sleeps."""

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


class Settings(TypedDict, total=False):
    """The keywords of both engines, which `selectron.power.simulate` documents."""

    network: Network | None
    radio: Radio | None
    diary: bool


def run_policy(
    policy: Policy,
    engine: Callable[[Workload, Network, Controller], Counts],
    workload: Workload,
    **settings: Unpack[Settings],
) -> Run:
    """Let an engine ask a fresh controller of the policy, and turn its counts into a `Run`."""
    controller = policy.start()
    keeper = DiaryKeeper(controller) if settings.get("diary") else None
    counts = engine(workload, settings.get("network") or Network(), keeper or controller)
    return Run(
        policy.name,
        np.array(counts.latencies, dtype=np.float64) / SECOND,
        counts.duration / SECOND,
        counts.awake / SECOND,
        counts.beacons,
        settings.get("radio") or Radio(),
        keeper.diary() if keeper else None,
    )
