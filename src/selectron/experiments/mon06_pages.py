"""Energy and slowdown of all policies ([Mon06], Figures 2-6 to 2-8), from one comparison."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from selectron.evaluate.plots import write_figure
from selectron.experiments.power_runs import comparison_as_data, comparison_from_data
from selectron.experiments.registry import Experiment
from selectron.power import Comparison, compare, mismatches, standard_policies
from selectron.power.plots import new_figure, page_slowdowns
from selectron.power.thesis import Printed, printed_for

SHORT_PAGES, LONG_PAGES, LONG_RUNS = 100, 500, 4
TITLES = {"a": "a) one trial of 100 pages", "b": "b) trials of 500 pages"}


def steps(seeds: int | None) -> int:
    return len(standard_policies()) * (1 + (seeds or LONG_RUNS))


def run(figure: str, seeds: int | None, tick: Callable[[], Any]) -> dict[str, Any]:
    """Compare on 100 pages of seed 1, and on trials of 500 pages."""

    def progress(done: int, total: int) -> None:
        tick()

    trials = {
        "a": compare(pages=SHORT_PAGES, seed=1, progress=progress),
        "b": compare(pages=LONG_PAGES, seed=1, runs=seeds or LONG_RUNS, progress=progress),
    }
    return {
        "experiment": figure,
        "trials": {name: comparison_as_data(trial) for name, trial in trials.items()},
        "rows": {name: trial.to_dict()["policies"] for name, trial in trials.items()},
        "mismatches": {name: mismatches(trial) for name, trial in trials.items()},
    }


def trials_of(result: dict[str, Any]) -> dict[str, Comparison]:
    return {name: comparison_from_data(data) for name, data in result["trials"].items()}


def energy_text(result: dict[str, Any]) -> str:
    """Print Joules a page, the beacons' part and the ratio to static PSM, ours and (thesis's)."""
    columns = ("energy_j_per_page", "beacon_j_per_page", "energy_vs_static", "beacons_vs_static")
    heads = ("J/page", "beacons J/page", "energy/static", "beacons/static")
    return _table(
        result, "Energy per page ([Mon06], Figure 2-6)", columns, heads, ("energy", "beacons")
    )


def slowdown_text(result: dict[str, Any]) -> str:
    """Print the mean slowdown over no power saving and over static PSM."""
    columns = ("latency_s", "slowdown", "slowdown_vs_static")
    heads = ("latency s", "slowdown", "over static")
    title = "Slowdown over no power saving ([Mon06], Figure 2-7)"
    return _table(result, title, columns, heads, ("slowdown",))


def _table(
    result: dict[str, Any],
    title: str,
    columns: tuple[str, ...],
    heads: tuple[str, ...],
    words: tuple[str, ...],
) -> str:
    lines = [f"{title}; the thesis's figures in brackets"]
    for name, comparison in trials_of(result).items():
        printed = printed_for(comparison)
        lines += ["", TITLES[name], f"{'':14s}" + "".join(f"{head:>22s}" for head in heads)]
        for row in comparison.rows():
            thesis = printed.get(row.policy, Printed())
            cells = [_cell(getattr(row, c), getattr(thesis, c, None)) for c in columns]
            lines.append(f"{row.policy:14s}" + "".join(f"{cell:>22s}" for cell in cells))
        said = result["mismatches"][name]
        found = [sentence for sentence in said if any(word in sentence for word in words)]
        lines += [f"Differs: {sentence}." for sentence in found]
    return "\n".join(lines)


def _cell(ours: float, thesis: float | None) -> str:
    return f"{ours:.3f}" + (f" ({thesis:.3g})" if thesis is not None else "")


def pages_text(result: dict[str, Any]) -> str:
    """Print how much slower single pages get than under static PSM, short ones and long ones."""
    lines = [
        "Slowdown of single pages over static PSM ([Mon06], Figure 2-8)",
        f"{'':26s}{'mean':>8s}{'worst':>8s}{'fastest 10 %':>14s}{'slowest 10 %':>14s}"
        f"{'worst, thesis':>15s}",
    ]
    for name, comparison in trials_of(result).items():
        printed = printed_for(comparison)
        lines.append(TITLES[name])
        for policy in ("lpsm-1/T", "lpsm-1/logT"):
            fast, slow, ratios = _by_length(comparison, policy)
            worst = printed.get(policy, Printed()).worst_page_vs_static
            lines.append(
                f"  {policy:24s}{np.mean(ratios):8.2f}{np.max(ratios):8.2f}{fast:14.2f}{slow:14.2f}"
                + (f"{'at most ' + format(worst, 'g'):>15s}" if worst else "")
            )
    lines += [
        "",
        "The thesis: 1/T is never more than 20 % slower than static PSM, 1/log T never more than a",
        "factor of 2; for longer transfers both slow down negligibly.",
    ]
    return "\n".join(lines)


def _by_length(comparison: Comparison, policy: str) -> tuple[float, float, Any]:
    """Return the mean ratio to static of the tenth of pages that load fastest, slowest, and all."""
    times = np.concatenate([none.latencies_s for none in comparison.runs["none"]])
    pairs = zip(comparison.runs[policy], comparison.runs["static"], strict=True)
    ratios = np.concatenate([one.slowdowns(static) for one, static in pairs])
    order = np.argsort(times, kind="stable")
    tenth = max(1, len(order) // 10)
    return float(ratios[order[:tenth]].mean()), float(ratios[order[-tenth:]].mean()), ratios


def bars(result: dict[str, Any], path: Path, column: str, label: str) -> None:
    """Draw a bar a policy, trials side by side, what the thesis prints as a cross."""
    figure = new_figure(10.0, 4.0)
    for axes, (name, comparison) in zip(
        figure.subplots(1, 2, sharey=True), trials_of(result).items(), strict=True
    ):
        rows = [row for row in comparison.rows() if row.policy != "none"]
        axes.bar([row.policy for row in rows], [getattr(row, column) for row in rows])
        if column == "energy_j_per_page":
            axes.bar([r.policy for r in rows], [r.beacon_j_per_page for r in rows], label="beacons")
            thesis = {p: v.energy_j_per_page for p, v in printed_for(comparison).items()}
            axes.plot(list(thesis), list(thesis.values()), "kx", label="thesis")
            axes.legend()
        axes.set(title=TITLES[name], ylabel=label)
        axes.tick_params("x", rotation=45)
    write_figure(figure, path)


def pages_plot(result: dict[str, Any], path: Path) -> None:
    write_figure(page_slowdowns(trials_of(result)["a"]), path)


def _energy_plot(result: dict[str, Any], path: Path) -> None:
    bars(result, path, "energy_j_per_page", "energy per page (J)")


def _slowdown_plot(result: dict[str, Any], path: Path) -> None:
    bars(result, path, "slowdown", "slowdown over no power saving")


FIGURE_2_6 = Experiment(
    "[Mon06] Figure 2-6: energy per page of every power-saving policy",
    steps,
    partial(run, "mon06-figure-2-6"),
    energy_text,
    _energy_plot,
)
FIGURE_2_7 = Experiment(
    "[Mon06] Figure 2-7: slowdown of every policy over no power saving",
    steps,
    partial(run, "mon06-figure-2-7"),
    slowdown_text,
    _slowdown_plot,
)
FIGURE_2_8 = Experiment(
    "[Mon06] Figure 2-8: slowdown of single pages against their own loading time",
    steps,
    partial(run, "mon06-figure-2-8"),
    pages_text,
    pages_plot,
)
