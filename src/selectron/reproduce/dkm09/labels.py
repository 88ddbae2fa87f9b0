"""Count labels on the sphere: d log(1/ε) for DKM, a power of 1/ε for the Perceptron ([DKM09])."""

from functools import partial
from math import ceil, inf, log, pi, sin

import numpy as np

from selectron.arrays import Vector
from selectron.queries import Always, Balanced, Halving
from selectron.reproduce.dkm09.sphere import (
    Curve,
    Job,
    draw_curves,
    jobs_of,
    labels_by_streaming,
    labels_inside_the_band,
    report_curves,
)
from selectron.reproduce.harness.experiment import Row
from selectron.reproduce.harness.measure import Labels
from selectron.reproduce.harness.report import Picture
from selectron.reproduce.harness.verdict import verdict
from selectron.spec import QueryRule, UpdateRule
from selectron.updates import Perceptron, Reflection

DIMENSIONS = (10, 50, 100)
TO_A_MILLIONTH = np.logspace(-1, -6, 11)
TO_A_THOUSANDTH = np.logspace(-1, -3, 5)
COARSE = np.array([0.1, 0.05, 0.02, 0.01])
ALIKE = 1.5  # rates of growth within this factor are called the same: the paper omits logarithms


def patience(d: int) -> int:
    """Return R = 3.5 ln d, best on the sphere; below 2 ln d the band closes too soon."""
    return ceil(3.5 * log(d))


def banded(d: int, seed: int) -> Labels:
    """Sample the learner of [DKM09]."""
    halving = Halving(patience(d))
    return labels_inside_the_band(Reflection(), halving, d, TO_A_MILLIONTH, seed, 400 * d)


def streamed(
    update: UpdateRule, query: QueryRule | None, errors: Vector, d: int, seed: int
) -> Labels:
    """Sample a learner row by row; without a query rule it halves its band."""
    return labels_by_streaming(update, query or Halving(patience(d)), d, errors, seed, 20_000 * d)


DKM = Balanced(rho=0.3, step=0.1, leak=1.0, start=1.0)
CURVES = {
    "Reflection + Halving": Curve(TO_A_MILLIONTH, banded, DIMENSIONS, "-"),
    **{
        name: Curve(errors, partial(streamed, update, query, errors), DIMENSIONS, style)
        for name, update, query, errors, style in (
            ("Reflection + Balanced", Reflection(), DKM, TO_A_THOUSANDTH, "--"),
            ("Perceptron + Halving", Perceptron(), None, COARSE, "-."),
            ("Perceptron + Always", Perceptron(), Always(), COARSE, ":"),
        )
    },
}


def jobs(seeds: int) -> list[Job]:
    return jobs_of(CURVES, range(seeds))


def measure(job: Job) -> Labels:
    return CURVES[job.learner].sample(job.d, job.seed)


def report(found: list[tuple[Job, Labels]], seeds: int) -> Row:
    """Return labels to each error, and how they grow."""
    return report_curves(found, seeds, summary, CURVES)


def summary(errors: Vector, runs: list[Labels], d: int) -> Row:
    """Average the runs, and fit a line and a power to the errors that all of them reached."""
    table = np.array([[np.nan if v is None else v for v in labels] for labels in runs], float)
    reached = np.isfinite(table).mean(axis=0)
    whole = reached == 1.0
    means = np.array([table[:, k].mean() if whole[k] else np.nan for k in range(len(errors))])
    slopes = [0.0, 0.0]
    if whole.sum() > 1:
        efolds = np.log(1.0 / errors[whole])
        slopes = [np.polyfit(efolds, y, 1)[0] for y in (means[whole] / d, np.log(means[whole]))]
    return {
        "errors": errors.tolist(),
        "labels": [None if np.isnan(m) else float(m) for m in means],
        "reached": reached.tolist(),
        "labels_per_d_and_efold": float(slopes[0]),
        "power_of_one_over_error": float(slopes[1]),
    }


