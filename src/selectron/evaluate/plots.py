"""Pictures of runs: where the labels went, and what they bought."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from selectron.arrays import Vector
from selectron.evaluate.trace import Trace


def plot_curves(
    traces: Mapping[str, Trace], path: str | Path | None = None, *, title: str = ""
) -> Any:
    """Draw error against labels (test error if there is one), and labels against rounds.

    Returns the matplotlib figure; with a path it is written there too.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra: pip install selectron[plot]

    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    tested = any(len(trace.test_rounds) for trace in traces.values())
    for name, trace in traces.items():
        right.plot(np.cumsum(trace.asked), label=f"{name}: {trace.n_asked:,}")
        if tested and not len(trace.test_rounds):  # never updated: there is no curve
            continue
        labels, errors = learning_curve(trace)
        floor = 0.5 / len(trace) if tested else 0.0  # a logarithm has no place for 0
        left.step(labels, np.maximum(errors, floor), where="post", label=name)
    left.set(xlabel="labels asked", ylabel="test error" if tested else "error of the stream so far")
    left.set_xscale("symlog", linthresh=10)
    left.set_yscale("log" if tested else "linear")
    right.set(xlabel="rounds", ylabel="labels asked")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    figure.suptitle(title)
    if path is not None:
        write_figure(figure, Path(path))
    return figure


def learning_curve(trace: Trace) -> tuple[Vector, Vector]:
    """Return labels asked against error: on the test rows, or of all rounds so far."""
    if len(trace.test_rounds):
        return trace.test_labels.astype(float), trace.test_errors
    rounds = np.arange(1, len(trace) + 1)
    return np.cumsum(trace.asked).astype(float), np.cumsum(trace.mistakes) / rounds


def write_figure(figure: Any, path: Path) -> None:
    """Write a figure, whole or not at all."""
    beside = path.with_name(f".{path.name}.part")
    try:
        figure.savefig(beside, dpi=120, format=path.suffix.removeprefix(".") or "png")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
