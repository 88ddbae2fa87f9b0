import json
from functools import partial

import pytest

from selectron.power import (
    BoundedSlowdown,
    Lpsm,
    Network,
    Radio,
    compare,
    simulate,
    web_workload,
)


def test_none_and_static_are_always_run():
    comparison = compare([BoundedSlowdown(0.5)], pages=5, seed=2)
    assert list(comparison.runs) == ["none", "static", "bsd-50"]
    none, static, _ = comparison.rows()
    assert (none.slowdown, none.worst_page, none.beacon_j_per_page) == (1, 1, 0)
    assert (static.energy_vs_static, static.beacons_vs_static) == (1, 1)


def test_a_row_is_the_mean_over_the_workloads():
    both = compare([], pages=5, seed=3, runs=2)
    alone = [compare([], pages=5, seed=seed).row("static") for seed in (3, 4)]
    mean = both.row("static")
    assert mean.slowdown == pytest.approx((alone[0].slowdown + alone[1].slowdown) / 2)
    assert mean.energy_j_per_page == pytest.approx(sum(row.energy_j_per_page for row in alone) / 2)


def test_slowdown_is_the_mean_of_the_pages_ratios():
    comparison = compare([], pages=7, seed=1)
    (static,), (none,) = comparison.runs["static"], comparison.runs["none"]
    ratios = static.latencies_s / none.latencies_s
    assert comparison.row("static").slowdown == pytest.approx(ratios.mean())
    assert comparison.row("static").worst_page == pytest.approx(ratios.max())


def test_ratios_to_static_are_those_of_the_columns():
    none, static, bounded = compare([BoundedSlowdown()], pages=7, seed=1).rows()
    for row in (none, static, bounded):
        assert row.slowdown_vs_static == pytest.approx(row.slowdown / static.slowdown)
        assert row.energy_vs_static == pytest.approx(
            row.energy_j_per_page / static.energy_j_per_page
        )
        assert row.beacons_vs_static == pytest.approx(
            row.beacon_j_per_page / static.beacon_j_per_page
        )
    assert none.worst_page_vs_static < 1


def test_plain_data_can_be_written_as_json():
    plain = json.loads(json.dumps(compare([], pages=3, seed=1, runs=2).to_dict()))
    assert (plain["pages"], plain["runs"]) == (3, 2)
    assert [row["policy"] for row in plain["policies"]] == ["none", "static"]
    wanted = {"energy_j_per_page", "beacon_j_per_page", "latency_s", "slowdown"}
    assert all(wanted <= set(row) for row in plain["policies"])


def test_other_links_prices_and_workloads():
    workload = web_workload(5, seed=1, server_delay_s=0.3)
    engine = partial(simulate, network=Network(connections=1), radio=Radio(asleep_w=0.0))
    row = compare([], workloads=[workload], engine=engine).row("static")
    usual = compare([], pages=5, seed=1).row("static")
    assert row.energy_j_per_page < usual.energy_j_per_page
    assert row.latency_s > usual.latency_s
    assert row.slowdown < usual.slowdown


def test_progress_is_told():
    told = []
    compare([], pages=1, seed=1, runs=2, progress=lambda *numbers: told.append(numbers))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(ValueError, match="runs=0 must be at least 1"):
        compare(runs=0)
    with pytest.raises(ValueError, match="leave it out to draw web traffic"):
        compare(workloads=[])
    with pytest.raises(ValueError, match="two different policies are called 'lpsm-1/T'"):
        compare([Lpsm(), Lpsm(horizon=5)], pages=1)
    short, long = (compare([], pages=n, seed=1).runs["static"][0] for n in (1, 2))
    with pytest.raises(ValueError, match="static loaded 1 pages and static 2; compare runs of"):
        short.slowdowns(long)
