"""What every plan would have done in a segment of time that is over, and what that costs.

A *segment* runs from a packet sent or received to the next one. In between the station heard no
packet, so every plan can be followed through the segment as if it had been in charge.
"""

from typing import NamedTuple

from selectron.arrays import Indices, Vector
from selectron.experts.compiled import compiled
from selectron.numeric.elementary import jitable
from selectron.power.clock import BEACON
from selectron.power.policies.plan import SHORTEST_NAP, Plan

NEVER = -1  # no packet came: the segment ends with a packet sent


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
