"""A picture of the estimated error, with its band, beside the true one."""

from pathlib import Path
from typing import Any

import numpy as np

from selectron.evaluate.estimates import trace_floor
from selectron.evaluate.plots import write_figure
from selectron.evaluate.trace import Trace


def plot_estimates(
    trace: Trace,
    path: str | Path | None = None,
    *,
    level: float = 0.95,
    every: int | None = None,
    explore: float | None = None,
) -> Any:
    """Draw the estimated error with its band, beside the true error of the stream so far.

    Returns the matplotlib figure; with a path it is written there too.
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
    inside = trace.probabilities >= trace_floor(trace, explore)
    truth = np.cumsum(trace.mistakes & inside) / np.maximum(np.cumsum(inside), 1)
    axes.plot(np.arange(1, len(trace) + 1), truth, "k--", label="true error so far")
    most = max(4.0 * float(truth[-1]), 1.5 * high[-1])
    axes.set(xlabel="rounds", ylabel="error of the stream so far", ylim=(0.0, min(most, 1.0)))
    axes.set_title(str(shown[-1]), fontsize=9)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    if path is not None:
        write_figure(figure, Path(path))
    return figure
