"""Pictures of runs: where the labels went, and what they bought."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from selectron.evaluate.trace import Trace
from selectron.numeric.arrays import Vector


def plot_curves(
    traces: Mapping[str, Trace], path: str | Path | None = None, *, title: str = ""
) -> Any:
    """Draw error against labels (test error if there is one), and labels against rounds.

    Returns the matplotlib figure; with a path it is written there too.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra: pip install selectron[plot]

    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    tested = all(len(trace.test_rounds) for trace in traces.values())
    for name, trace in traces.items():
        labels, errors = learning_curve(trace)
        left.step(labels, errors, where="post", label=name)
        right.plot(np.cumsum(trace.asked), label=f"{name}: {trace.n_asked:,}")
    left.set(xlabel="labels asked", ylabel="test error" if tested else "error of the stream so far")
    left.set_xscale("symlog", linthresh=10)
    left.set_yscale("log" if tested else "linear")
    right.set(xlabel="rounds", ylabel="labels asked")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    figure.suptitle(title)
    if path is not None:
        figure.savefig(path, dpi=120)
    return figure


def learning_curve(trace: Trace) -> tuple[Vector, Vector]:
    """Return labels asked against error: on the test rows, or of all rounds so far."""
    if len(trace.test_rounds):
        floor = 0.5 / max(len(trace), 1)
        return trace.test_labels.astype(float), np.maximum(trace.test_errors, floor)
    rounds = np.arange(1, len(trace) + 1)
    return np.cumsum(trace.asked).astype(float), np.cumsum(trace.mistakes) / rounds
