"""A plan for the time after a packet was sent: listen or nap, then sleep longer and longer.

A round trip is shorter than the time between two beacons, so whether to sleep through it depends
on how far off the next beacon is: if that comes in time for the answer, a nap until then costs no
delay; if it comes much later, staying awake is worth its energy.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from selectron.power.grid import BEACON, beacon_after, nanoseconds
from selectron.spec import Range, Spec

SHORTEST_NAP = 3_000_000  # about as long as a full packet takes to be sent
SLEEP_S = Range(0.1, 3600.0)


class Plan(NamedTuple):
    """What to do after a packet was sent; times in nanoseconds."""

    listen: int  # be awake until so long after sending
    nap: int  # but sleep to the next beacon first, if it is at most so far off
    cap: int  # then each sleep is as long as the wait so far, at most this


class PlanController:
    """Carries out a plan; another one may take its place whenever a packet is sent."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.sent_at = 0

    def begin(self) -> int:
        return PlanController.sent(self, 0, 0)

    def sent(self, now: int, size: int) -> int:
        self.sent_at = now
        naps = SHORTEST_NAP <= beacon_after(now) - now <= self.plan.nap
        # Never `now`: the radio is awake to send, and must be asked afterwards for its next beacon.
        return now + 1 if naps else now + max(1, self.plan.listen)

    def received(self, now: int, size: int, arrived: int) -> None:
        """Take no notice."""

    def woke(self, now: int, buffered: int) -> int:
        return self.sent_at + self.plan.listen

    def sleep(self, now: int) -> int:
        waited = now - self.sent_at
        return beacon_after(now, min(max(waited - waited % BEACON, BEACON), self.plan.cap))


@dataclass(frozen=True)
class FixedPlan(Spec):
    """Follow the same plan after every packet sent: one of those `Learned` chooses from.

    Parameters
    ----------
    listen_s : float
        Be awake until so long after sending, in [0, 10].
    nap_s : float
        But sleep to the next beacon first if it is at most so far off, in [0, 0.1].
    cap_s : float
        Longest sleep, a multiple of 0.1 s; until then each is as long as the wait so far.
    """

    listen_s: float = 0.1
    nap_s: float = 0.0
    cap_s: float = 0.9

    RANGES: ClassVar = {"listen_s": Range(0.0, 10.0), "nap_s": Range(0.0, 0.1), "cap_s": SLEEP_S}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_longest_sleep(self, "cap_s")

    @property
    def name(self) -> str:
        return f"plan-{self.listen_s:g}-{self.nap_s:g}-{self.cap_s:g}"

    @property
    def plan(self) -> Plan:
        return Plan(*(nanoseconds(s) for s in (self.listen_s, self.nap_s, self.cap_s)))

    def start(self) -> PlanController:
        return PlanController(self.plan)


def check_longest_sleep(spec: Spec, name: str) -> None:
    """Refuse a longest sleep between two beacons."""
    seconds = getattr(spec, name)
    if nanoseconds(seconds) % BEACON:
        raise ValueError(f"{spec.label}: {name}={seconds!r} is not a multiple of 0.1 s")
