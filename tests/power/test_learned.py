"""The policy that learns: what it is told, what it makes of it, and what that is worth."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from functools import partial

import pytest

from selectron.experts import AdaHedge
from selectron.power import (
    BoundedSlowdown,
    FixedPlan,
    Learned,
    Network,
    Radio,
    StaticPsm,
    changing_workload,
    compare,
    lpsm_inverse_log,
    ns2,
    simulate,
    web_workload,
)
from selectron.power.clock import SECOND
from selectron.power.comparison import cost_row
from selectron.power.policies.learned import (
    ACKNOWLEDGED,
    ANSWERED,
    UNASKED,
    LearnedController,
    Occasions,
)
from selectron.power.policies.plan import NEVER, Segment
from tests.power.radios import walk
from tests.power.test_ns2 import assert_same, needs_ns2
from tests.power.traffic import needs_compiler, one_fetch

MS = SECOND // 1000


class Told:
    """A policy that notes down what it is told, and wakes every two seconds."""

    name = "told"

    def start(self):
        self.sends, self.receptions = [], []
        return self

    def begin(self):
        return 0

    def sent(self, now, size):
        self.sends.append((now, size))
        return 0

    def received(self, now, size, arrived):
        self.receptions.append((now, size, arrived))

    def woke(self, now, buffered):
        return 0

    def sleep(self, now):
        return now - now % (2 * SECOND) + 2 * SECOND


@pytest.mark.parametrize(
    "engine", [simulate, pytest.param(ns2.simulate, marks=needs_ns2)], ids=["ours", "ns2"]
)
def test_the_access_point_says_when_a_packet_came(engine):
    told = Told()
    engine(told, one_fetch(300, 1000, think_s=3.0))
    # A SYN at 0 goes 0.164 ms over the air, 20.032 ms over the wire; the answer is back at the
    # access point after another 20.032 ms, and is fetched at 2 s.
    hop = 40 * 8 / 5e6 + 1e-4
    wire = 40 * 8 / 10e6 + 0.02
    now, size, arrived = told.receptions[0]
    assert size == 40
    assert arrived == pytest.approx((hop + 2 * wire) * SECOND, abs=2)
    assert now == pytest.approx((2 + hop) * SECOND, abs=12)
    assert [size for _, size in told.sends] == [40, 40, 340, 40]
    assert told.receptions[1][1] == 1040
    assert 2 * SECOND < told.receptions[1][2] < 4 * SECOND < told.receptions[1][0]


def test_occasions():
    occasions = Occasions()
    assert occasions.sent(0, 40) == ANSWERED  # a SYN
    occasions.received(41 * MS)
    assert occasions.sent(41 * MS, 40) == ANSWERED  # an ACK at once: more may follow
    assert occasions.sent(41 * MS, 340) == ANSWERED
    occasions.received(90 * MS)
    assert occasions.sent(100 * MS, 40) == ACKNOWLEDGED
    assert occasions.sent(110 * MS, 340) == ANSWERED  # another request
    assert occasions.sent(300 * MS, 40) == ANSWERED  # too late for an ACK
    occasions.received(9990 * MS)
    assert occasions.sent(10_000 * MS, 40) == UNASKED


def charged_by_walking(plan, segment, lambda_):
    awake, beacons, heard = walk(plan, segment)
    delay = 0 if segment.arrived == NEVER else heard - segment.arrived
    return min(0.7 * awake / SECOND + 0.0015 * beacons + lambda_ * delay / SECOND, 1.0)


def test_every_plan_is_charged_what_it_would_have_cost():
    controller = Learned(lambda_=2.0, max_sleep=0.4).start()
    seen = []
    learn = controller.learn

    def note(now, arrived):
        learn(now, arrived)
        segment = Segment(controller.player.sent_at, controller.segment_start, now, arrived)
        seen.append(tuple(segment))
        slow = [charged_by_walking(plan, segment, 2.0) for plan in controller.plans]
        assert controller.costs.tolist() == pytest.approx(slow, rel=1e-12)

    controller.learn = note
    controller.sent(20 * MS, 300)
    controller.sent(20 * MS, 300)  # nothing happened in between
    controller.received(100 * MS, 1040, 61 * MS)
    controller.received(103 * MS, 1040, 62 * MS)  # was on its way already
    controller.sent(200 * MS, 40)
    controller.received(900 * MS, 300, 855 * MS)
    controller.sent(3000 * MS, 300)
    assert seen == [
        (0, 0, 20 * MS, NEVER),
        (20 * MS, 20 * MS, 100 * MS, 61 * MS),
        (20 * MS, 103 * MS, 200 * MS, NEVER),
        (200 * MS, 200 * MS, 900 * MS, 855 * MS),
        (200 * MS, 900 * MS, 3000 * MS, NEVER),
    ]


def test_a_packet_without_data_matters_only_if_it_is_answered_at_once():
    controller = Learned().start()
    seen = []
    controller.learn = lambda now, arrived: seen.append((controller.segment_start, now, arrived))
    controller.sent(10 * MS, 40)
    controller.received(60 * MS, 40, 51 * MS)  # a SYN-ACK
    controller.sent(60 * MS, 40)
    controller.sent(60 * MS, 340)
    controller.received(121 * MS, 40, 110 * MS)  # the server's ACK of the request
    controller.received(400 * MS, 1040, 361 * MS)
    controller.received(501 * MS, 40, 500 * MS)
    controller.sent(600 * MS, 40)
    assert seen == [
        (0, 10 * MS, NEVER),
        (10 * MS, 60 * MS, 51 * MS),
        (60 * MS, 400 * MS, 361 * MS),
        (400 * MS, 600 * MS, NEVER),
    ]


@needs_compiler
def test_it_finds_the_round_trip():
    # Answers always come 150 ms after a request, and every request is followed by a pause.
    for lambda_, listens in ((20.0, True), (0.01, False)):
        controller = Learned(lambda_).start()
        for k in range(200):
            now = k * 10 * SECOND + 37 * MS
            controller.sent(now, 300)
            controller.received(now + 250 * MS, 1040, now + 150 * MS)
        plan = controller.heaviest[ANSWERED]
        assert (plan.listen >= 150 * MS) == listens
        assert controller.heaviest[ACKNOWLEDGED] == controller.heaviest[UNASKED]


@needs_compiler
def test_it_learns_for_each_occasion_apart():
    controller = Learned(1.0).start()
    for k in range(300):
        now = k * 60 * SECOND
        controller.sent(now, 300)
        controller.received(now + 60 * MS, 1040, now + 41 * MS)
        controller.sent(now + 100 * MS, 40)
    assert controller.heaviest[ANSWERED].listen >= 40 * MS
    assert controller.heaviest[ACKNOWLEDGED].listen == 0
    assert controller.heaviest[ACKNOWLEDGED].cap == 12 * SECOND // 10


PROGRAM = """
import json
from selectron.power import Fetch, Learned, Page, Push, Workload, simulate

