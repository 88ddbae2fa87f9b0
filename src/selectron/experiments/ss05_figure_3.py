"""Ballseptron's four plots: mistakes against r on digits, bounds against noise [SS05]."""

from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from selectron.evaluate.plots import write_figure
from selectron.experiments.processes import in_processes
from selectron.experiments.registry import Experiment
from selectron.experiments.ss05_circle import MARGIN, N_EXAMPLES, NOISES, measure
from selectron.experiments.ss05_digits import FILES, digits, machine_for, mistakes, require_files

RADII = (0.0, 0.02, 0.05, 0.08, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5)
FIRST = 15_000  # rows of MNIST after which mistakes are counted once more
SEEDS = 5
SAYING = (
    "[SS05]: many r make significantly fewer mistakes than r = 0, an excessive r makes more; the "
    "D2 bound exceeds 1\nwhere label noise exceeds 0.03; the D1 bound is clearly tighter under "
    "label noise, slightly under instance noise."
)


def steps(seeds: int | None) -> int:
    return len(FILES) * len(RADII) + len(NOISES)


def run(seeds: int | None, tick: Callable[[], Any]) -> dict[str, Any]:
    """Pass over both sets of digits with every radius, and measure both noises."""
    require_files()
    jobs = [(name, r) for name in FILES for r in reversed(RADII)]  # the longest first
    start = perf_counter()
    sweep = in_processes(pass_with, jobs, tick)
    seconds = perf_counter() - start
    bounds = []
    for kind, (_, levels) in NOISES.items():
        for level in levels:
            bounds += [measure(kind, level, seed) for seed in range(1, 1 + (seeds or SEEDS))]
        tick()
    return {
        "experiment": "ss05-figure-3",
        "sweep": sorted(sweep, key=lambda row: (row["data"], row["r"])),
        "sweep_seconds": seconds,
        "bounds": bounds,
    }


def pass_with(job: tuple[str, float]) -> dict[str, Any]:
    """Make one pass over a set of digits with this radius."""
    name, r = job
    X, y = digits(name)
    machine = machine_for(X, r)
    start = process_time()  # of this process alone: the other cores are at work too
    first = mistakes(machine, X[:FIRST], y[:FIRST])
    total = first + (mistakes(machine, X[FIRST:], y[FIRST:]) if len(y) > FIRST else 0)
    return {
        "data": name,
        "r": r,
        "rows": len(y),
        "first": first,
        "mistakes": total,
        "margin_errors": int(machine.state.update.n_margin_errors),
        "support_vectors": int(machine.core.gallery.n_support),
        "seconds": process_time() - start,
    }


def text(result: dict[str, Any]) -> str:
    """Print ours, and what the paper says of its own."""
    lines = ["Ballseptron, polynomial kernel of degree 5 with bias 1/2, one pass, every label told"]
    for name in FILES:
        rows = _rows(result, name)
        lines.append(
            f"{name}, {rows[0]['rows']:,} rows\n{'r':>6s}{'mistakes':>10s}{'share':>8s}"
            f"{'against r = 0':>15s}{'margin errors':>15s}{'support vectors':>17s}"
            + (f"{'after 15,000':>14s}" if name == "MNIST" else "")
        )
        for row in rows:
            share, change = row["mistakes"] / row["rows"], row["mistakes"] / rows[0]["mistakes"] - 1
            lines.append(
                f"{row['r']:6.2f}{row['mistakes']:10d}{share:8.4f}{change:15.1%}"
                f"{row['margin_errors']:15d}{row['support_vectors']:17d}"
                + (f"{row['first']:14d}" if name == "MNIST" else "")
            )
    lines += [*_bound_lines(result), SAYING]
    return "\n".join(lines)


def _bound_lines(result: dict[str, Any]) -> list[str]:
    lines = []
    for kind, (_, levels) in NOISES.items():
        lines.append(
            f"{kind} noise on the unit circle, margin {MARGIN:g}, {N_EXAMPLES:,} examples, shares "
            f"of mistakes\n{'noise':>6s}{'Perceptron':>12s}{'D1 bound':>10s}{'D2 bound':>10s}"
        )
        for level in levels:
            found = [_mean(result, kind, level, column) for column in ("mistakes", "d1", "d2")]
            lines.append(f"{level:6.3f}{found[0]:12.4f}{found[1]:10.4f}{found[2]:10.4f}")
        lines.append(_crossing(result, kind, levels))
    return lines


def _crossing(result: dict[str, Any], kind: str, levels: tuple[float, ...]) -> str:
    above = [level for level in levels if _mean(result, kind, level, "d2") > 1.0]
    at = f"from {above[0]:g} on" if above else "nowhere here"
    return f"the D2 bound exceeds 1 {at}"


def _mean(result: dict[str, Any], kind: str, level: float, column: str) -> float:
    found = [
        row[column] for row in result["bounds"] if (row["noise"], row["level"]) == (kind, level)
    ]
    return float(sum(found)) / len(found)


def _rows(result: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [row for row in result["sweep"] if row["data"] == name]


def plot(result: dict[str, Any], path: Path) -> None:
    """Draw the four plots in the paper's places."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    figure = Figure(figsize=(10, 8), layout="constrained")
    top, bottom = figure.subplots(2, 2)
    for axes, name in zip(top, FILES, strict=True):
        rows = _rows(result, name)
        axes.plot([row["r"] for row in rows], [row["mistakes"] / row["rows"] for row in rows], "o-")
        axes.axhline(rows[0]["mistakes"] / rows[0]["rows"], color="grey", linestyle=":")
        axes.set(xlabel="r", ylabel="share of mistakes", title=f"{name} (dotted: r = 0)")
    for axes, (kind, (_, levels)) in zip(bottom, NOISES.items(), strict=True):
        for column, label in (("mistakes", "Perceptron"), ("d1", "D₁ bound"), ("d2", "D₂ bound")):
            axes.plot(
                levels, [_mean(result, kind, level, column) for level in levels], "o-", label=label
            )
        axes.axhline(1.0, color="grey", linestyle=":")
        axes.set(xlabel=f"{kind} noise", ylabel="share of mistakes")
        axes.set_ylim(0, 2.5 if kind == "label" else None)
        axes.legend()
    for axes in (*top, *bottom):
        axes.grid(alpha=0.3)
    write_figure(figure, path)


FIGURE_3 = Experiment(
    "[SS05] Figure 3: Ballseptron's mistakes against r on digits, the D1 and D2 bounds under noise",
    steps,
    run,
    text,
    plot,
    reads_data=True,
)
