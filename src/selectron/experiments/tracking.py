"""Following the best learner through drift: the table, Reuters by date, and the weights."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from selectron.evaluate.plots import write_figure
from selectron.experiments import drift_table, reuters_by_date
from selectron.experiments.drift_table import ASKING, MISTAKES, measure_drifts
from selectron.experiments.registry import Experiment
from selectron.experiments.reuters_by_date import SWITCHING, TOPICS, data_file, measure_reuters
from selectron.queries import Always
from selectron.streams import drifting
from selectron.streams.drifting import KINDS
from selectron.tracking import TrackingClassifier, follow

SEEDS = 8
SHOWN = ("flips", "half rotating")


def steps(seeds: int | None) -> int:
    reuters = 0 if data_file() is None else len(TOPICS) + 1
    return len(KINDS) * (seeds or SEEDS) + reuters


def run(seeds: int | None, tick: Callable[[], Any]) -> dict[str, Any]:
    """Measure mistakes on drifting streams, and on Reuters where the collection is at hand."""
    path = data_file()
    return {
        "experiment": "tracking",
        "seeds": [drift_table.FIRST_SEED + k for k in range(seeds or SEEDS)],
        "cells": measure_drifts(seeds or SEEDS, tick),
        "reuters": None if path is None else measure_reuters(path, tick),
    }


def text(result: dict[str, Any]) -> str:
    """Print the table, who is beaten, and Reuters."""
    seeds = result["seeds"]
    several = len(seeds) > 1
    of = f"seeds {seeds[0]} to {seeds[-1]}, +- 95 % of the mean" if several else f"seed {seeds[0]}"
    lines = [
        f"Mistakes in %, d = 20, 20,000 rounds, 5 % of the labels wrong ({of};",
        "in brackets the best single learner in hindsight, on the same labels; after | the "
        "prototype's)",
        "",
    ]
    for kind in KINDS:
        lines.append(kind)
        for cell in result["cells"]:
            if cell["stream"] == kind:
                lines.append("  " + _line(cell))
    unit = "points, 95 % interval" if several else "points, one seed: no interval"
    lines += ["", f"All labels, tracker minus each learner ({unit}):"]
    for cell in result["cells"]:
        if cell["asking"] == ASKING[0]:
            leads = cell["minus_each_learner"]
            closest = max(leads, key=lambda lead: lead["difference"])
            beaten = sum(lead["difference"] + (lead["interval"] or 0) < 0 for lead in leads)
            lines.append(
                f"  {cell['stream']:<14} below {beaten} of {len(leads)}; closest "
                f"{closest['learner']}: {closest['difference']:+.2f}{_between(**closest)}"
            )
    return "\n".join(lines + _reuters_lines(result["reuters"]))


def _between(difference: float, interval: float | None, **_: Any) -> str:
    if interval is None:
        return ""
    return f" [{difference - interval:+.2f}, {difference + interval:+.2f}]"


def _line(cell: dict[str, Any]) -> str:
    theirs = drift_table.PROTOTYPE[cell["stream"]][cell["asking"]]
    labels = f" @ {cell['labels']:.0f} % labels" if cell["asking"] == MISTAKES else ""
    their_labels = f" @ {theirs[2]:.0f} %" if len(theirs) > 2 else ""
    their_best = f" ({theirs[1]:.1f})" if len(theirs) == 2 else ""
    within = "" if cell["interval"] is None else f" +- {cell['interval']:.2f}"
    return (
        f"{cell['asking']:<16} {cell['error']:5.2f}{within} "
        f"({cell['best_learner_error']:.2f} {cell['best_learner']}){labels} | "
        f"{theirs[0]:.1f}{their_best}{their_labels}"
    )


def _reuters_lines(cells: list[dict[str, Any]] | None) -> list[str]:
    if cells is None:
        return ["", "Reuters by date: not run, SELECTRON_DATA has no " + reuters_by_date.FILE]
    lines = ["", "Reuters by date, 11,367 documents, mistakes (best learner; ridge that forgets "
             "nothing) | the prototype's, on other rows:"]  # fmt: skip
    for cell in cells:
        theirs = reuters_by_date.PROTOTYPE[cell["asking"]][cell["task"]]
        best = f" ({theirs[1]})" if len(theirs) > 1 else ""
        lines.append(
            f"  {cell['task']:<10} {cell['asking']:<12} @ {cell['labels']:3.0f} %: "
            f"{cell['mistakes']:5d} ({cell['best_learner_mistakes']}; {cell['ridge_mistakes']}) | "
            f"{theirs[0]}{best}"
        )
    lines.append(f"  {SWITCHING}: the topic asked for changes every 1,000 to 3,000 documents")
    return lines


def plot(result: dict[str, Any], path: Path) -> None:
    """Draw the weights of the learners over two streams: whom the tracker follows, and when."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    figure = Figure(figsize=(10, 6), layout="constrained")
    for axes, kind in zip(figure.subplots(len(SHOWN), 1, sharex=True), SHOWN, strict=True):
        stream = drifting(kind, result["seeds"][0])
        seen = follow(TrackingClassifier(query=Always()), stream.X, stream.y)
        smooth = np.ones(100) / 100.0
        weights = [np.convolve(column, smooth, "same") for column in seen.weights.T]
        axes.stackplot(np.arange(len(seen)), weights, labels=seen.names, alpha=0.8)
        error = np.convolve(seen.mistakes, smooth, "same")
        axes.plot(error, "k", linewidth=0.7, label="error of the vote, over 100 rounds")
        axes.set(ylabel="weight", ylim=(0, 1), xlim=(0, len(seen)), title=f"{kind}, all labels")
    axes.set(xlabel="rounds")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2,
                  fontsize=7)  # fmt: skip
    write_figure(figure, path)


TRACKING = Experiment(
    "learners as experts under drift: mistakes with all labels and with few, Reuters by date",
    steps,
    run,
    text,
    plot,
    reads_data=True,
)
