"""Pictures of runs: when labels were asked for, and which error they led to."""

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from selectron.arrays import Vector
from selectron.evaluate.trace import Trace
from selectron.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GRID = 200  # points of a band


class RunCurve(NamedTuple):
    """What a picture needs of one run: a trace holds its rows, and many of them would not fit."""

    labels: Vector  # asked, against
    errors: Vector  # on the test rows, or of all rounds so far
    asked: Vector  # labels asked after each round
    tested: bool

    @classmethod
    def of(cls, trace: Trace) -> "RunCurve":
        asked = np.cumsum(trace.asked).astype(float)
        return cls(*learning_curve(trace), asked, len(trace.test_rounds) > 0)


class Band(NamedTuple):
    """The mean of several runs at some places, and its interval of 95 % over the runs."""

    places: Vector
    mean: Vector
    low: Vector
    high: Vector

    @classmethod
    def of(cls, places: Vector, runs: Sequence[Vector], most: float = np.inf) -> "Band":
        """Take the interval from Student's distribution, within 0 and `most`."""
        from scipy.stats import t  # noqa: PLC0415 - costs half a second

        n, values = len(runs), np.array(runs)
        mean = values.mean(axis=0)
        half = np.zeros(len(places))
        if n > 1:
            half = t.ppf(0.975, n - 1) * values.std(axis=0, ddof=1) / np.sqrt(n)
        return cls(places, mean, np.maximum(mean - half, 0.0), np.minimum(mean + half, most))


def error_band(runs: Sequence[RunCurve]) -> Band:
    """Return the error after so many labels over several runs.

    It begins where every run has an error. A run that asks no more keeps its last error.
    """
    first, last = max(run.labels[0] for run in runs), max(run.labels[-1] for run in runs)
    places = np.unique(np.rint(np.geomspace(first + 1.0, last + 1.0, GRID))) - 1.0
    found = [run.errors[np.searchsorted(run.labels, places, "right") - 1] for run in runs]
    return Band.of(places, found, most=1.0)


def label_band(runs: Sequence[RunCurve]) -> Band:
    """Return the labels asked after so many rounds over several runs of the same length."""
    rounds = np.unique(np.linspace(0, len(runs[0].asked) - 1, GRID).astype(np.int64))
    return Band.of(rounds + 1.0, [run.asked[rounds] for run in runs])


def plot_bands(
    learners: Mapping[str, Sequence[RunCurve]], path: str | Path | None = None, *, title: str = ""
) -> "Figure":
    """Draw mean and 95 % interval over several runs: error against labels, labels against rounds.

    A learner has one colour in both panels. Return the matplotlib figure; with a path, write it
    there too.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra: pip install selectron[plot]

    figure = Figure(figsize=(10, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    tested = any(run.tested for runs in learners.values() for run in runs)
    for k, (name, runs) in enumerate(learners.items()):
        shown = [(right, label_band(runs))]
        if all(run.tested == tested and len(run.labels) for run in runs):
            shown.append((left, error_band(runs)))
        for axes, band in shown:
            axes.plot(band.places, band.mean, color=f"C{k}", label=name)
            axes.fill_between(band.places, band.low, band.high, color=f"C{k}", alpha=0.2, lw=0)
    left.set(xlabel="labels asked", ylabel="test error" if tested else "error of the stream so far")
    left.set_xscale("symlog", linthresh=10)
    right.set(xlabel="rounds", ylabel="labels asked")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.suptitle(title)
    return written(figure, path)


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
    for k, (name, trace) in enumerate(traces.items()):
        right.plot(np.cumsum(trace.asked), color=f"C{k}", label=f"{name}: {trace.n_asked:,}")
        if tested and not len(trace.test_rounds):  # the learner never changed: there is no curve
            continue
        labels, errors = learning_curve(trace)
        floor = 0.5 / len(trace) if tested else 0.0  # a logarithmic axis has no 0
        left.step(labels, np.maximum(errors, floor), where="post", color=f"C{k}", label=name)
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
