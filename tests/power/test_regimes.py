"""Traffic that changes, and what the server sends unasked."""

from itertools import pairwise

import numpy as np
import pytest

from selectron.power import (
    AlwaysOn,
    Page,
    Push,
    StaticPsm,
    Workload,
    changing_workload,
    ns2,
    simulate,
)
from selectron.power.regimes import KINDS, Regime, draw_regimes, items_of
from tests.power.test_ns2 import needs_ns2
from tests.power.traffic import one_fetch

US = 1e-6


def test_a_push_over_an_idle_link_by_hand():
    run = simulate(AlwaysOn(), Workload((Push(1.0, 1000),)))
    over_the_wire = 1040 * 0.8 * US + 0.02
    over_the_air = 1040 * 1.6 * US + 1e-4
    assert run.latencies_s.tolist() == pytest.approx([over_the_wire + over_the_air], abs=1e-9)


def test_a_push_waits_for_the_beacon():
    run = simulate(StaticPsm(), Workload((Push(1.0, 1000), Push(1.0, 1000))))
    first = 0.1 + 1040 * 1.6 * US + 1e-4
    # Pushed 1 s after the first was there, at 1.1018 s: at the access point before 1.2 s.
    assert run.latencies_s.tolist() == pytest.approx([first, 0.1], abs=1e-8)


def test_what_was_pushed_is_acknowledged_and_the_window_stays_open():
    pushes = Workload((Push(2.0, 60_000), Push(2.0, 60_000)))
    first, second = simulate(AlwaysOn(), pushes).latencies_s
    assert first > second + 0.1  # slow start once: 60 kB are within the window later
    assert second == pytest.approx(0.0201 + 60_000 * 1.6 * US, rel=0.05)


def test_pushes_and_pages_take_turns():
    page = one_fetch(300, 1000).pages[0]
    run = simulate(AlwaysOn(), Workload((page, Push(0.5, 300), page)))
    alone = simulate(AlwaysOn(), Workload((page, page)))
    assert run.latencies_s[[0, 2]].tolist() == pytest.approx(alone.latencies_s.tolist(), abs=1e-3)


def test_a_workload_with_pushes_is_read_as_it_was_written(tmp_path):
    workload = changing_workload(5, seed=2)
    assert {type(item) for item in workload.pages} == {Page, Push}
    workload.save(tmp_path / "traffic")
    assert Workload.load(tmp_path / "traffic") == workload


@needs_ns2
def test_ns2_refuses_what_it_does_not_know():
    with pytest.raises(ValueError, match=r"knows no pushes; take selectron\.power\.simulate"):
        ns2.simulate(StaticPsm(), Workload((Push(1.0, 100),)))


def test_a_seed_fixes_the_traffic_and_more_regimes_do_not_change_the_first():
    assert changing_workload(3, seed=5) == changing_workload(3, seed=5)
    assert changing_workload(3, seed=5) != changing_workload(3, seed=6)
    longer, shorter = (changing_workload(n, seed=5).pages for n in (4, 3))
    assert longer[: len(shorter)] == shorter


def test_no_kind_follows_itself_and_all_come():
    regimes = draw_regimes(400, seed=1)
    kinds = [regime.kind for regime in regimes]
    assert all(a != b for a, b in pairwise(kinds))
    assert {kind: kinds.count(kind) for kind in KINDS} == pytest.approx(
        dict.fromkeys(KINDS, 80), abs=25
    )
    lengths = [regime.lasts_s for regime in regimes]
    assert 300 <= min(lengths) < 320
    assert 880 < max(lengths) <= 900


@pytest.mark.parametrize(
    ("kind", "pause_s", "size"),
    [("idle", 120, (200, 2000)), ("stream", 2, (60_000, 60_000)), ("chat", 6, (80, 400))],
)
def test_pushes_come_as_often_as_said(kind, pause_s, size):
    lasts_s = 2000.0 * pause_s
    items = list(items_of(Regime(kind, lasts_s), np.random.default_rng(3)))
    assert sum(item.think_s for item in items) == pytest.approx(lasts_s)
    assert len(items) == pytest.approx(2000, rel=0.1)
    assert (
        size[0] <= min(item.size for item in items) <= max(item.size for item in items) <= size[1]
    )


def test_slow_servers_take_a_quarter_of_a_second():
    for kind, delay_s in (("browse", 0.0), ("slow servers", 0.25)):
        items = list(items_of(Regime(kind, 600.0), np.random.default_rng(3)))
        assert {fetch.delay_s for page in items for fetch in page.fetches} == {delay_s}
        assert sum(page.think_s for page in items) == pytest.approx(600.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: changing_workload(0), "regimes=0 must be a whole number, at least 1"),
        (lambda: changing_workload(1, seed=-1), "seed=-1 must be 0 or more"),
        (lambda: Workload((Push(1.0, 0),)), r"page 0: 0 is not a size; give bytes, 1 to 10\^9"),
        (lambda: Workload((Push(-1.0, 9),)), r"page 0: think_s=-1.0 must be seconds"),
    ],
)
def test_traffic_that_cannot_be_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
