"""Pictures of runs: when labels were asked for, and which error they led to."""

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from selectron.arrays import Vector
from selectron.evaluate.trace import Trace
from selectron.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_curves(
    traces: Mapping[str, Trace], path: str | Path | None = None, *, title: str = ""
) -> "Figure":
    """Draw error against labels (test error if there is one), and labels against rounds.

    Return the matplotlib figure; with a path, write it there too.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra: pip install selectron[plot]

    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    tested = any(len(trace.test_rounds) for trace in traces.values())
    for name, trace in traces.items():
        right.plot(np.cumsum(trace.asked), label=f"{name}: {trace.n_asked:,}")
        if tested and not len(trace.test_rounds):  # the learner never changed: there is no curve
            continue
        labels, errors = learning_curve(trace)
        floor = 0.5 / len(trace) if tested else 0.0  # a logarithmic axis has no 0
        left.step(labels, np.maximum(errors, floor), where="post", label=name)
    left.set(xlabel="labels asked", ylabel="test error" if tested else "error of the stream so far")
    left.set_xscale("symlog", linthresh=10)
    left.set_yscale("log" if tested else "linear")
    right.set(xlabel="rounds", ylabel="labels asked")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    figure.suptitle(title)
    return written(figure, path)


def learning_curve(trace: Trace) -> tuple[Vector, Vector]:
    """Return labels asked against error: on the test rows, or of all rounds so far."""
    if len(trace.test_rounds):
        return trace.test_labels.astype(float), trace.test_errors
    rounds = np.arange(1, len(trace) + 1)
    return np.cumsum(trace.asked).astype(float), np.cumsum(trace.mistakes) / rounds


def plot_estimates(
    trace: Trace,
    path: str | Path | None = None,
    *,
    level: float = 0.95,
    every: int | None = None,
    explore: float | None = None,
) -> "Figure":
    """Draw the estimated error with its band, beside the true error of the stream so far.

    Return the matplotlib figure; with a path, write it there too.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra: pip install selectron[plot]

    shown = trace.estimates(level, every=every, explore=explore)
    rounds = [e.rounds + e.outside for e in shown]
    high = [1.0 if e.high is None else e.high for e in shown]
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    band = f"{100 * level:g} % at all times"
    axes.fill_between(rounds, [e.low for e in shown], high, alpha=0.25, label=band)
    axes.plot(rounds, [np.nan if e.error is None else e.error for e in shown], label="estimate")
    inside = trace.probabilities >= trace.floor(explore)
    truth = np.cumsum(trace.mistakes & inside) / np.maximum(np.cumsum(inside), 1)
    axes.plot(np.arange(1, len(trace) + 1), truth, "k--", label="true error so far")
    most = max(4.0 * float(truth[-1]), 1.5 * high[-1])
    axes.set(xlabel="rounds", ylabel="error of the stream so far", ylim=(0.0, min(most, 1.0)))
    axes.set_title(str(shown[-1]), fontsize=9)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    return written(figure, path)


def written(figure: "Figure", path: str | Path | None) -> "Figure":
    """Return the figure, after writing it if there is a path."""
    if path is not None:
        write_figure(figure, Path(path))
    return figure


def write_figure(figure: "Figure", path: Path) -> None:
    """Write a figure, whole or not at all."""
    drawn = BytesIO()
    figure.savefig(drawn, dpi=120, format=path.suffix.removeprefix(".") or "png")
    write_whole(path, drawn.getvalue())
