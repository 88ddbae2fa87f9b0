"""Draw the four plots of [SS05]: Ballseptron's mistakes against r, and its bounds against noise."""

from functools import cache
from math import fsum, sqrt
from time import process_time, time
from typing import NamedTuple

import numpy as np

from selectron import SelectiveClassifier
from selectron.arrays import Matrix, Vector
from selectron.bounds.ss05 import d1_mistakes, d2_mistakes
from selectron.classifier.labels import Labels
from selectron.classifier.run import Run
from selectron.evaluate import progressive
from selectron.kernels import KernelChoice
from selectron.kernels.machine import KernelMachine
from selectron.numeric.rows import Dense
from selectron.queries import Always
from selectron.reproduce.harness import grouped
from selectron.reproduce.harness.experiment import Row, verdict
from selectron.reproduce.harness.problems import Classes, data_file
from selectron.reproduce.harness.report import Picture, finish, new_figure, table
from selectron.scalings import Raw
from selectron.spec import Rules
from selectron.updates import Ballseptron, Perceptron

FILES = {"MNIST": "mnist.npz", "USPS": "usps.npz"}
N_CLASSES = 10
RADII = (0.0, 0.02, 0.05, 0.08, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5)
SIGNIFICANT, MANY = 0.9, 3  # a tenth fewer mistakes than with r = 0; so many radii are many
MEANINGLESS_FROM = 0.03  # label noise above which the D2 bound exceeds 1
CLEARLY = 0.5  # of the D2 bound
FIRST = 15_000  # rows of MNIST after which mistakes are counted once more

N_EXAMPLES, MARGIN = 10_000, 0.15
SEPARATOR = np.array([1.0, 0.0])
NOISES = {
    "label": (0.0, 0.005, 0.01, 0.015, 0.02, 0.025, 0.03, 0.04, 0.05, 0.07, 0.1),
    "instance": (0.0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.15, 0.18, 0.21, 0.25),
}
PASSES = {
    "r": "{r:6.2f}", "mistakes": "{mistakes:10d}", "share": "{share:8.4f}",
    "against r = 0": "{change:15.1%}", "margin errors": "{margin_errors:15d}",
    "support vectors": "{support_vectors:17d}",
}  # fmt: skip
BOUNDS = {
    "noise": "{noise:6.3f}", "Perceptron": "{mistakes:12.4f}", "D1 bound": "{d1:10.4f}",
    "D2 bound": "{d2:10.4f}",
}  # fmt: skip


class Pass(NamedTuple):
    """One pass over a set of digits with one radius."""

    data: str
    r: float


class Noise(NamedTuple):
    """One kind of noise on the circle at all its levels."""

    kind: str
    seeds: int


class Timed(NamedTuple):
    """What a job found, and when it began and ended."""

    rows: list[Row]
    began: float
    ended: float


@cache
def digits(name: str) -> tuple[Matrix, Classes]:
    """Read the training images: mean zero, length one on the average, the same bits everywhere."""
    path = data_file(FILES[name])
    assert path is not None, "require_digits has looked for the file"
    with np.load(path) as stored:
        pixels, classes = stored["x_train"], stored["y_train"]
    columns = np.ascontiguousarray(pixels.reshape(len(pixels), -1).T, np.float64)
    columns -= np.array([fsum(column) / len(column) for column in columns.tolist()])[:, np.newaxis]
    squares = np.zeros(len(pixels))
    for column in columns:  # one after the other: a sum along rows may be taken in any order
        squares += column * column
    columns /= fsum(np.sqrt(squares).tolist()) / len(squares)
    return np.ascontiguousarray(columns.T, np.float32), classes.astype(np.int64)


def begin(
    X: Matrix,
    r: float,
    budget: int | None = None,
    removal: str = "random",
    *,
    mistakes_too: bool = False,
) -> Run:
    """Begin a Ballseptron with a polynomial kernel that is told every label."""
    rules = Rules(Raw(), Ballseptron(r=r, mistakes_too=mistakes_too), Always())
    choice = KernelChoice("poly", degree=5, gamma=1.0, coef0=0.5, budget=budget, removal=removal)
    return Run(KernelMachine(rules, Dense(X), 0, choice, n_classes=N_CLASSES), Labels())


