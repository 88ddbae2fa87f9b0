"""The development families as a table and as a picture, the prototype's figures beside ours."""

from pathlib import Path
from typing import Any

import numpy as np

from selectron.evaluate.plots import write_figure
from selectron.experiments.default_families_runs import (
    HARD,
    LEARNERS,
    MOST_LABELS,
    NOT_REACHED,
    OLD,
    SHELL,
    TAIL,
)

# Labels of old SO-auto, and of the others over it, of the prototype on sets of its own.
PROTOTYPE: dict[str, dict[str, float]] = {
    "images": {OLD: 24.2, HARD: 0.84, TAIL: 0.88, SHELL: 0.83},
    "tabular": {OLD: 103.0, HARD: 0.16, TAIL: 0.17, SHELL: 0.17},
    "synthetic": {OLD: 257.0, HARD: 0.19, TAIL: 0.21, SHELL: 0.19},
    "noise": {OLD: 105.0, HARD: 0.51, TAIL: 0.55, SHELL: 0.62},
}
OTHERS = (HARD, TAIL, SHELL)


def text(result: dict[str, Any]) -> str:
    """Print the ratios family by family, each problem, and the rare classes to the end."""
    return "\n".join(
        [
            f"Labels to the error, of {OLD}, and of others over it (geometric means over problems "
            "of means",
            f"over {result['shuffles']} shuffles; not reached in {MOST_LABELS} labels counts "
            f"{NOT_REACHED}; (standard error); | prototype)",
            "",
            *_families(result["families"]),
            "",
            f"Each problem: {', '.join(LEARNERS)}",
            *_problems(result["families"]),
            "",
            "Rare classes, whole streams: error at the end over the base rate, and share of labels",
            *_rare(result["rare"]),
        ]
    )


def _families(families: dict[str, Any]) -> list[str]:
    lines = [f"{'':18}{OLD:>16}" + "".join(f"{name:>24}" for name in OTHERS)]
    for family, found in families.items():
        if not found["problems"]:
            continue
        theirs = PROTOTYPE[family]
        cells = [
            f"{found['ratios'][n]:.2f} ({found['deviations'][n]:.2f}) | {theirs[n]:.2f}"
            for n in OTHERS
        ]
        name = f"{family} ({len(found['problems'])})"
        old = f"{found['labels']:.1f} | {theirs[OLD]:.0f}"
        lines.append(f"{name:18}{old:>16}" + "".join(f"{cell:>24}" for cell in cells))
        held = "".join(f"{found['held_ratios'][n]:>24.2f}" for n in OTHERS)
        lines.append(f"{'  held 10 labels':34}" + held)
        missed = [found["not_reached"][n] for n in LEARNERS]
        runs = sum(len(row["labels"][OLD]) for row in found["problems"])
        lines.append(f"{f'  missed, of {runs}':18}{missed[0]:>16}"
                     + "".join(f"{count:>24}" for count in missed[1:]))  # fmt: skip
    return lines


def _problems(families: dict[str, Any]) -> list[str]:
    return [
        f"  {row['name']:28} to {row['error']:.3f}"
        + "".join(f"{np.mean(row['labels'][name]):>9.1f}" for name in LEARNERS)
        for found in families.values()
        for row in found["problems"]
    ]


def _rare(rare: list[dict[str, Any]]) -> list[str]:
    lines = [f"  {'':14}{'base':>8}" + "".join(f"{name:>20}" for name in LEARNERS)]
    for cell in rare:
        shown = [
            f"{found['error'] / cell['base']:.2f} @ {found['share']:.1%}"
            for found in cell["learners"].values()
        ]
        line = f"  {cell['name']:14}{cell['base']:>8.4f}" + "".join(f"{s:>20}" for s in shown)
        lines.append(line)
    return lines


def plot(result: dict[str, Any], path: Path) -> None:
    """Draw each problem's labels over the old learner's."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    rows = [
        (family, row) for family, found in result["families"].items() for row in found["problems"]
    ]
    figure = Figure(figsize=(8, 0.22 * len(rows) + 1.2), layout="constrained")
    axes = figure.subplots()
    colours = {family: f"C{k}" for k, family in enumerate(PROTOTYPE)}
    for name, mark in ((HARD, "o"), (TAIL, "x")):
        for at, (family, row) in enumerate(rows):
            ratio = np.mean(row["labels"][name]) / np.mean(row["labels"][OLD])
            axes.plot(ratio, -at, mark, color=colours[family], label=name if at == 0 else None)
    axes.axvline(1.0, color="k", linewidth=0.7)
    axes.set(xscale="log", xlabel=f"labels over those of {OLD}", yticks=-np.arange(len(rows)),
             yticklabels=[row["name"] for _, row in rows],
             title="Labels of the default learner on the development families")  # fmt: skip
    axes.tick_params(axis="y", labelsize=7)
    axes.grid(alpha=0.3)
    axes.legend()
    write_figure(figure, path)
