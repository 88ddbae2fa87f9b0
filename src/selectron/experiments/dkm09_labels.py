"""Labels on the sphere: d log(1/ε) for DKM, a power of 1/ε for the Perceptron ([DKM09])."""

from collections.abc import Callable
from math import ceil, log
from pathlib import Path
from typing import Any

import numpy as np

from selectron.arrays import Vector
from selectron.evaluate.plots import write_figure
from selectron.experiments.registry import Experiment
from selectron.experiments.sphere import labels_by_streaming, labels_inside_the_band
from selectron.queries import Always, Balanced, Halving
from selectron.updates import Perceptron, Reflection

DIMENSIONS = (10, 50, 100)
SEEDS = 8
TO_A_MILLIONTH = np.logspace(-1, -6, 11)
TO_A_THOUSANDTH = np.logspace(-1, -3, 5)
COARSE = np.array([0.1, 0.05, 0.02, 0.01])


def patience(d: int) -> int:
    """Return R = 3.5 ln d, best on the sphere; below 2 ln d the band closes too soon."""
    return ceil(3.5 * log(d))


Sample = Callable[[int, int], list[int | None]]
CURVES: dict[str, tuple[Vector, Sample]] = {
    "Reflection + Halving": (
        TO_A_MILLIONTH,
        lambda d, seed: labels_inside_the_band(
            Reflection(), Halving(patience(d)), d, TO_A_MILLIONTH, seed, 400 * d
        ),
    ),
    "Reflection + Balanced": (
        TO_A_THOUSANDTH,
        lambda d, seed: labels_by_streaming(
            Reflection(),
            Balanced(rho=0.3, step=0.1, leak=1.0, start=1.0),
            d,
            TO_A_THOUSANDTH,
            seed,
            20_000 * d,
        ),
    ),
    "Perceptron + Halving": (
        COARSE,
        lambda d, seed: labels_by_streaming(
            Perceptron(), Halving(patience(d)), d, COARSE, seed, 20_000 * d
        ),
    ),
    "Perceptron + Always": (
        COARSE,
        lambda d, seed: labels_by_streaming(Perceptron(), Always(), d, COARSE, seed, 20_000 * d),
    ),
}


def steps(seeds: int | None) -> int:
    return len(DIMENSIONS) * len(CURVES) * (seeds or SEEDS)


def run(seeds: int | None, tick: Callable[[], Any]) -> dict[str, Any]:
    """Measure labels to each error, and how they grow."""
    curves = []
    for name, (errors, sample) in CURVES.items():
        for d in DIMENSIONS:
            runs = []
            for seed in range(seeds or SEEDS):
                runs.append(sample(d, seed))
                tick()
            curves.append({"learner": name, "d": d, **_summary(errors, runs, d)})
    return {"experiment": "dkm09-labels", "seeds": seeds or SEEDS, "curves": curves}


def _summary(errors: Vector, runs: list[list[int | None]], d: int) -> dict[str, Any]:
    table = np.array([[np.nan if v is None else v for v in labels] for labels in runs], float)
    reached = np.isfinite(table).mean(axis=0)
    whole = reached == 1.0
    means = np.array([table[:, k].mean() if whole[k] else np.nan for k in range(len(errors))])
    usable = errors[whole], means[whole]
    linear = np.polyfit(np.log(1.0 / usable[0]), usable[1] / d, 1) if whole.sum() > 1 else (0, 0)
    power = np.polyfit(np.log(1.0 / usable[0]), np.log(usable[1]), 1) if whole.sum() > 1 else (0, 0)
    return {
        "errors": errors.tolist(),
        "labels": [None if np.isnan(m) else float(m) for m in means],
        "reached": reached.tolist(),
        "labels_per_d_and_efold": float(linear[0]),
        "power_of_one_over_error": float(power[0]),
    }


def text(result: dict[str, Any]) -> str:
    """Print labels/d at each error, and the growth beside the paper's."""
    lines = [
        f"Labels to reach an error on the unit sphere, over d (mean of {result['seeds']} seeds; "
        "(share that reached))",
        "",
    ]
    for curve in result["curves"]:
        cells = [
            f"{e:.2g}: {v / curve['d']:.1f}" if v is not None else f"{e:.2g}: - ({r:.2f})"
            for e, v, r in zip(curve["errors"], curve["labels"], curve["reached"], strict=True)
        ]
        lines.append(f"{curve['learner']}, d = {curve['d']}")
        lines.append("  " + "  ".join(cells))
        lines.append("  growth: " + _growth(curve))
    lines += [
        "",
        "[DKM09]: labels of the modified Perceptron with its filter grow like d log(1/eps), up to "
        "log factors (Theorem 3);",
        "the Perceptron needs at least the order of (1/eps)^2 under any filter (Theorem 1).",
    ]
    return "\n".join(lines)


def _growth(curve: dict[str, Any]) -> str:
    if curve["learner"].startswith("Reflection"):
        return f"{curve['labels_per_d_and_efold']:.2f} d ln(1/eps)"
    return f"(1/eps)^{curve['power_of_one_over_error']:.2f}"


def plot(result: dict[str, Any], path: Path) -> None:
    """Draw labels/d against the error: straight lines for DKM, curves for the Perceptron."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    styles = {"Reflection + Halving": "-", "Reflection + Balanced": "--",
              "Perceptron + Halving": "-.", "Perceptron + Always": ":"}  # fmt: skip
    colours = {d: f"C{k}" for k, d in enumerate(DIMENSIONS)}
    for curve in result["curves"]:
        shown = [
            (e, v / curve["d"]) for e, v in zip(curve["errors"], curve["labels"], strict=True) if v
        ]
        if shown:
            axes.plot(*zip(*shown, strict=True), styles[curve["learner"]], marker=".",
                      color=colours[curve["d"]],
                      label=f"{curve['learner']}, d = {curve['d']}")  # fmt: skip
    axes.set(xscale="log", xlabel="error", ylabel="labels / d", ylim=(0, 150),
             title="Labels on the sphere: d log(1/ε) against a power of 1/ε")  # fmt: skip
    axes.invert_xaxis()
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7, ncols=2)
    write_figure(figure, path)


DKM09_LABELS = Experiment(
    "labels on the sphere, [DKM09] Theorems 1 and 3: d log(1/eps) against a power of 1/eps",
    steps,
    run,
    text,
    plot,
)
