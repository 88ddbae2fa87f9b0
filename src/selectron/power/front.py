"""Energy against time, for every policy: which ones no other beats in both."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from selectron.power.comparison import Comparison
from selectron.power.costs import cost_rows
from selectron.power.plots import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Point(NamedTuple):
    """A policy: energy over static PSM's, and a time; less of both is better."""

    policy: str
    energy: float
    time: float


class Panel(NamedTuple):
    """What one picture shows."""

    title: str
    time: str  # what the points' time is
    points: list[Point]


def undominated(points: Sequence[Point]) -> list[Point]:
    """Keep what no other point beats or equals in both, from the least energy on.

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


def slowdown_panels(comparison: Comparison, title: str = "web") -> list[Panel]:
    """Show mean slowdown and worst page, over no power saving."""
    rows = [row for row in comparison.rows() if row.policy != "none"]
    mean = [Point(row.policy, row.energy_vs_static, row.slowdown) for row in rows]
    worst = [Point(row.policy, row.energy_vs_static, row.worst_page) for row in rows]
    return [Panel(title, "mean slowdown", mean), Panel(title, "slowdown of the worst page", worst)]


def delay_panels(comparison: Comparison, title: str = "changing traffic") -> list[Panel]:
    """Show mean and longest delay over no power saving."""
    rows = [row for row in cost_rows(comparison, ()) if row.policy != "none"]
    mean = [Point(row.policy, row.energy_vs_static, row.delay_s) for row in rows]
    worst = [Point(row.policy, row.energy_vs_static, row.longest_delay_s) for row in rows]
    return [Panel(title, "mean delay (s)", mean), Panel(title, "longest delay (s)", worst)]


def draw_fronts(panels: Sequence[Panel]) -> "Figure":
    """Draw two panels a row; the line joins the policies that no other beats."""
    figure = new_figure(10.0, 4.0 * ((len(panels) + 1) // 2))
    places = figure.subplots((len(panels) + 1) // 2, 2, squeeze=False).ravel().tolist()
    for axes, panel in zip(places, panels, strict=False):
        draw_panel(axes, panel)
    return figure


COLOURS: Mapping[str, str] = {"learned": "C3", "lpsm": "C0", "bsd": "C2", "static": "black"}


def draw_panel(axes: "Axes", panel: Panel) -> None:
    front = undominated(panel.points)
    axes.step(
        [point.energy for point in front],
        [point.time for point in front],
        where="post",
        color="lightgrey",
    )
    for point in panel.points:
        colour = COLOURS.get(point.policy.partition("-")[0], "C4")
        axes.plot(point.energy, point.time, "o", color=colour, markersize=4)
        axes.annotate(
            point.policy,
            (point.energy, point.time),
            xytext=(4, 3),
            textcoords="offset points",
            fontsize=7,
            rotation=25,
            color=colour,
        )
    axes.set(title=panel.title, xlabel="energy / static PSM", ylabel=panel.time)
    axes.set_yscale("log")
    axes.margins(x=0.12, y=0.15)
    for kind in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
        kind("{x:g}")
    axes.grid(alpha=0.3)
