"""Figures 2-5 to 2-8 of [Mon06], drawn from our runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from selectron.power.comparison import Comparison
from selectron.power.results import Run
from selectron.power.thesis import printed_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def new_figure(width: float = 8.0, height: float = 4.5) -> "Figure":
    from matplotlib.figure import Figure  # noqa: PLC0415 - plotting is an extra

    return Figure(figsize=(width, height), layout="constrained")


def sleep_times(runs: Sequence[Run], span_s: tuple[float, float] = (0.0, 60.0)) -> "Figure":
    """Draw how long the station sleeps as time goes by ([Mon06], Figure 2-5).

    Parameters
    ----------
    runs : sequence of Run
        Simulated with ``diary=True``; a panel each.
    span_s : tuple
        Part of the run to show, in seconds.
    """
    figure = new_figure(height=2.5 * len(runs))
    for axes, run in zip(panels(figure, len(runs)), runs, strict=True):
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


def panels(figure: "Figure", n: int) -> "list[Axes]":
    return list(figure.subplots(n, 1, squeeze=False)[:, 0])


def energy(comparison: Comparison) -> "Figure":
    """Draw the energy per page, the beacons' part of it, and what [Mon06], Figure 2-6 has."""
    rows = [row for row in comparison.rows() if row.policy != "none"]
    figure = new_figure()
    axes = figure.subplots()
    names = [row.policy for row in rows]
    axes.bar(names, [row.energy_j_per_page for row in rows], label="all")
    axes.bar(names, [row.beacon_j_per_page for row in rows], label="beacons")
    printed = {
        name: figures.energy_j_per_page
        for name, figures in printed_for(comparison).items()
        if name in names and figures.energy_j_per_page is not None
    }
    axes.plot(list(printed), list(printed.values()), "kx", label="thesis")
    axes.set(ylabel="energy per page (J)")
    axes.legend()
    return figure


def slowdown(comparison: Comparison) -> "Figure":
    """Draw the mean slowdown over no power saving ([Mon06], Figure 2-7)."""
    rows = [row for row in comparison.rows() if row.policy != "none"]
    figure = new_figure()
    axes = figure.subplots()
    axes.bar([row.policy for row in rows], [row.slowdown for row in rows])
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set(ylabel="slowdown over no power saving")
    return figure


def page_slowdowns(
    comparison: Comparison, policies: Sequence[str] = ("static", "lpsm-1/T", "lpsm-1/logT")
) -> "Figure":
    """Draw each page's slowdown against its own loading time ([Mon06], Figure 2-8)."""
    unknown = [name for name in policies if name not in comparison.runs]
    if unknown:
        known = ", ".join(comparison.runs)
        raise ValueError(f"{unknown[0]!r} was not run; this comparison has {known}")
    figure = new_figure(height=2.5 * len(policies))
    for axes, name in zip(panels(figure, len(policies)), policies, strict=True):
        pairs = list(zip(comparison.runs[name], comparison.runs["none"], strict=True))
        times = np.concatenate([none.latencies_s for _, none in pairs])
        ratios = np.concatenate([run.slowdowns(none) for run, none in pairs])
        axes.semilogx(times, ratios, ".", markersize=3)
        axes.axhline(float(np.mean(ratios)), color="black", linewidth=0.8)
        axes.set(title=name, xlabel="time without power saving (s)", ylabel="slowdown")
    return figure


def save_all(comparison: Comparison, directory: str | Path) -> list[Path]:
    """Write Figures 2-6, 2-7 and 2-8 as SVG into a directory and give their paths."""
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    lpsm = [name for name in comparison.runs if name != "none" and not name.startswith("bsd")]
    figures = {
        "figure-2-6-energy": energy(comparison),
        "figure-2-7-slowdown": slowdown(comparison),
        "figure-2-8-pages": page_slowdowns(comparison, lpsm),
    }
    paths = []
    for name, figure in figures.items():
        paths.append(folder / f"{name}.svg")
        figure.savefig(paths[-1])
    return paths
