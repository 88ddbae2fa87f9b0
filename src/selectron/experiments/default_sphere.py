"""The default learner on the sphere: fewer than half of DKM's labels, down to one in a million."""

from collections.abc import Callable
from math import log
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from selectron.arrays import Vector
from selectron.evaluate.plots import write_figure
from selectron.experiments.registry import Experiment
from selectron.experiments.sphere import labels_by_streaming
from selectron.experiments.sphere_events import labels_by_events
from selectron.queries import Auto, Balanced
from selectron.spec import Spec
from selectron.updates import Probit, Reflection

SEEDS = 8
FIRST_SEED = 100  # those below have seen constants being chosen
DECADES = np.array([1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6])
MOST_LABELS, MOST_ROWS = 150, 50_000  # per dimension
DKM = Balanced(rho=0.3, step=0.3, leak=1.0, start=1.0)


class Curve(NamedTuple):
    """A learner, how far it is followed, and how: each row drawn, or only those near the band."""

    learner: str
    update: Spec
    query: Spec
    errors: Vector
    each_row: bool
    dimensions: tuple[int, ...]
    goal: float  # labels over d ln(1/ε) at the last error
    prototype: dict[int, tuple[float, ...]]  # labels over d

    def sample(self, d: int, seed: int) -> list[int | None]:
        rules = self.update, self.query, d, self.errors, seed
        if self.each_row:
            return labels_by_streaming(*rules, MOST_ROWS * d)
        return labels_by_events(*rules, MOST_LABELS * d)


CURVES = (
    Curve(
        "default, hard threshold", Probit(), Auto(hard=True), DECADES, False, (20, 50, 100), 3.3,
        {
            20: (3.0, 9.8, 17.2, 23.8, 30.7, 38.1),
            50: (3.1, 9.6, 16.6, 24.2, 31.4, 38.8),
            100: (3.0, 9.5, 16.7, 24.2, 31.8, 39.2),
        },
    ),
    Curve(
        "Reflection + Balanced", Reflection(), DKM, DECADES, False, (10, 20, 50, 100), 7.0,
        {
            20: (8.1, 22.4, 37.9, 52.1, 68.4, 82.4),
            50: (7.7, 22.4, 37.8, 52.5, 67.8, 83.2),
            100: (8.4, 23.5, 39.2, 54.3, 69.7, 84.8),
        },
    ),
    Curve(
        "default, hard, every row drawn", Probit(), Auto(hard=True), DECADES[:3], True, (20, 50),
        3.3, {20: (17.7,), 50: (16.8,)},
    ),
    Curve(
        "default, tail and floor, every row drawn", Probit(), Auto(), DECADES[:3], True, (20, 50),
        19.5 / log(1e3), {50: (18.5,)},
    ),
)  # fmt: skip


def steps(seeds: int | None) -> int:
    return sum(len(curve.dimensions) for curve in CURVES) * (seeds or SEEDS)


def run(seeds: int | None, tick: Callable[[], Any]) -> dict[str, Any]:
    """Measure labels over d at each error."""
    found = []
    for curve in CURVES:
        for d in curve.dimensions:
            runs = []
            for seed in range(FIRST_SEED, FIRST_SEED + (seeds or SEEDS)):
                runs.append(curve.sample(d, seed))
                tick()
            found.append({"learner": curve.learner, "d": d, **summary(curve.errors, runs, d)})
    return {"experiment": "sphere", "seeds": seeds or SEEDS, "curves": found}


def summary(errors: Vector, runs: list[list[int | None]], d: int) -> dict[str, Any]:
    """Return the mean labels over d where all runs arrived, and the most they cost a factor e."""
    table = np.array([[np.nan if v is None else v for v in labels] for labels in runs], float) / d
    means = [float(m) if np.isfinite(m) else None for m in table.mean(axis=0)]
    costs = [m / log(1.0 / e) for m, e in zip(means, errors.tolist(), strict=True) if m is not None]
    return {
        "errors": errors.tolist(),
        "labels_per_d": means,
        "deviation": [float(v) for v in table.std(axis=0) / np.sqrt(len(runs))]
        if None not in means
        else None,
        "reached": np.isfinite(table).mean(axis=0).tolist(),
        "most_per_efold": max(costs) if None not in means else None,
    }


def text(result: dict[str, Any]) -> str:
    """Print labels/d at each error, the prototype's beside them, and what a factor e costs."""
    lines = [f"Labels over d to reach an error on the unit sphere (mean of {result['seeds']} seeds "
             "| prototype)"]  # fmt: skip
    curves = {curve.learner: curve for curve in CURVES}
    last = None
    for found in result["curves"]:
        curve, d = curves[found["learner"]], found["d"]
        if curve.learner != last:
            lines += ["", curve.learner]
            lines.append(" " * 8 + "".join(f"{e:>14.0e}" for e in found["errors"]))
        last = curve.learner
        lines.append(f"  d {d:>3} " + "".join(_cells(found, curve.prototype.get(d, ()))))
        cost = found["most_per_efold"]
        shown = "not reached" if cost is None else f"{cost:.2f} d ln(1/eps)"
        lines.append(f"  {'':6}at most {shown}; goal {curve.goal:.2f}")
    return "\n".join(lines)


def _cells(found: dict[str, Any], theirs: tuple[float, ...]) -> list[str]:
    blank = len(found["errors"]) - len(theirs)  # theirs are the last errors
    beside = [""] * blank + [f" | {v:.1f}" for v in theirs]
    ours = ["-" if v is None else f"{v:.1f}" for v in found["labels_per_d"]]
    return [f"{a + b:>14}" for a, b in zip(ours, beside, strict=True)]


def plot(result: dict[str, Any], path: Path) -> None:
    """Draw labels/d against the error: two bundles of straight lines."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    styles = {curve.learner: style for curve, style in zip(CURVES, ("-", "--", ":", "-."),
                                                           strict=True)}  # fmt: skip
    colours = {10: "C3", 20: "C0", 50: "C1", 100: "C2"}
    for found in result["curves"]:
        shown = [(e, v) for e, v in zip(found["errors"], found["labels_per_d"], strict=True) if v]
        label = f"{found['learner']}, d = {found['d']}"
        axes.plot(*zip(*shown, strict=True), styles[found["learner"]], marker=".",
                  color=colours[found["d"]], label=label)  # fmt: skip
    axes.set(xscale="log", xlabel="error", ylabel="labels / d", ylim=(0, 100),
             title="Labels on the sphere: the default learner and DKM")  # fmt: skip
    axes.invert_xaxis()
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7)
    write_figure(figure, path)


SPHERE = Experiment(
    "labels on the sphere of the default learner, beside DKM's: both d log(1/eps), less than half",
    steps,
    run,
    text,
    plot,
)
