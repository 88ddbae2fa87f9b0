"""Count labels on the sphere: d log(1/ε) for DKM, a power of 1/ε for the Perceptron ([DKM09]).

Of DKM's learner the rows and the mistakes on all of them are counted too, beside Theorem 3.
"""

from functools import partial
from math import ceil, inf, log, pi, sin

import numpy as np

from selectron.arrays import Vector
from selectron.bounds import dkm09
from selectron.queries import Always, Balanced, Halving
from selectron.reproduce.dkm09 import (
    Curve,
    Job,
    Tallies,
    Tally,
    World,
    draw_curves,
    jobs_of,
    report_curves,
    tallies_inside_the_band,
    tightness,
)
from selectron.reproduce.harness import first_passages
from selectron.reproduce.harness.experiment import Row, verdict
from selectron.reproduce.harness.report import Picture
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


def banded(d: int, seed: int) -> Tallies:
    """Sample the learner of [DKM09]."""
    halving = Halving(patience(d))
    return tallies_inside_the_band(Reflection(), halving, d, TO_A_MILLIONTH, seed, 400 * d)


def streamed(
    update: UpdateRule, query: QueryRule | None, errors: Vector, d: int, seed: int
) -> Tallies:
    """Sample a learner row by row; without a query rule it halves its band."""
    world = World(update, query or Halving(patience(d)), d, seed)
    return first_passages(world.by_rows(20_000 * d), errors.tolist())


ACTIVE = "Reflection + Halving"
DELTA = 0.05  # the chance to fail, in the bounds of Theorem 3
BOUNDS = {
    "rows": dkm09.active_rows,
    "mistakes": dkm09.active_errors,
    "labels": dkm09.active_labels,
}
DKM = Balanced(rho=0.3, step=0.1, leak=1.0, start=1.0)
CURVES = {
    ACTIVE: Curve(TO_A_MILLIONTH, banded, DIMENSIONS, "-"),
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


def measure(job: Job) -> Tallies:
    return CURVES[job.learner].sample(job.d, job.seed)


def report(found: list[tuple[Job, Tallies]], seeds: int) -> Row:
    """Return labels to each error, and how they grow."""
    return report_curves(found, seeds, summary, CURVES)


def summary(errors: Vector, runs: list[Tallies], d: int) -> Row:
    """Average the runs, and fit a line and a power to the errors that all of them reached."""
    reached = np.array([sum(t is not None for t in some) for some in zip(*runs, strict=True)])
    reached = reached / len(runs)
    whole = reached == 1.0
    tallies = {
        name: [
            None if None in some else float(np.mean([getattr(t, name) for t in some]))
            for some in zip(*runs, strict=True)
        ]
        for name in Tally._fields
    }
    means = np.array([np.nan if n is None else n for n in tallies["labels"]])
    slopes = [0.0, 0.0]
    if whole.sum() > 1:
        efolds = np.log(1.0 / errors[whole])
        slopes = [np.polyfit(efolds, y, 1)[0] for y in (means[whole] / d, np.log(means[whole]))]
    return {
        "errors": errors.tolist(),
        **tallies,
        "reached": reached.tolist(),
        "labels_per_d_and_efold": float(slopes[0]),
        "power_of_one_over_error": float(slopes[1]),
    }


def verdicts(result: Row) -> list[Row]:
    """Judge what Theorems 1 and 3 say of the labels."""
    paper = [c for c in result["curves"] if c["learner"] == ACTIVE]
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
            f"a factor of {ALIKE:g}",
        ),
        verdict(
            "they grow like d, up to log factors (Theorem 3)",
            f"labels over d for each factor e of the error, at most {ALIKE} times the least: "
            + ", ".join(f"{r:.2f} at d = {c['d']}" for r, c in zip(rates, paper, strict=True)),
            [r <= ALIKE * min(rates) for r in rates],
            f"a factor of {ALIKE:g}",
        ),
        judge_theorem_3(result),
        verdict(
            "no filter lets the Perceptron improve on an error eps before 1/(5 sin(pi eps))^2 "
            "labels (Theorem 1)",
            "labels at the next error over that floor, at least: "
            + (tightness(min(floors)) if floors else "none"),
            [times >= 1.0 for times in floors],
        ),
        verdict(
            "so the Perceptron needs at least the order of (1/eps)^2 labels",
            "fitted powers of 1/eps: " + ", ".join(f"{k} {v:.2f}" for k, v in powers.items()),
            [power >= 2.0 for power in powers.values()],
        ),
    ]


def judge_theorem_3(result: Row) -> Row:
    """Hold the tallies of the active learner against the bounds with a proven constant."""
    times = {
        quantity: [
            bound(d=curve["d"], error=eps, delta=DELTA) / n
            for curve in result["curves"]
            if curve["learner"] == ACTIVE
            for eps, n in zip(curve["errors"], curve[quantity], strict=True)
            if n is not None
        ]
        for quantity, bound in BOUNDS.items()
    }
    return verdict(
        "with a proven constant the active learner keeps to the bounds on its rows, mistakes and "
        "labels (Theorem 3)",
        "bound over measured, at least: "
        + "; ".join(
            f"{quantity} {tightness(min(some)) if some else 'none'}"
            for quantity, some in times.items()
        ),
        [ratio >= 1.0 for some in times.values() for ratio in some],
    )


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
        if curve["learner"] == ACTIVE:
            lines += [theorem_3(curve, quantity) for quantity in BOUNDS]
    return "\n".join(lines)


def theorem_3(curve: Row, quantity: str) -> str:
    """Write a count at each error, and the bound on it."""
    cells = [
        f"{e:.2g}: {'-' if n is None else f'{n:.3g}'}"
        f" of {BOUNDS[quantity](d=curve['d'], error=e, delta=DELTA):.0e}"
        for e, n in zip(curve["errors"], curve[quantity], strict=True)
    ]
    return f"  {quantity}, of at most: " + "  ".join(cells)


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
