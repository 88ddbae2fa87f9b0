"""A plan for the time after a packet was sent: listen or nap, then sleep longer and longer.

A round trip is shorter than the time between two beacons. Whether to sleep through a round trip
depends on how far off the next beacon is. If the beacon comes in time for the answer, a nap until
the beacon costs no delay. If the beacon comes much later, staying awake is worth its energy.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from selectron.numeric.elementary import exponential, logarithm
from selectron.power.clock import BEACON, SECOND, beacon_after, nanoseconds
from selectron.power.policies.policy import SLEEP_S, Controller, check_longest_sleep
from selectron.spec import Range, Spec

SHORTEST_NAP = 3_000_000  # about as long as a full packet takes to be sent
LISTENS_S = (0.0, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5)
NAPS_S = (0.0, 0.03, 0.05, 0.06, 0.07, 0.08, 0.1)


class Plan(NamedTuple):
    """What to do after a packet was sent; times in nanoseconds."""

    listen: int  # stay awake for this long after sending
    nap: int  # but first sleep to the next beacon, if that is at most this far off
    cap: int  # afterwards each sleep is as long as the wait so far, at most this long


class PlanController(Controller):
    """Carries out a plan; the caller may replace `plan` whenever a packet is sent."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.sent_at = 0

    def begin(self) -> int:
        return self.sent(0, 0)

    def sent(self, now: int, size: int) -> int:
        self.sent_at = now
        naps = SHORTEST_NAP <= beacon_after(now) - now <= self.plan.nap
        # Not `now`: the radio is awake to send, and must ask for its next beacon afterwards.
        return now + 1 if naps else now + max(1, self.plan.listen)

    def woke(self, now: int, buffered: int) -> int:
        return self.sent_at + self.plan.listen

    def sleep(self, now: int) -> int:
        waited = now - self.sent_at
        return beacon_after(now, min(max(waited - waited % BEACON, BEACON), self.plan.cap))


@dataclass(frozen=True)
class FixedPlan(Spec):
    """Follow the same plan after every packet sent; `Learned` chooses among such plans.

    Parameters
    ----------
    listen_s : float
        Stay awake for this long after sending, in [0, 10].
    nap_s : float
        But first sleep to the next beacon if that is at most this far off, in [0, 0.1].
    cap_s : float
        Longest sleep, a multiple of 0.1 s; shorter sleeps are as long as the wait so far.
    """

    listen_s: float = 0.1
    nap_s: float = 0.0
    cap_s: float = 0.9

    RANGES: ClassVar = {
        "listen_s": Range(0.0, 10.0),
        "nap_s": Range(0.0, 0.1),
        "cap_s": SLEEP_S,
    }

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


def learnable_plans(max_sleep_s: float) -> tuple[FixedPlan, ...]:
    """Combine every listening time with every nap and every longest sleep.

    A plan that never listens sleeps to the next beacon anyway, so it comes without naps.

    Examples
    --------
    >>> plans = learnable_plans(1.2)
    >>> print(len(plans), sorted({plan.cap_s for plan in plans}))
    355 [0.1, 0.2, 0.4, 0.8, 1.2]
    """
    return tuple(
        FixedPlan(listen_s, nap_s, cap_s)
        for listen_s in LISTENS_S
        for nap_s in (NAPS_S if listen_s else (0.0,))
        for cap_s in longest_sleeps(max_sleep_s)
    )


def longest_sleeps(max_sleep_s: float) -> list[float]:
    """Return 0.1 s, 0.2 s, 0.4 s and so on, and the longest sleep at the end."""
    most = nanoseconds(max_sleep_s)
    sleeps = []
    sleep = BEACON
    while sleep < most:
        sleeps.append(sleep / SECOND)
        sleep *= 2
    return [*sleeps, max_sleep_s]


def prior_weight(plan: FixedPlan) -> float:
    """Weigh a plan before anything is learnt: most for plans near Bounded SlowDown at 100 %."""
    off_cap = abs(logarithm(plan.cap_s / 0.9))
    return exponential(-3.0 * abs(plan.listen_s - 0.1) - 3.0 * plan.nap_s - 0.2 * off_cap)
