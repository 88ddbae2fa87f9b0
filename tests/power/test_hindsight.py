"""What a plan would have done is what it does: against two slow twins."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from selectron.power.clock import BEACON, SECOND
from selectron.power.policies.plan import (
    NEVER,
    Plan,
    Prices,
    Segment,
    cost_of,
    costs_of_plans,
    follow,
    learnable_plans,
)
from tests.power.radios import TICK, live, walk

MS = SECOND // 1000
plans = st.builds(
    Plan,
    listen=st.one_of(st.sampled_from([0, 50, 100, 150]), st.integers(0, 600)).map(MS.__mul__),
    nap=st.integers(0, 100).map(MS.__mul__),
    cap=st.sampled_from([1, 2, 3, 9, 12, 27]).map(BEACON.__mul__),
)
times = st.integers(0, 1500).map(MS.__mul__)


@st.composite
def segments(draw):
    sent = draw(times)
    start = sent + draw(st.one_of(st.just(0), times))
    if draw(st.booleans()):
        return Segment(sent, start, start + TICK + draw(times) * draw(st.integers(0, 8)), NEVER)
    arrived = start + TICK + draw(times) * draw(st.integers(0, 8))
    return Segment(sent, start, arrived + draw(times), arrived)


@settings(deadline=None, max_examples=400)
@given(plans, segments())
@example(Plan(50 * MS, 60 * MS, BEACON), Segment(50 * MS, 50 * MS, 91 * MS, 91 * MS))
@example(Plan(50 * MS, 60 * MS, BEACON), Segment(50 * MS, 50 * MS, 100 * MS, NEVER))
@example(Plan(100 * MS, 0, BEACON), Segment(0, 0, 500 * MS, 100 * MS))
@example(Plan(0, 0, BEACON), Segment(0, 0, 600 * MS, 500 * MS))
@example(Plan(0, 0, 2 * BEACON), Segment(0, 0, 800 * MS, NEVER))
def test_a_plan_is_followed_as_the_slow_walk_does(plan, segment):
    awake, beacons, heard = walk(plan, segment)
    fast = follow(plan, segment)
    assert fast[:2] == (awake, beacons)
    if segment.arrived != NEVER:
        assert fast[2] == heard


@settings(deadline=None, max_examples=200)
@given(plans, times, st.integers(1, 30_000))
def test_a_plan_is_followed_as_a_station_carries_it_out(plan, sent, later):
    # A microsecond off the ticks: what happens at once may happen in any order.
    arrived = sent + later * MS + MS // 1000
    segment = Segment(sent, sent, arrived, arrived)
    awake, beacons, heard = live(plan, sent, arrived)
    fast = follow(plan, segment)
    assert fast[1:] == (beacons, heard)
    # Not napping, a plan that does not listen still has to be awake for a nanosecond.
    assert abs(fast[0] - awake) <= 1


def test_one_round_trip_by_hand():
    # Sent 59 ms before a beacon; the answer is at the access point 41 ms later.
    segment = Segment(141 * MS, 141 * MS, 183 * MS, 182 * MS)
    assert follow(Plan(50 * MS, 0, BEACON), segment) == (41 * MS, 0, 182 * MS)
    assert follow(Plan(50 * MS, 60 * MS, BEACON), segment) == (0, 1, 200 * MS)
    assert follow(Plan(20 * MS, 0, BEACON), segment) == (20 * MS, 1, 200 * MS)
    assert follow(Plan(0, 0, 27 * BEACON), segment) == (0, 1, 200 * MS)
    # Later, when the sleeps have grown: 200, 300, 400, 600 and 1000 ms.
    late = segment._replace(arrived=601 * MS, end=602 * MS)
    assert follow(Plan(0, 0, 27 * BEACON), late) == (0, 5, 1000 * MS)
    assert follow(Plan(0, 0, BEACON), late) == (0, 6, 700 * MS)


def test_a_cost_is_energy_and_delay_and_has_a_limit():
    prices = Prices(awake=0.7 / SECOND, beacon=0.0015, delay=2.0 / SECOND, most=1.0)
    segment = Segment(141 * MS, 141 * MS, 183 * MS, 182 * MS)
    assert np.isclose(cost_of(Plan(50 * MS, 0, BEACON), segment, prices), 0.7 * 0.041)
    nap = cost_of(Plan(50 * MS, 60 * MS, BEACON), segment, prices)
    assert np.isclose(nap, 0.0015 + 2.0 * 0.018)
    pause = Segment(0, 0, 1000 * SECOND, NEVER)
    assert cost_of(Plan(0, 0, BEACON), pause, prices) == 1.0  # 9,999 beacons would be 15 J
    assert np.isclose(cost_of(Plan(0, 0, 243 * BEACON), pause, prices), 49 * 0.0015, atol=0.004)


@settings(deadline=None, max_examples=20)
@given(segments())
def test_all_plans_at_once_cost_what_each_costs(segment):
    shelf = [plan.plan for plan in learnable_plans(24.3)]
    prices = Prices(0.7 / SECOND, 0.0015, 1.0 / SECOND, 1.0)
    together = np.empty(len(shelf))
    costs_of_plans(np.array(shelf), segment, prices, together)
    assert together.tolist() == [cost_of(plan, segment, prices) for plan in shelf]


def test_the_plans_of_the_shelf_all_differ():
    shelf = learnable_plans(1.2)
    rng = np.random.default_rng(1)
    seen = set()
    probes = []
    for _ in range(300):
        sent = int(rng.integers(0, 100)) * MS
        arrived = sent + int(rng.integers(1, 3000)) * MS
        probes.append(Segment(sent, sent, arrived, arrived))
    for fixed in shelf:
        seen.add(tuple(follow(fixed.plan, probe) for probe in probes))
    assert len(seen) == len(shelf)
