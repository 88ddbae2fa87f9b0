"""A plan for the time after a packet was sent: listen or nap, then sleep longer and longer.

A round trip is shorter than the time between two beacons. Whether to sleep through a round trip
depends on how far off the next beacon is. If the beacon comes in time for the answer, a nap until
the beacon costs no delay. If the beacon comes much later, staying awake is worth its energy.

`cost_of` prices in hindsight what a plan would have done in a segment of time that is over. A
*segment* runs from a packet sent or received to the next one. In between the station heard no
packet, so every plan can be followed through the segment as if it had been in charge.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from selectron.arrays import Indices, Vector
from selectron.compiler.verbs import compiled
from selectron.numeric.elementary import exponential, jitable, logarithm
from selectron.power.clock import BEACON, SECOND, beacon_after, nanoseconds
from selectron.power.policies.policy import SLEEP_S, Controller, check_longest_sleep
from selectron.spec import Range, Spec

NEVER = -1  # no packet came: the segment ends with a packet sent
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


class Segment(NamedTuple):
    """The time between two packets; every field is in nanoseconds."""

    sent: int  # when the last packet was sent: at ``start`` or before
    start: int
    end: int
    arrived: int  # when the packet received at the end reached the access point, or NEVER


class Prices(NamedTuple):
    """Prices in Joules."""

    awake: float  # of a nanosecond awake rather than asleep
    beacon: float
    delay: float  # of a nanosecond
    most: float  # no segment costs more


@jitable
def follow(plan: Plan, segment: Segment) -> tuple[int, int, int]:
    """Return the time awake, the beacons woken for, and when the plan listens after `arrived`.

    The walk ends when the plan hears the packet, before or after the segment's end: from there on
    all plans do the same. Without a packet the walk ends with the segment.
    """
    sent, start, end, arrived = segment
    goal = end if arrived == NEVER else arrived
    beacon = sent - sent % BEACON + BEACON
    napping = start < beacon and SHORTEST_NAP <= beacon - sent <= plan.nap
    begin = beacon if napping else start
    until = max(begin, sent + plan.listen)
    if goal <= until:
        woken = napping and (begin < goal or arrived != NEVER)
        return max(0, goal - begin), int(woken), max(goal, begin)
    beacons, wake = sleep_until(plan.cap, sent, until, goal)
    return until - begin, int(napping) + beacons + int(arrived != NEVER), wake


@jitable
def sleep_until(cap: int, sent: int, now: int, goal: int) -> tuple[int, int]:
    """Return how many beacons before ``goal`` are woken for, and the first one at or after it."""
    beacons = 0
    while True:
        waited = now - sent
        sleep = min(max(waited - waited % BEACON, BEACON), cap)
        wake = now - now % BEACON + sleep
        if wake >= goal:
            return beacons, wake
        if sleep == cap:  # all further sleeps are as long: count them at once
            more = (goal - 1 - wake) // cap
            beacons += more
            wake += more * cap
        beacons += 1
        now = wake


@jitable
def cost_of(plan: Plan, segment: Segment, prices: Prices) -> float:
    """Return what a plan costs in a segment, in Joules."""
    awake, beacons, heard = follow(plan, segment)
    delay = 0 if segment.arrived == NEVER else heard - segment.arrived
    return min(prices.awake * awake + prices.beacon * beacons + prices.delay * delay, prices.most)


@compiled
def costs_of_plans(plans: Indices, segment: Segment, prices: Prices, out: Vector) -> None:
    """Write the cost of each plan, a row (listen, nap, cap) each."""
    for i in range(len(out)):
        plan = Plan(plans[i, 0], plans[i, 1], plans[i, 2])
        out[i] = cost_of(plan, segment, prices)
