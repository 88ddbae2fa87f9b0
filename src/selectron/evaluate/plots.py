"""Pictures of runs: when labels were asked for, and which error they led to."""

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from selectron.arrays import Vector
from selectron.evaluate.ranks import Ranks
from selectron.evaluate.trace import Trace
from selectron.extras import extra
from selectron.files import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GRID = 200  # points of a band
ACROSS = 3  # panels beside each other
DASHES = "-", "--", ":", "-."  # when the colours are used up, they come again in other dashes


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
    with extra("plot"):
        from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(10, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_errors(left, learners)
    for k, (name, runs) in enumerate(learners.items()):
        _draw_band(right, label_band(runs), k, name)
    right.set(xlabel="rounds", ylabel="labels asked")
    right.grid(alpha=0.3)
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.suptitle(title)
    return written(figure, path)


def plot_data_sets(
    data_sets: Mapping[str, Mapping[str, Sequence[RunCurve]]], path: str | Path | None = None
) -> "Figure":
    """Draw error against labels, a panel a data set: mean and 95 % interval over several runs.

    Every data set has the same learners, and a learner has one colour in all panels. Return the
    matplotlib figure; with a path, write it there too.
    """
    with extra("plot"):
        from matplotlib.figure import Figure  # noqa: PLC0415
        from matplotlib.lines import Line2D  # noqa: PLC0415

    across = min(ACROSS, len(data_sets))
    down = -(-len(data_sets) // across)
    figure = Figure(figsize=(4 * across, 3.2 * down + 1), layout="constrained")
    panels = figure.subplots(down, across, squeeze=False).flat
    for name, learners in data_sets.items():
        axes = next(panels)
        _draw_errors(axes, learners)
        axes.set_title(name)
    for unused in panels:
        unused.remove()
    names = dict.fromkeys(name for learners in data_sets.values() for name in learners)
    lines = [Line2D([], [], **line_of(k), label=name) for k, name in enumerate(names)]
    figure.legend(handles=lines, loc="outside lower center", ncols=2)
    return written(figure, path)


def _draw_errors(axes: "Axes", learners: Mapping[str, Sequence[RunCurve]]) -> None:
    """Draw the error of each learner against its labels; one that never changed has no curve."""
    tested = any(run.tested for runs in learners.values() for run in runs)
    for k, (name, runs) in enumerate(learners.items()):
        if all(run.tested == tested and len(run.labels) for run in runs):
            _draw_band(axes, error_band(runs), k, name)
    axes.set(xlabel="labels asked", ylabel="test error" if tested else "error of the stream so far")
    axes.set_xscale("symlog", linthresh=10)
    axes.grid(alpha=0.3)


def line_of(k: int) -> dict[str, Any]:
    """Return colour and dashes of the k-th curve: ten strong colours, then ten pale ones."""
    from matplotlib import colormaps  # noqa: PLC0415 - matplotlib is optional

    pairs = colormaps["tab20"].colors  # type: ignore[attr-defined]  # a strong one, its pale one
    palette = [*pairs[::2], *pairs[1::2]]
    again, which = divmod(k, len(palette))
    return {"color": palette[which], "linestyle": DASHES[again % len(DASHES)]}


def _draw_band(axes: "Axes", band: Band, k: int, name: str) -> None:
    point = "o" if len(band.places) == 1 else None  # no line is drawn of one place
    line = line_of(k)
    axes.plot(band.places, band.mean, **line, label=name, marker=point)
    axes.fill_between(band.places, band.low, band.high, color=line["color"], alpha=0.2, lw=0)


def plot_ranks(ranks: Mapping[str, Ranks], path: str | Path | None = None) -> "Figure":
    """Draw average ranks on a line for each number, best left, with their critical difference.

    A bar joins learners that do not surely differ. Return the matplotlib figure; with a path,
    write it there too.
    """
    with extra("plot"):
        from matplotlib.figure import Figure  # noqa: PLC0415

    most = max(len(each.names) for each in ranks.values())
    height = 1.4 + 0.3 * most
    figure = Figure(figsize=(9, height * len(ranks)), layout="constrained")
    for axes, (number, each) in zip(
        figure.subplots(len(ranks), 1, squeeze=False).flat, ranks.items(), strict=True
    ):
        _draw_ranks(axes, each)
        axes.set_title(
            f"{number}: average rank over {each.data_sets} data sets; Friedman p = {each.p:.2g}",
            fontsize=10,
        )
    return written(figure, path)


def _draw_ranks(axes: "Axes", ranks: Ranks) -> None:
    """Draw the line of ranks; names stand below it, the better half left, the others right."""
    n, groups = len(ranks.names), ranks.groups()
    below = 1.0 + 0.5 * len(groups)  # where the names begin: under the bars
    left, right = 1.0 - 0.05 * n, n + 0.05 * n
    axes.hlines(0.0, 1.0, n, color="black")
    for tick in range(1, n + 1):
        axes.vlines(tick, -0.15, 0.0, color="black")
        axes.text(tick, -0.25, str(tick), ha="center", va="bottom", fontsize=9)
    axes.hlines(-1.5, 1.0, 1.0 + ranks.critical, color="black", lw=2)
    axes.text(1.0, -1.6, f"critical difference {ranks.critical:.2f}", va="bottom", fontsize=9)
    for bar, group in enumerate(groups):
        ends = [ranks.average[ranks.names.index(name)] for name in (group[0], group[-1])]
        axes.hlines(0.5 + 0.5 * bar, ends[0] - 0.03, ends[1] + 0.03, color="black", lw=4)
    better = (n + 1) // 2
    for k, (name, rank) in enumerate(zip(ranks.names, ranks.average, strict=True)):
        first = k < better
        depth = below + (k if first else n - 1 - k)
        edge = left if first else right
        axes.plot([rank, rank, edge], [0.0, depth, depth], color="0.5", lw=0.8)
        words = f"{name} ({rank:.2f})" if first else f"({rank:.2f}) {name}"
        axes.text(edge, depth, words, ha="right" if first else "left", va="center", fontsize=9)
    axes.set(xlim=(left, max(right, 1.0 + ranks.critical)), ylim=(below + better, -2.4))
    axes.axis("off")


def plot_curves(
    traces: Mapping[str, Trace], path: str | Path | None = None, *, title: str = ""
) -> "Figure":
    """Draw error against labels (test error if there is one), and labels against rounds.

    Return the matplotlib figure; with a path, write it there too.
    """
    with extra("plot"):
        from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(10, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    tested = any(len(trace.test_rounds) for trace in traces.values())
    for k, (name, trace) in enumerate(traces.items()):
        right.plot(np.cumsum(trace.asked), **line_of(k), label=f"{name}: {trace.n_asked:,}")
        if tested and not len(trace.test_rounds):  # the learner never changed: there is no curve
            continue
        labels, errors = learning_curve(trace)
        floor = 0.5 / len(trace) if tested else 0.0  # a logarithmic axis has no 0
        left.step(labels, np.maximum(errors, floor), where="post", **line_of(k), label=name)
    left.set(xlabel="labels asked", ylabel="test error" if tested else "error of the stream so far")
    left.set_xscale("symlog", linthresh=10)
    left.set_yscale("log" if tested else "linear")
    right.set(xlabel="rounds", ylabel="labels asked")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=2)
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
    with extra("plot"):
        from matplotlib.figure import Figure  # noqa: PLC0415

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