page = Page(0.7, (Fetch(300, 3000, 0.1),))
run = simulate(Learned(1.0, 0.2, horizon=8), Workload((page, Push(0.7, 300), page)), diary=True)
print(json.dumps([run.latencies_s.tolist(), run.awake_s, run.diary.sleep_s.tolist()]))
"""


def outcome(disable_jit):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "NUMBA_DISABLE_JIT": disable_jit},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_compiled_and_uncompiled_runs_are_the_same():
    assert outcome("0") == outcome("1")


@needs_compiler
def test_two_runs_are_the_same_to_the_last_bit():
    workload = changing_workload(2, seed=7)
    runs = [simulate(Learned(), workload, diary=True) for _ in range(2)]
    assert runs[0].latencies_s.tolist() == runs[1].latencies_s.tolist()
    assert runs[0].diary.sleep_s.tolist() == runs[1].diary.sleep_s.tolist()
    assert runs[0].diary.sleep_s.max() <= 1.2


@needs_ns2
@needs_compiler
@pytest.mark.parametrize("policy", [Learned(1.0, 24.3), Learned(2.0), FixedPlan(0.05, 0.06, 1.2)])
def test_the_engines_agree(policy):
    workload = web_workload(12, seed=11)
    assert_same(simulate(policy, workload), ns2.simulate(policy, workload))


@needs_compiler
def test_other_prices_and_rates():
    workload = web_workload(30, seed=2)
    dear = Radio(awake_w=7.5)
    thrifty, usual = (
        simulate(Learned(2.0, 24.3, radio=radio), workload) for radio in (dear, Radio())
    )
    assert thrifty.awake_s < usual.awake_s
    fixed, tuned = (
        simulate(Learned(2.0, 24.3, eta=eta), workload) for eta in (2.0, AdaHedge(factor=3.0))
    )
    assert len({fixed.awake_s, tuned.awake_s, usual.awake_s}) == 3


def test_names():
    assert Learned().name == "learned-1"
    assert Learned(0.5, 24.3).name == "learned-0.5-24.3s"
    assert isinstance(Learned().start(), LearnedController)
    assert replace(Learned(), lambda_=2.0) == Learned(2.0)


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"lambda_": 0.0}, r"lambda_ must lie in \(0, inf\), got lambda_=0.0"),
        ({"max_sleep": 0.0}, r"max_sleep must lie in \[0.1, 3600\]"),
        ({"max_sleep": 1.25}, r"Learned: max_sleep=1.25 is not a multiple of 0.1 s"),
        ({"eta": "hedge"}, r"eta is 'hedge'; give a finite rate > 0, or \"adahedge\""),
        ({"horizon": 0}, r"horizon must lie in \[1, 1e\+09\], got horizon=0"),
    ],
)
def test_a_learner_that_cannot_be_is_refused(knobs, message):
    with pytest.raises(ValueError, match=message):
        Learned(**knobs)


@needs_compiler
def test_on_the_web_it_beats_lpsm_in_energy_and_static_in_time():
    comparison = compare([lpsm_inverse_log(), Learned(1.0, 24.3), Learned(2.0, 24.3)], 60, seed=551)
    learned, quicker = (comparison.row(f"learned-{k}-24.3s") for k in (1, 2))
    assert learned.energy_vs_static < comparison.row("lpsm-1/logT").energy_vs_static
    assert learned.slowdown < 1.4 < comparison.row("static").slowdown
    assert quicker.slowdown < learned.slowdown
    assert quicker.energy_vs_static > learned.energy_vs_static


@needs_compiler
def test_when_traffic_changes_it_is_cheapest():
    rivals = [StaticPsm(), lpsm_inverse_log(), BoundedSlowdown(1.0), FixedPlan(0.0, 0.0, 0.2)]
    comparison = compare([*rivals, Learned(1.0)], workloads=[changing_workload(8, seed=551)])
    costs = {name: cost_row(comparison, name, [1.0]).cost_per_hour[0] for name in comparison.runs}
    assert min(costs, key=costs.__getitem__) == "learned-1"


@needs_compiler
def test_slow_servers_are_learnt_too():
    engine = partial(simulate, network=Network(wire_delay_s=0.15))
    comparison = compare([Learned(1.0, 24.3)], 60, seed=552, engine=engine)
    row = comparison.row("learned-1-24.3s")
    assert row.slowdown < comparison.row("static").slowdown
    assert row.energy_vs_static < 0.9
