"""A fixed plan in the simulator."""

import pytest

from selectron.power import BoundedSlowdown, FixedPlan, simulate, web_workload
from selectron.power.clock import BEACON, SECOND
from selectron.power.policies.plan import (
    Plan,
    PlanController,
    learnable_plans,
    longest_sleeps,
    prior_weight,
)
from tests.power.traffic import one_fetch

MS = SECOND // 1000


def test_a_plan_without_naps_is_bounded_slowdown():
    workload = web_workload(15, seed=3)
    plan = simulate(FixedPlan(0.1, 0.0, 0.9), workload)
    bounded = simulate(BoundedSlowdown(1.0, 0.9), workload)
    assert plan.latencies_s.tolist() == bounded.latencies_s.tolist()
    assert (plan.awake_s, plan.beacons) == (bounded.awake_s, bounded.beacons)


def test_a_nap_ends_at_the_next_beacon_and_then_it_listens():
    controller = PlanController(Plan(80 * MS, 60 * MS, 9 * BEACON))
    assert controller.sent(150 * MS, 300) == 150 * MS + 1
    assert controller.sleep(151 * MS) == 200 * MS
    assert controller.woke(200 * MS, 0) == 230 * MS
    assert controller.sleep(230 * MS) == 300 * MS
    assert controller.woke(300 * MS, 0) <= 300 * MS
    assert [controller.sleep(t * MS) // MS for t in (300, 400, 600, 1000)] == [400, 600, 1000, 1800]


def test_a_beacon_too_far_or_too_near_is_not_waited_for():
    controller = PlanController(Plan(50 * MS, 60 * MS, BEACON))
    assert controller.sent(139 * MS, 300) == 189 * MS
    assert controller.sent(140 * MS, 300) == 140 * MS + 1
    assert controller.sent(197 * MS, 300) == 197 * MS + 1
    assert controller.sent(198 * MS, 300) == 248 * MS  # not even a packet is sent by then


def test_a_nap_through_a_round_trip_saves_its_energy_and_ends_at_the_beacon():
    # The handshake begins at 0 and the request goes at 41 ms: 59 ms before the beacon, 18 ms
    # before which the reply is there. Without a nap the station listens for all of 50 ms, with it
    # for the 2.4 ms in which it sends and receives.
    fetch = one_fetch(300, 1000)
    awake, nap = (simulate(FixedPlan(0.05, k, 1.2), fetch) for k in (0.0, 0.06))
    assert awake.latency_s == pytest.approx(0.0842, abs=1e-3)
    assert nap.latency_s == pytest.approx(0.1018, abs=1e-3)
    assert nap.awake_s == pytest.approx(awake.awake_s - 0.0476, abs=3e-4)
    assert nap.beacons == awake.beacons + 1


def test_the_shelf():
    assert longest_sleeps(0.1) == [0.1]
    assert longest_sleeps(24.3) == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 24.3]
    plans = learnable_plans(0.9)
    assert max(plans, key=prior_weight) == FixedPlan(0.1, 0.0, 0.9)
    assert len(set(plans)) == len(plans)


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"listen_s": -0.1}, r"listen_s must lie in \[0, 10\], got listen_s=-0.1"),
        ({"nap_s": 0.2}, r"nap_s must lie in \[0, 0.1\], got nap_s=0.2"),
        ({"cap_s": 0.05}, r"cap_s must lie in \[0.1, 3600\]"),
        ({"cap_s": 0.25}, r"FixedPlan: cap_s=0.25 is not a multiple of 0.1 s"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(knobs, message):
    with pytest.raises(ValueError, match=message):
        FixedPlan(**knobs)
