"""A fixed memory: time, bytes and mistakes with 500 support vectors and without a limit."""

from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

from selectron.evaluate.plots import write_figure
from selectron.experiments.processes import in_processes
from selectron.experiments.registry import Experiment
from selectron.experiments.ss05_digits import digits, machine_for, mistakes, require_files
from selectron.kernels.choice import REMOVALS

BUDGET = 500
STRETCH = 3_000  # rows between two looks at the clock
RADII = (0.0, 0.05)
MEMORIES = (None, *REMOVALS)


def steps(seeds: int | None) -> int:
    return len(RADII) * len(MEMORIES)


def run(seeds: int | None, tick: Callable[[], Any]) -> dict[str, Any]:
    """Pass over MNIST with every way to make room, and with room for all."""
    require_files()
    jobs = [(r, removal) for removal in MEMORIES for r in RADII]
    return {
        "experiment": "kernel-budget",
        "budget": BUDGET,
        "runs": in_processes(watch, jobs, tick),
    }


def watch(job: tuple[float, str | None]) -> dict[str, Any]:
    """Make one pass, and write down time, memory and mistakes on the way."""
    r, removal = job
    X, y = digits("MNIST")
    warm = _machine(X, r, removal)
    mistakes(warm, X[:STRETCH], y[:STRETCH])  # the compiler's time is not the learner's
    machine, looks = _machine(X, r, removal), []
    for start in range(0, len(y), STRETCH):
        before = process_time()
        wrong = mistakes(machine, X[start : start + STRETCH], y[start : start + STRETCH])
        rows = len(y[start : start + STRETCH])
        looks.append(
            {
                "rows": start + rows,
                "microseconds": 1e6 * (process_time() - before) / rows,
                "megabytes": sum(array.nbytes for array in machine.arrays()) / 2**20,
                "support_vectors": int(machine.core.gallery.n_support),
                "mistakes": wrong,
            }
        )
    return {"r": r, "removal": removal, "rows": len(y), "looks": looks}


def _machine(X: Any, r: float, removal: str | None) -> Any:
    return machine_for(X, r) if removal is None else machine_for(X, r, BUDGET, removal)


def text(result: dict[str, Any]) -> str:
    """Print every run at its end, and time and memory early and late."""
    lines = [
        f"MNIST, 60,000 rows, Ballseptron with the kernel of ss05-figure-3; {result['budget']} "
        "support vectors at most, or no limit",
        f"{'r':>5s}  {'makes room':12s}{'mistakes':>9s}{'share':>8s}{'last quarter':>14s}"
        f"{'support':>9s}{'us/row, 2nd quarter':>21s}{'4th':>8s}{'MB, 2nd':>9s}{'4th':>8s}",
    ]
    for run in result["runs"]:
        looks = run["looks"]
        total, (second, fourth) = sum(look["mistakes"] for look in looks), _quarters(looks)
        late = sum(look["mistakes"] for look in fourth) / (STRETCH * len(fourth))
        lines.append(
            f"{run['r']:5.2f}  {run['removal'] or 'no limit':12s}{total:9d}"
            f"{total / run['rows']:8.4f}{late:14.4f}{looks[-1]['support_vectors']:9d}"
            f"{_middle(second, 'microseconds'):21.0f}{_middle(fourth, 'microseconds'):8.0f}"
            f"{_middle(second, 'megabytes'):9.1f}{_middle(fourth, 'megabytes'):8.1f}"
        )
    lines.append("With a budget both stay as they are; without one both grow with the stream.")
    return "\n".join(lines)


def _quarters(looks: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    n = max(1, len(looks) // 4)
    return looks[n : 2 * n], looks[-n:]


def _middle(looks: list[dict[str, Any]], column: str) -> float:
    return float(sorted(look[column] for look in looks)[len(looks) // 2])


def plot(result: dict[str, Any], path: Path) -> None:
    """Draw time, memory and the share of mistakes along the stream."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    figure = Figure(figsize=(12, 4.2), layout="constrained")
    panels = (("microseconds", "µs a row"), ("megabytes", "MB"), ("mistakes", "share of mistakes"))
    for axes, (column, label) in zip(figure.subplots(1, 3), panels, strict=True):
        for run in result["runs"]:
            if run["r"] == RADII[-1]:
                scale = STRETCH if column == "mistakes" else 1
                axes.plot(
                    [look["rows"] for look in run["looks"]],
                    [look[column] / scale for look in run["looks"]],
                    label=run["removal"] or "no limit",
                )
        axes.set(xlabel="rows", ylabel=label, yscale="log")
        axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    figure.suptitle(f"budget = {result['budget']}, r = {RADII[-1]:g}")
    write_figure(figure, path)


KERNEL_BUDGET = Experiment(
    "a fixed memory: time, bytes and mistakes with 500 support vectors, and with no limit",
    steps,
    run,
    text,
    plot,
    reads_data=True,
)
