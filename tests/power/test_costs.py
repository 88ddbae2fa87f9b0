"""Joules and seconds as one number, and the front of policies that no other beats."""

import numpy as np
import pytest

from selectron.power import BoundedSlowdown, Workload, changing_workload, compare, simulate
from selectron.power.comparison import cost_row, cost_rows, costs, costs_as_dicts
from selectron.power.plots import (
    Point,
    delay_panels,
    draw_fronts,
    slowdown_panels,
    undominated,
)


@pytest.fixture(scope="module")
def comparison():
    return compare(
        [BoundedSlowdown(0.5)], workloads=[changing_workload(2, seed=seed) for seed in (1, 2)]
    )


def test_a_cost_is_joules_and_delay_an_hour(comparison):
    static, none = comparison.runs["static"][0], comparison.runs["none"][0]
    hours = static.duration_s / 3600
    delay = static.latencies_s.sum() - none.latencies_s.sum()
    by_hand = (static.energy_j_per_page * len(static.latencies_s) + 2.0 * delay) / hours
    assert static.cost_per_hour(none, 2.0) == pytest.approx(by_hand)
    assert none.cost_per_hour(none, 2.0) == pytest.approx(0.75 * 3600)
    assert costs(comparison, "static", 2.0)[0] == static.cost_per_hour(none, 2.0)


def test_a_row_is_the_mean_over_the_workloads(comparison):
    row = cost_row(comparison, "bsd-50", [0.5, 2.0])
    assert row.cost_per_hour[1] == pytest.approx(np.mean(costs(comparison, "bsd-50", 2.0)))
    runs, nones = comparison.runs["bsd-50"], comparison.runs["none"]
    delays = [run.latencies_s - none.latencies_s for run, none in zip(runs, nones, strict=True)]
    assert row.delay_s == pytest.approx(np.mean([seconds.mean() for seconds in delays]))
    assert row.longest_delay_s == max(seconds.max() for seconds in delays)
    static, _ = cost_row(comparison, "static", [1.0]), row
    assert static.energy_vs_static == 1.0


def test_rows_as_plain_data(comparison):
    rows = cost_rows(comparison, [0.5, 1.0])
    plain = costs_as_dicts(rows, [0.5, 1.0])
    assert [row["policy"] for row in plain] == ["none", "static", "bsd-50"]
    assert plain[1]["cost_per_hour"] == {
        "0.5": rows[1].cost_per_hour[0],
        "1": rows[1].cost_per_hour[1],
    }


def test_runs_of_other_workloads_have_no_delay(comparison):
    other = simulate(BoundedSlowdown(), Workload(changing_workload(1, seed=1).pages[:2]))
    with pytest.raises(ValueError, match="bsd-100 loaded 2 pages and none"):
        other.cost_per_hour(comparison.runs["none"][0], 1.0)


def test_the_front_has_what_no_other_beats():
    points = [
        Point("dear", 1.0, 1.0),
        Point("slow", 0.7, 3.0),
        Point("beaten", 0.9, 2.5),
        Point("good", 0.8, 2.0),
        Point("equal", 0.8, 2.0),
    ]
    assert [point.policy for point in undominated(points)] == ["slow", "good", "dear"]
    for point in points:
        beaten = any(
            other.energy <= point.energy and other.time <= point.time and other[1:] != point[1:]
            for other in points
        )
        assert beaten == (point.policy == "beaten")


def test_the_fronts_are_drawn(comparison):
    pytest.importorskip("matplotlib", reason="matplotlib is missing: pip install selectron[plot]")
    panels = [*slowdown_panels(comparison), *delay_panels(comparison)]
    figure = draw_fronts(panels)
    assert [axes.get_title() for axes in figure.axes] == ["web"] * 2 + ["changing traffic"] * 2
    drawn = [line.get_xydata().tolist() for line in figure.axes[2].lines[1:]]
    assert drawn == [[[point.energy, point.time]] for point in panels[2].points]
    assert [text.get_text() for text in figure.axes[0].texts] == ["static", "bsd-50"]
