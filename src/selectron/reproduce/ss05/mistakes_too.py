"""Count mistakes where Ballseptron learns from the worst point on mistakes too ([SS05], section 6).

The settings are radii and shares of flipped labels on a half-space, and radii on USPS. The theorems
of both forms allow every radius on the half-space.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from selectron import SelectiveClassifier
from selectron.arrays import Matrix, Vector
from selectron.bounds import ss05
from selectron.evaluate import progressive
from selectron.queries import Always
from selectron.reproduce.harness import grouped
from selectron.reproduce.harness.experiment import Row, verdict
from selectron.reproduce.harness.report import Picture, finish, new_figure, table
from selectron.reproduce.ss05.figure_3 import begin, digits, mistakes
from selectron.updates import Ballseptron

N_ROWS, D, MARGIN = 4_000, 20, 0.1
RADII = (0.01, 0.02, 0.03, 0.04)  # below (√2 - 1) MARGIN
NOISES = (0.0, 0.02, 0.05, 0.1)
USPS_RADII = (0.02, 0.05, 0.1, 0.2)
HALF_SPACE = {
    "flipped": "{noise:8.2f}", "r": "{r:6.2f}", "mistakes": "{off:10.1f}", "too": "{on:9.1f}",
    "more": "{more:8.1%}", "bound": "{off_bound:9.0f}", "too: bound": "{on_bound:12.0f}",
}  # fmt: skip
USPS = {"r": "{r:6.2f}", "mistakes": "{off:10d}", "too": "{on:9d}", "more": "{more:8.1%}"}


class Rows(NamedTuple):
    """The runs on the half-space with one share of flipped labels."""

    noise: float
    seeds: int


class Digits(NamedTuple):
    """Two passes over USPS with one radius."""

    r: float


def half_space(noise: float, seed: int) -> tuple[Matrix, Vector]:
    """Draw unit rows, no nearer than the margin to the plane of the first axis; flip labels."""
    rng = np.random.default_rng([seed, 6])
    X = rng.standard_normal((4 * N_ROWS, D))
    squares = np.zeros(len(X))
    for column in X.T:  # one after the other: the same bits everywhere
        squares += column * column
    X /= np.sqrt(squares)[:, np.newaxis]
    X = X[np.abs(X[:, 0]) >= MARGIN][:N_ROWS]
    y = np.sign(X[:, 0])
    return X, np.where(rng.random(len(y)) < noise, -y, y)


def play(r: float, too: bool, X: Matrix, y: Vector) -> tuple[int, float]:
    """Return the mistakes of a run, and the lesser bound of its two theorems for the true plane."""
    rule = Ballseptron(r=r, mistakes_too=too)
    trace = progressive(SelectiveClassifier(rule, Always()), X, y)
    losses = np.maximum(0.0, MARGIN - y * X[:, 0])[trace.updated]
    n_margin_errors = int((trace.updated & (y * trace.margins > 0.0)).sum())
    known = {"max_norm": 1.0, "target_margin": MARGIN, "r": r, "n_margin_errors": n_margin_errors}
    by_sum = ss05.d1_mistakes_too if too else ss05.d1_mistakes_refined
    by_length = ss05.d2_mistakes_too if too else ss05.d2_mistakes_refined
    length = sqrt(float((losses * losses).sum()))
    bound = min(by_sum(hinge=float(losses.sum()), **known), by_length(hinge_norm=length, **known))
    return trace.n_mistakes, bound


def jobs(seeds: int) -> list[Rows | Digits]:
    return [*(Digits(r) for r in reversed(USPS_RADII)), *(Rows(noise, seeds) for noise in NOISES)]


def measure(job: Rows | Digits) -> list[Row]:
    """Run both forms of the rule on the same rows."""
    if isinstance(job, Digits):
        images, named = digits("USPS")
        off, on = (
            mistakes(begin(images, job.r, mistakes_too=too), images, named) for too in (False, True)
        )
        return [{"r": job.r, "off": off, "on": on, "rows": len(named)}]
    found = []
    for seed in range(1, 1 + job.seeds):
        X, y = half_space(job.noise, seed)
        for r in RADII:
            (off, off_bound), (on, on_bound) = (play(r, too, X, y) for too in (False, True))
            bounds = {"off_bound": off_bound, "on_bound": on_bound}
            found.append({"noise": job.noise, "r": r, "seed": seed, "off": off, "on": on} | bounds)
    return found


def report(found: list[tuple[Rows | Digits, list[Row]]], seeds: int) -> Row:
    usps = [row for job, rows in found if isinstance(job, Digits) for row in rows]
    return {
        "seeds": seeds,
        "half_space": [row for job, rows in found if isinstance(job, Rows) for row in rows],
        "usps": sorted(usps, key=lambda row: row["r"]),
    }


def verdicts(result: Row) -> list[Row]:
    """Judge what section 6 says of the variation."""
    runs = result["half_space"]
    worst = max(run["on"] / run["on_bound"] for run in runs)
    return [
        verdict(
            "the proof technique still applies to it, and yields a different mistake bound",
            f"mistakes are {worst:.2f} of the bound at most, in {len(runs)} runs",
            [run["on"] <= run["on_bound"] for run in runs],
        )
    ]


def text(result: Row) -> str:
    """Write the mistakes of both forms, and at how many settings there are more of them."""
    means, usps = _means(result), _compared(result["usps"])
    more = sum(row["more"] > 0.0 for row in [*means, *usps])
    return "\n".join([
        f"half-space, {D} features, margin {MARGIN:g}, {N_ROWS:,} rows, "
        f"means over {result['seeds']} seeds",
        *table(HALF_SPACE, means),
        f"USPS, {usps[0]['rows']:,} rows, the kernel of ss05-figure-3",
        *table(USPS, usps),
        f"the worst point on mistakes too makes more mistakes at {more} of "
        f"{len(means) + len(usps)} settings",
    ])  # fmt: skip


def _compared(rows: list[Row]) -> list[Row]:
    return [row | {"more": row["on"] / row["off"] - 1.0} for row in rows]


def _means(result: Row) -> list[Row]:
    """Average the seeds of every setting of the half-space."""
    settings = grouped(((row["noise"], row["r"]), row) for row in result["half_space"])
    names = ("off", "on", "off_bound", "on_bound")
    return _compared([
        {"noise": noise, "r": r}
        | {name: sum(row[name] for row in rows) / len(rows) for name in names}
        for (noise, r), rows in settings.items()
    ])  # fmt: skip


def draw(result: Row) -> Picture:
    """Draw the mistakes of both forms against the radius."""
    figure, (left, right) = new_figure(10, 4.2, 1, 2)
    for noise, rows in grouped((row["noise"], row) for row in _means(result)).items():
        left.plot(
            [row["r"] for row in rows], [row["on"] / row["off"] for row in rows], "o-",
            label=f"{noise:.0%} flipped",
        )  # fmt: skip
    left.axhline(1.0, color="grey", linestyle=":")
    finish(left, xlabel="r", ylabel="mistakes, too over without", title="half-space", legend=9)
    for name, label in (("off", "on right answers alone"), ("on", "on mistakes too")):
        shown = [row[name] / row["rows"] for row in result["usps"]]
        right.plot([row["r"] for row in result["usps"]], shown, "o-", label=label)
    finish(right, xlabel="r", ylabel="share of mistakes", title="USPS", legend=9)
    return figure
