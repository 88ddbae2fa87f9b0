"""Figures 2-5 and 2-8 of [Mon06] drawn from our runs, and energy against time for all policies."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from selectron.extras import extra
from selectron.power.comparison import Comparison, CostRow, Row, cost_rows
from selectron.power.results import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS: Mapping[str, str] = {"learned": "C3", "lpsm": "C0", "bsd": "C2", "static": "black"}


def new_figure(
    width: float, height: float, rows: int = 1, columns: int = 1, **shared: Any
) -> "tuple[Figure, Any]":
    """Return a figure and its axes, an array of them if there are several."""
    with extra("plot"):
        from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, **shared)


def sleep_times(runs: Sequence[Run], span_s: tuple[float, float] = (0.0, 60.0)) -> "Figure":
    """Draw how long the station sleeps as time goes by ([Mon06], Figure 2-5).

    Parameters
    ----------
    runs : sequence of Run
        Simulated with ``diary=True``; a panel each.
    span_s : tuple
        Part of the run to show, in seconds.
    """
    figure, panels = new_figure(8.0, 2.5 * len(runs), len(runs), squeeze=False)
    for axes, run in zip(panels[:, 0], runs, strict=True):
        if run.diary is None:
            raise ValueError(f"{run.policy} kept no diary; simulate it with diary=True")
        shown = (run.diary.time_s >= span_s[0]) & (run.diary.time_s <= span_s[1])
        time, sleep = run.diary.time_s[shown], run.diary.sleep_s[shown]
        axes.step(time, 1000 * sleep, where="post", linewidth=1)
        data = run.diary.bytes_waiting[shown] > 0
        axes.plot(time[data], 1000 * sleep[data], ".", label="after data")
        axes.set(title=run.policy, xlabel="time (s)", ylabel="sleep (ms)")
        axes.legend(loc="best")
    return figure


def page_slowdowns(
    comparison: Comparison, policies: Sequence[str] = ("static", "lpsm-1/T", "lpsm-1/logT")
) -> "Figure":
    """Draw each page's slowdown against its own loading time ([Mon06], Figure 2-8)."""
    unknown = [name for name in policies if name not in comparison.runs]
    if unknown:
        known = ", ".join(comparison.runs)
        raise ValueError(f"{unknown[0]!r} was not run; this comparison has {known}")
    figure, panels = new_figure(8.0, 2.5 * len(policies), len(policies), squeeze=False)
    for axes, name in zip(panels[:, 0], policies, strict=True):
        pairs = list(zip(comparison.runs[name], comparison.runs["none"], strict=True))
        times = np.concatenate([none.latencies_s for _, none in pairs])
        ratios = np.concatenate([run.slowdowns(none) for run, none in pairs])
        axes.semilogx(times, ratios, ".", markersize=3)
        axes.axhline(float(np.mean(ratios)), color="black", linewidth=0.8)
        axes.set(title=name, xlabel="time without power saving (s)", ylabel="slowdown")
    return figure


class Point(NamedTuple):
    """A policy: its energy over that of static PSM, and a time; less of both is better."""

    policy: str
    energy: float
    time: float


class Panel(NamedTuple):
    """What one picture shows."""

    title: str
    time: str  # what the time of the points is
    points: list[Point]


def undominated(points: Sequence[Point]) -> list[Point]:
    """Keep the points that no other point beats or equals in both, from the least energy on.

    Examples
    --------
    >>> points = [Point("a", 0.8, 2.0), Point("b", 0.9, 1.0), Point("c", 0.9, 1.5)]
    >>> [point.policy for point in undominated(points)]
    ['a', 'b']
    """
    front: list[Point] = []
    for point in sorted(points, key=lambda p: (p.energy, p.time)):
        if not front or point.time < front[-1].time:
            front.append(point)
    return front


def slowdown_panels(comparison: Comparison) -> list[Panel]:
    """Show mean slowdown and worst page, over no power saving."""
    times = {"slowdown": "mean slowdown", "worst_page": "slowdown of the worst page"}
    return _panels("web", comparison.rows(), times)


def delay_panels(comparison: Comparison) -> list[Panel]:
    """Show mean and longest delay over no power saving."""
    times = {"delay_s": "mean delay (s)", "longest_delay_s": "longest delay (s)"}
    return _panels("changing traffic", cost_rows(comparison, ()), times)


def _panels(
    title: str, rows: Sequence[Row] | Sequence[CostRow], times: Mapping[str, str]
) -> list[Panel]:
    """Return a panel for each field of the rows that is a time, with its label."""
    shown = [row for row in rows if row.policy != "none"]
    return [
        Panel(title, label, [Point(r.policy, r.energy_vs_static, getattr(r, time)) for r in shown])
        for time, label in times.items()
    ]


def draw_fronts(panels: Sequence[Panel]) -> "Figure":
    """Draw two panels a row; a line joins the policies that no other policy beats."""
    n_rows = (len(panels) + 1) // 2
    figure, places = new_figure(10.0, 4.0 * n_rows, n_rows, 2, squeeze=False)
    for axes, panel in zip(places.ravel().tolist(), panels, strict=False):
        draw_panel(axes, panel)
    return figure


def draw_panel(axes: "Axes", panel: Panel) -> None:
    _, energies, times = zip(*undominated(panel.points), strict=True)
    axes.step(energies, times, where="post", color="lightgrey")
    for policy, energy, time in panel.points:
        colour = COLOURS.get(policy.partition("-")[0], "C4")
        axes.plot(energy, time, "o", color=colour, markersize=4)
        place, beside = (energy, time), (4, 3)
        name = axes.annotate(policy, place, beside, textcoords="offset points")
        name.set(fontsize=7, rotation=25, color=colour)
    axes.set(title=panel.title, xlabel="energy / static PSM", ylabel=panel.time)
    axes.set_yscale("log")
    axes.margins(x=0.12, y=0.15)
    for kind in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
        kind("{x:g}")
    axes.grid(alpha=0.3)