def mistakes(run: Run, X: Matrix, y: Classes) -> int:
    """Go on with the pass over these rows; return how many were predicted wrong."""
    log = run.log(len(y))
    run.play(Dense(X), y.astype(np.int32), log)
    return int((log.predicted != y).sum())


def n_support(run: Run) -> int:
    """Return how many support vectors there are."""
    assert isinstance(run.machine, KernelMachine)
    return int(run.machine.store.support.n_support)


def pass_with(job: Pass) -> Row:
    """Make one pass over a set of digits with this radius."""
    X, y = digits(job.data)
    run = begin(X, job.r)
    start = process_time()  # of this process alone: the other cores are at work too
    first = mistakes(run, X[:FIRST], y[:FIRST])
    total = first + (mistakes(run, X[FIRST:], y[FIRST:]) if len(y) > FIRST else 0)
    return job._asdict() | {
        "rows": len(y),
        "first": first,
        "mistakes": total,
        "margin_errors": int(run.machine.states.now.update.n_margin_errors),
        "support_vectors": n_support(run),
        "seconds": process_time() - start,
    }


def noisy_circle(kind: str, level: float, seed: int) -> tuple[Matrix, Vector]:
    """Draw points of the unit circle, no nearer to the separator than the margin; add noise."""
    angles = np.random.default_rng([seed, 0]).random(4 * N_EXAMPLES) * 2.0 * np.pi
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    X = X[np.abs(X[:, 0]) >= MARGIN][:N_EXAMPLES]
    y = np.sign(X[:, 0])
    if kind == "label":
        return X, np.where(np.random.default_rng([seed, 1]).random(len(y)) < level, -y, y)
    return X + level * np.random.default_rng([seed, 2]).standard_normal(X.shape), y


def shares(kind: str, level: float, seed: int) -> Row:
    """Return the Perceptron's share of mistakes, and the shares that the bounds allow."""
    X, y = noisy_circle(kind, level, seed)
    hinge = np.maximum(0.0, MARGIN - y * (X @ SEPARATOR))
    # A point may lie closer to the centre than the margin; R bounds the norms from above.
    norm = max(float(np.sqrt((X * X).sum(axis=1)).max()), MARGIN)
    trace = progressive(SelectiveClassifier(Perceptron(), Always(), random_state=seed), X, y)
    d1 = d1_mistakes(max_norm=norm, target_margin=MARGIN, hinge=float(hinge.sum()))
    length = sqrt(float((hinge * hinge).sum()))
    d2 = d2_mistakes(max_norm=norm, target_margin=MARGIN, hinge_norm=length)
    found = {"mistakes": trace.n_mistakes, "d1": d1, "d2": d2}
    return {"noise": kind, "level": level, "seed": seed} | {
        name: float(value) / len(y) for name, value in found.items()
    }


def jobs(seeds: int) -> list[Pass | Noise]:
    passes = [Pass(name, r) for name in FILES for r in reversed(RADII)]  # the longest first
    return [*passes, *(Noise(kind, seeds) for kind in NOISES)]


def measure(job: Pass | Noise) -> Timed:
    began = time()
    if isinstance(job, Pass):
        return Timed([pass_with(job)], began, time())
    seeds = range(1, 1 + job.seeds)
    rows = [shares(job.kind, level, seed) for level in NOISES[job.kind] for seed in seeds]
    return Timed(rows, began, time())


def report(found: list[tuple[Pass | Noise, Timed]], seeds: int) -> Row:
    """Return the passes, how long all of them took, and the bounds."""
    passes = [done for job, done in found if isinstance(job, Pass)]
    sweep = [row for done in passes for row in done.rows]
    return {
        "sweep": sorted(sweep, key=lambda row: (row["data"], row["r"])),
        "sweep_seconds": max(p.ended for p in passes) - min(p.began for p in passes),
        "bounds": [row for job, done in found if isinstance(job, Noise) for row in done.rows],
    }


