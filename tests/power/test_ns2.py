"""The embedded engine against ns-2: as recorded, and live where ns-2 is installed."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selectron.power import (
    AlwaysOn,
    Lpsm,
    Network,
    Radio,
    Run,
    StaticPsm,
    Workload,
    ns2,
    simulate,
)
from selectron.power.clock import SECOND
from tests.power.ns2_cases import PAGES, RECORD, cases
from tests.power.traffic import needs_compiler, one_fetch, quick_policies, workloads

needs_ns2 = pytest.mark.skipif(
    not ns2.installed(), reason="the program ns is not on PATH (Debian: apt-get install ns2)"
)
RECORDED = json.loads(RECORD.read_text(encoding="utf-8"))


def assert_same(ours: Run, theirs: Run) -> None:
    """Hold the engines to far less than the 0.1 % of energy and 0.5 % of latency that are asked.

    ns-2 wakes 10 ns after each beacon, so that an ACK due at the same tick goes first.
    """
    assert ours.energy_j_per_page == pytest.approx(theirs.energy_j_per_page, rel=1e-5)
    assert ours.latency_s == pytest.approx(theirs.latency_s, rel=1e-5)
    assert np.abs(ours.latencies_s - theirs.latencies_s).max() < 1e-5
    assert ours.beacons == theirs.beacons


@pytest.mark.parametrize(
    ("name", "policy", "workload", "network"),
    [
        pytest.param(*case, id=case[0], marks=needs_compiler if isinstance(case[1], Lpsm) else ())
        for case in cases()
    ],
)
def test_the_engine_gives_what_ns2_gave(name, policy, workload, network):
    theirs = RECORDED[name]
    recorded = Run(
        policy.name,
        np.array(theirs["latencies_ns"]) / SECOND,
        theirs["duration_ns"] / SECOND,
        theirs["awake_ns"] / SECOND,
        theirs["beacons"],
        Radio(),
    )
    assert_same(simulate(policy, workload, network=network), recorded)


@needs_ns2
@pytest.mark.parametrize("policy", quick_policies(), ids=lambda policy: policy.name)
def test_the_engines_agree(policy):
    workload = Workload.load(PAGES)
    assert_same(simulate(policy, workload), ns2.simulate(policy, workload))


@needs_ns2
@settings(deadline=None, max_examples=15)
@given(
    st.sampled_from(quick_policies()),
    workloads,
    st.builds(
        Network,
        mss=st.sampled_from([536, 1460]),
        initial_window=st.integers(1, 10),
        window=st.integers(2, 44),
        nagle=st.booleans(),
        connections=st.integers(1, 5),
    ),
)
def test_the_engines_agree_on_whatever_is_fetched(policy, workload, network):
    ours = simulate(policy, workload, network=network)
    assert_same(ours, ns2.simulate(policy, workload, network=network))


@needs_ns2
def test_both_engines_ask_the_same_questions():
    workload = Workload.load(PAGES)
    ours = simulate(StaticPsm(), workload, diary=True).diary
    theirs = ns2.simulate(StaticPsm(), workload, diary=True).diary
    assert ours is not None
    assert theirs is not None
    assert ours.bytes_waiting.tolist() == theirs.bytes_waiting.tolist()
    assert np.allclose(ours.time_s, theirs.time_s, atol=1e-6)
    assert np.allclose(ours.sleep_s, theirs.sleep_s, atol=1e-9)


@needs_ns2
def test_an_error_of_the_policy_comes_through():
    class Failing(StaticPsm):
        def start(self):
            controller = super().start()
            controller.sleep = lambda now: now
            return controller

    with pytest.raises(ValueError, match="is not a beacon after 0 s"):
        ns2.simulate(Failing(), one_fetch(300, 1000))


def test_without_ns2_the_engine_says_what_to_install(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(FileNotFoundError, match="apt-get install ns2"):
        ns2.simulate(AlwaysOn(), one_fetch(300, 1000))


def test_an_ns2_that_stops_early_says_why(tmp_path, monkeypatch):
    program = tmp_path / "ns"
    program.write_text("#!/bin/sh\necho out of memory >&2\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match="stopped before the last page: out of memory"):
        ns2.simulate(AlwaysOn(), one_fetch(300, 1000))