def verdicts(result: Row) -> list[Row]:
    """Judge what Theorems 1 and 3 say of the labels."""
    paper = [c for c in result["curves"] if c["learner"] == "Reflection + Halving"]
    bends = [bend(curve) for curve in paper]
    rates = [curve["labels_per_d_and_efold"] for curve in paper]
    additive = [c for c in result["curves"] if c["learner"].startswith("Perceptron")]
    powers = {
        f"{c['learner']} d = {c['d']}": c["power_of_one_over_error"]
        for c in additive
        if sum(labels is not None for labels in c["labels"]) > 1
    }
    floors = [
        labels * (5.0 * sin(pi * error)) ** 2
        for c in additive
        for error, labels in zip(c["errors"], c["labels"][1:], strict=False)
        if labels is not None
    ]
    return [
        verdict(
            "labels of the active learner grow like log(1/eps), up to log factors (Theorem 3)",
            f"growth in the lower half of the errors over that in the upper half, at most {ALIKE}: "
            + ", ".join(f"{b:.2f} at d = {c['d']}" for b, c in zip(bends, paper, strict=True)),
            [b <= ALIKE for b in bends],
        ),
        verdict(
            "they grow like d, up to log factors (Theorem 3)",
            f"labels over d for each factor e of the error, at most {ALIKE} times the least: "
            + ", ".join(f"{r:.2f} at d = {c['d']}" for r, c in zip(rates, paper, strict=True)),
            [r <= ALIKE * min(rates) for r in rates],
        ),
        verdict(
            "no filter lets the Perceptron improve on an error eps before 1/(5 sin(pi eps))^2 "
            "labels (Theorem 1)",
            f"labels at the next error over that floor: {min(floors, default=inf):.0f} at least",
            [times >= 1.0 for times in floors],
        ),
        verdict(
            "so the Perceptron needs at least the order of (1/eps)^2 labels",
            "fitted powers of 1/eps: " + ", ".join(f"{k} {v:.2f}" for k, v in powers.items()),
            [power >= 2.0 for power in powers.values()],
        ),
    ]


def bend(curve: Row) -> float:
    """Return how fast labels grow in ln(1/error) below the middle error, over how fast above."""
    labels, middle = curve["labels"], len(curve["labels"]) // 2
    if None in labels or middle == 0:
        return inf
    efolds = np.log(1.0 / np.array(curve["errors"]))
    above = (labels[middle] - labels[0]) / (efolds[middle] - efolds[0])
    below = (labels[-1] - labels[middle]) / (efolds[-1] - efolds[middle])
    return float(below / above) if above > 0.0 else inf


def text(result: Row) -> str:
    """Write labels/d at each error, and the growth beside the paper's."""
    lines = []
    for curve in result["curves"]:
        cells = [
            f"{e:.2g}: {v / curve['d']:.1f}" if v is not None else f"{e:.2g}: - ({r:.2f})"
            for e, v, r in zip(curve["errors"], curve["labels"], curve["reached"], strict=True)
        ]
        lines += [f"{curve['learner']}, d = {curve['d']}", "  " + "  ".join(cells), growth(curve)]
    return "\n".join(lines)


def growth(curve: Row) -> str:
    if curve["learner"].startswith("Reflection"):
        return f"  growth: {curve['labels_per_d_and_efold']:.2f} d ln(1/eps)"
    return f"  growth: (1/eps)^{curve['power_of_one_over_error']:.2f}"


def draw(result: Row) -> Picture:
    """Draw labels/d against the error: straight lines for DKM, curves for the Perceptron."""
    rows = [(c, [v and v / c["d"] for v in c["labels"]]) for c in result["curves"]]
    colours = {d: f"C{k}" for k, d in enumerate(DIMENSIONS)}
    title = "Labels on the sphere: d log(1/ε) against a power of 1/ε"
    return draw_curves(rows, CURVES, colours, title, 150, columns=2)