def verdicts(result: Row) -> list[Row]:
    """Judge what section 5 of the paper says of its four plots."""
    sweeps = grouped((row["data"], row["mistakes"]) for row in result["sweep"])
    better = {
        name: sum(wrong <= SIGNIFICANT * counts[0] for wrong in counts)
        for name, counts in sweeps.items()
    }
    worst = {name: counts[-1] / counts[0] for name, counts in sweeps.items()}
    labels, instances = (
        [mean for mean in _means(result, kind) if mean["noise"] > 0.0] for kind in NOISES
    )
    noisy = [mean for mean in labels if mean["noise"] > MEANINGLESS_FROM]
    return [
        verdict(
            "many r make significantly fewer mistakes than r = 0 "
            f"(a tenth fewer, for {MANY} of {len(RADII) - 1} radii)",
            ", ".join(f"{count} radii on {name}" for name, count in better.items()),
            [count >= MANY for count in better.values()],
            f"a tenth fewer, for {MANY} radii",
        ),
        verdict(
            "an excessively large r makes more mistakes",
            ", ".join(
                f"{ratio:.1f} times those of r = 0 on {name}" for name, ratio in worst.items()
            )
            + f", with r = {RADII[-1]:g}",
            [ratio > 1.0 for ratio in worst.values()],
        ),
        verdict(
            f"the D2 bound exceeds 1 where label noise exceeds {MEANINGLESS_FROM:g}",
            f"it is {min(mean['d2'] for mean in noisy):.2f} at least there",
            [mean["d2"] > 1.0 for mean in noisy],
        ),
        verdict(
            f"the D1 bound is clearly tighter under label noise (at most {CLEARLY:g} of the other)",
            f"{max(mean['d1'] / mean['d2'] for mean in labels):.2f} of it at most",
            [mean["d1"] <= CLEARLY * mean["d2"] for mean in labels],
            f"{CLEARLY:g} of the other",
        ),
        verdict(
            "the D1 bound is slightly tighter under instance noise",
            "over the other, by noise: "
            + ", ".join(f"{mean['d1'] / mean['d2']:.2f}" for mean in instances),
            [mean["d1"] < mean["d2"] for mean in instances],
        ),
    ]


def text(result: Row) -> str:
    """Write our mistakes and bounds, and what the paper says of its own."""
    lines = ["Ballseptron, polynomial kernel of degree 5 with bias 1/2, one pass, every label told"]
    for name, rows in grouped((row["data"], row) for row in result["sweep"]).items():
        n, least = rows[0]["rows"], rows[0]["mistakes"]
        more = [row | {"share": row["mistakes"] / n, "change": row["mistakes"] / least - 1}
                for row in rows]  # fmt: skip
        late = {"after 15,000": "{first:14d}"} if name == "MNIST" else {}
        lines += [f"{name}, {n:,} rows", *table(PASSES | late, more)]
    for kind in NOISES:
        means = _means(result, kind)
        lines += [
            f"{kind} noise on the unit circle, margin {MARGIN:g}, {N_EXAMPLES:,} examples, shares "
            "of mistakes",
            *table(BOUNDS, means),
        ]
        above = [mean["noise"] for mean in means if mean["d2"] > 1.0]
        at = f"from {above[0]:g} on" if above else "nowhere here"
        lines.append(f"the D2 bound exceeds 1 {at}")
    return "\n".join(lines)


def _means(result: Row, kind: str) -> list[dict[str, float]]:
    """Average the seeds of each level of a noise."""
    levels = grouped((row["level"], row) for row in result["bounds"] if row["noise"] == kind)
    return [
        {"noise": level}
        | {name: sum(row[name] for row in rows) / len(rows) for name in ("mistakes", "d1", "d2")}
        for level, rows in levels.items()
    ]


def draw(result: Row) -> Picture:
    """Draw the four plots in the paper's places."""
    figure, (top, bottom) = new_figure(10, 8, 2, 2)
    sweeps = grouped((row["data"], row) for row in result["sweep"])
    for axes, (name, rows) in zip(top, sweeps.items(), strict=True):
        shown = [row["mistakes"] / row["rows"] for row in rows]
        axes.plot([row["r"] for row in rows], shown, "o-")
        axes.axhline(shown[0], color="grey", linestyle=":")
        finish(axes, xlabel="r", ylabel="share of mistakes", title=f"{name} (dotted: r = 0)")
    for axes, kind in zip(bottom, NOISES, strict=True):
        means = _means(result, kind)
        for name, label in (("mistakes", "Perceptron"), ("d1", "D₁ bound"), ("d2", "D₂ bound")):
            axes.plot([m["noise"] for m in means], [m[name] for m in means], "o-", label=label)
        axes.axhline(1.0, color="grey", linestyle=":")
        axes.set_ylim(0, 2.5 if kind == "label" else None)
        finish(axes, xlabel=f"{kind} noise", ylabel="share of mistakes", legend=10)
    return figure
