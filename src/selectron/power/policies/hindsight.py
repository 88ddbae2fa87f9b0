"""What every plan would have done in a stretch of time that is over, and what that costs.

A *segment* runs from a packet sent or received to the next one. In between nothing was heard, so
every plan can be followed through it as if it had been in charge.
"""

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
from numba import njit

from selectron.arrays import Indices, Vector
from selectron.experts.compiled import Kernel, sources_of
from selectron.numeric.elementary import jitable
from selectron.power.grid import BEACON
from selectron.power.policies.plan import SHORTEST_NAP, Plan

NEVER = -1  # no packet came


class Segment(NamedTuple):
    """Nanoseconds; ``arrived`` is when the packet that ends it reached the access point."""

    sent: int  # the last packet, at ``start`` or before
    start: int
    end: int
    arrived: int  # after ``start``; or NEVER, and it ends with a packet sent


class Prices(NamedTuple):
    """Joules: a nanosecond awake rather than asleep, a beacon, a nanosecond of delay."""

    awake: float
    beacon: float
    delay: float
    most: float  # a segment costs no more


class PlanColumns(NamedTuple):
    """Plans side by side."""

    listen: Indices
    nap: Indices
    cap: Indices


def columns_of(plans: Sequence[Plan]) -> PlanColumns:
    table = np.array(plans, dtype=np.int64)
    return PlanColumns(*(np.ascontiguousarray(column) for column in table.T))


@jitable
def follow(plan: Plan, segment: Segment) -> tuple[int, int, int]:
    """Give the time awake, the beacons woken for, and when the plan listens first after `arrived`.

    A plan is followed until it hears the packet, be that before or after the segment's end: then
    it is where all plans are. Without a packet it is followed to the end.
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
    """Give how many beacons before ``goal`` are woken for, and the first one woken for after."""
    beacons = 0
    while True:
        waited = now - sent
        sleep = min(max(waited - waited % BEACON, BEACON), cap)
        wake = now - now % BEACON + sleep
        if wake >= goal:
            return beacons, wake
        if sleep == cap:  # as all sleeps from here on: take them at once
            more = (goal - 1 - wake) // cap
            beacons += more
            wake += more * cap
        beacons += 1
        now = wake


@jitable
def cost_of(plan: Plan, segment: Segment, prices: Prices) -> float:
    """Price a segment, in Joules."""
    awake, beacons, heard = follow(plan, segment)
    delay = 0 if segment.arrived == NEVER else heard - segment.arrived
    return min(prices.awake * awake + prices.beacon * beacons + prices.delay * delay, prices.most)


def compile_costs(called: str) -> Kernel:
    @njit(cache=True, error_model="numpy")
    def costs(plans: PlanColumns, segment: Segment, prices: Prices, out: Vector) -> None:
        _ = called
        for i in range(len(out)):
            plan = Plan(plans.listen[i], plans.nap[i], plans.cap[i])
            out[i] = cost_of(plan, segment, prices)

    return cast(Kernel, costs)


costs_of_plans = compile_costs(sources_of(cost_of))
