"""Figures 4-5 and 4-6 of [Mon06]: labels to each accuracy, and errors after each label."""

from pathlib import Path
from typing import Any

import numpy as np

from selectron.evaluate.plots import write_figure
from selectron.experiments.ocr_learners import DEFAULT
from selectron.experiments.ocr_problems import PROBLEMS
from selectron.experiments.thesis_runs import ACCURACIES, LABELS

EFFICIENCY = ("4v7", "0v1", "USPS 0vAll", "0vAll")
LEARNING = ("0v1", "147vAll", "USPS 0vAll", "0vAll")
ERRORS = {digits.name: digits.error for digits in PROBLEMS}


def plot(result: dict[str, Any], path: Path) -> None:
    """Draw both figures, the panels in the thesis's order; a star is the default learner.

    It is a mean of first passages, so it belongs to Figure 4-5 alone, and where all runs passed.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    figure = Figure(figsize=(16, 8), layout="constrained")
    above, below = figure.subplots(2, 4)
    stars = {c["problem"]: c["mean"] for c in reversed(result["learners"])
             if c["learner"] == DEFAULT and c["reach"] == 1.0}  # fmt: skip
    for axes, problem in zip(above, EFFICIENCY, strict=True):
        for cell in _cells(result, problem):
            labels = [np.nan if mean is None else mean for mean in cell["efficiency"]]
            axes.plot(ACCURACIES, labels, ".-", label=cell["algorithm"])
        if problem in stars:
            place = 1.0 - ERRORS[problem], stars[problem]
            axes.plot(*place, "k*", markersize=12, label="default, nothing tuned")
        axes.axvline(1.0 - ERRORS[problem], color="grey", linewidth=0.7)
        axes.set(title=f"4-5: {problem}", xlabel="test accuracy", yscale="log")
    for axes, problem in zip(below, LEARNING, strict=True):
        for cell in _cells(result, problem):
            axes.plot(LABELS, cell["learning"], label=cell["algorithm"])
        axes.axhline(ERRORS[problem], color="grey", linewidth=0.7)
        axes.set(title=f"4-6: {problem}", xlabel="labels", yscale="log")
    above[0].set_ylabel("labels")
    below[0].set_ylabel("test error")
    for axes in (*above, *below):
        axes.grid(alpha=0.3)
    figure.legend(*above[0].get_legend_handles_labels(), loc="outside lower center", ncols=7)
    write_figure(figure, path)


def _cells(result: dict[str, Any], problem: str) -> list[dict[str, Any]]:
    return [cell for cell in result["cells"] if cell["problem"] == problem]
