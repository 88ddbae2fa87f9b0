"""Count labels of DKM's learner on rows that are λ-similar to uniform ([Mon06], Theorem 7).

The density of a row is 1/λ times the uniform one on a set A, and λ times on the rest: as far from
uniform as λ-similarity lets it be. For both to add up to 1 the set has a share of λ/(1 + λ) of the
sphere, and 1/(1 + λ) of the rows fall into it. A is made of the rows that are close to a plane, or
of those that are far from it.

The proof of Theorem 7 has a patience that grows like 1/λ². The learner runs with that one, and with
the patience for uniform rows.
"""

from collections.abc import Callable, Iterable
from math import ceil
from typing import NamedTuple

import numpy as np
from scipy.special import betainc, betaincinv

from selectron.arrays import Matrix, Vector
from selectron.bounds import mon06
from selectron.queries import Halving
from selectron.reproduce.dkm09 import Tally, World, n_wrong, tightness
from selectron.reproduce.dkm09.labels import patience
from selectron.reproduce.harness import first_passages, grouped
from selectron.reproduce.harness.experiment import Row, verdict
from selectron.reproduce.harness.report import Picture, finish, lay_out, new_figure
from selectron.streams.drifting import on_sphere
from selectron.updates import Reflection

SIMILARITIES = (1.0, 0.5, 0.2, 0.1, 0.05)
DIMENSIONS = (5, 10, 20)
ERRORS = (0.1, 0.05, 0.02, 0.01)
JUDGED = 20_000  # rows on which the error of a hypothesis is measured
MOST_ROWS = 10_000  # for each dimension
DELTA = 0.05  # the chance to fail, in the bounds
PROVEN_POWER = 14  # of 1/λ: 12 in the updates, 2 in the patience
GROWN, UNIFORM = "R = 3.5 ln d / lambda^2", "R = 3.5 ln d"
PATIENCES = {UNIFORM: 0, GROWN: 2}  # the power of 1/λ in R


class Shape(NamedTuple):
    """Which rows are likely: close to a plane or far from it, the target's or one across it."""

    of_target: bool
    close: bool


SHAPES = {
    "close to the target's plane": Shape(True, True),
    "far from the target's plane": Shape(True, False),
    "close to a plane across": Shape(False, True),
    "far from a plane across": Shape(False, False),
}


class SimilarJob(NamedTuple):
    """One run of the learner."""

    patience: str
    shape: str
    similarity: float
    d: int
    seed: int


class Similar(NamedTuple):
    """The tally at each error, None where it was not reached; and the similarity of the rows."""

    tallies: list[Tally | None]
    measured: float


class SimilarWorld(World):
    """DKM's learner among rows that are λ-similar to uniform.

    Parameters
    ----------
    shape : Shape
        Which rows are likely.
    similarity : float
        λ in (0, 1].
    d, seed : int
        The dimension, and the seed of target and rows.
    power : int
        The power of 1/λ in the patience of the learner.
    """

    def __init__(self, shape: Shape, similarity: float, d: int, seed: int, power: int = 0) -> None:
        super().__init__(Reflection(), Halving(ceil(patience(d) / similarity**power)), d, seed)
        across = on_sphere(self.rng, 1, d)[0]
        across -= (across @ self.target) * self.target
        self.axis: Vector = self.target if shape.of_target else across / np.linalg.norm(across)
        self.shape, self.similarity = shape, similarity
        self.judged = self.rows(JUDGED)

    @property
    def share(self) -> float:
        """The share of the sphere in A."""
        return self.similarity / (1.0 + self.similarity)

    def rows(self, n: int) -> Matrix:
        """Draw rows: how far from the plane, as a rank on the sphere; then a side and a place."""
        rank = self.rng.random(n)
        likely = self.rng.random(n) < 1.0 / (1.0 + self.similarity)
        rank = np.where(likely, self.share * rank, self.share + (1.0 - self.share) * rank)
        rank = rank if self.shape.close else 1.0 - rank
        return at_distance(self.rng, self.axis, betaincinv(0.5, (self.machine.d - 1) / 2, rank))

    def likely(self, X: Matrix) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Say which rows lie in A."""
        rank = betainc(0.5, (X.shape[1] - 1) / 2, (X @ self.axis) ** 2)
        return (rank if self.shape.close else 1.0 - rank) <= self.share

    def error(self) -> float:
        """Return the share of rows, drawn as they come, that the hypothesis has wrong."""
        return n_wrong(self.weights(), self.judged, self.signs(self.judged)) / JUDGED

    def measured(self) -> float:
        """Return the λ of the rows drawn: the likelier of A and the rest, against uniform rows."""
        inside = float(self.likely(self.judged).mean())
        ratios = inside / self.share, (1.0 - inside) / (1.0 - self.share)
        return min(min(ratio, 1.0 / ratio) for ratio in ratios)


def at_distance(rng: np.random.Generator, axis: Vector, squares: Vector) -> Matrix:
    """Draw points of the sphere at these squared distances from the plane across an axis."""
    X = rng.standard_normal((len(squares), len(axis)))
    side = np.sign(X @ axis)
    X -= np.outer(X @ axis, axis)
    X *= (np.sqrt(1.0 - squares) / np.linalg.norm(X, axis=1))[:, np.newaxis]
    drawn: Matrix = X + np.outer(side * np.sqrt(squares), axis)
    return drawn


def jobs(seeds: int) -> list[SimilarJob]:
    return [
        SimilarJob(named, shape, similarity, d, seed)
        for named in PATIENCES
        for d in DIMENSIONS
        for shape in SHAPES
        for similarity in SIMILARITIES
        for seed in range(seeds)
    ]


def measure(job: SimilarJob) -> Similar:
    power = PATIENCES[job.patience]
    world = SimilarWorld(SHAPES[job.shape], job.similarity, job.d, job.seed, power)
    passed = first_passages(world.by_rows(MOST_ROWS * job.d), ERRORS)
    return Similar(passed, world.measured())


def report(found: Iterable[tuple[SimilarJob, Similar]], seeds: int) -> Row:
    """Return labels and errors by patience, shape, λ and d, and how labels grow with 1/λ."""
    runs = grouped((job[:4], done) for job, done in found)
    cells = [cell(*key, some) for key, some in runs.items()]
    lines = grouped(((c["patience"], c["shape"], c["d"]), c) for c in cells)
    powers = [
        {"patience": named, "shape": shape, "d": d, "power": power(some)}
        for (named, shape, d), some in lines.items()
    ]
    return {"seeds": seeds, "errors": list(ERRORS), "finest": ERRORS[-1], "cells": cells,
            "powers": powers}  # fmt: skip


def cell(named: str, shape: str, similarity: float, d: int, runs: list[Similar]) -> Row:
    """Average the runs that reached each error, beside the bounds of Theorem 7."""
    passed = [[run.tallies[k] for run in runs] for k in range(len(ERRORS))]
    there = [[tally for tally in some if tally is not None] for some in passed]

    def at_each(bound: Callable[..., float]) -> list[float]:
        return [bound(d=d, error=e, delta=DELTA, similarity=similarity) for e in ERRORS]

    return {
        "patience": named,
        "shape": shape,
        "similarity": similarity,
        "d": d,
        "measured": float(np.mean([run.measured for run in runs])),
        "reach": [len(some) / len(runs) for some in there],
        "labels": [float(np.mean([t.labels for t in some])) if some else None for some in there],
        "mistakes": [
            float(np.mean([t.mistakes for t in some])) if some else None for some in there
        ],
        "most_labels": at_each(mon06.active_labels),
        "most_mistakes": at_each(mon06.active_errors),
    }


def power(cells: list[Row]) -> float | None:
    """Fit a power of 1/λ to the labels to the finest error, where all runs reached it."""
    there = [c for c in cells if c["reach"][-1] == 1.0]
    if len(there) < 2:
        return None
    x, y = np.log([[1.0 / c["similarity"], c["labels"][-1]] for c in there]).T
    return float(np.polyfit(x, y, 1)[0])


def verdicts(result: Row) -> list[Row]:
    """Judge Theorem 7: its patience, its two bounds with a proven constant, the power of 1/λ."""
    powers = {
        name: [
            p["power"] for p in result["powers"] if p["patience"] == name and p["power"] is not None
        ]
        for name in PATIENCES
    }
    ends = [
        f"{min(some):.2f} to {max(some):.2f} with {name}" for name, some in powers.items() if some
    ]
    reach = {
        name: [c["reach"][-1] for c in result["cells"] if c["patience"] == name]
        for name in PATIENCES
    }
    return [
        verdict(
            "with a patience that grows like 1/lambda^2 the learner reaches the error (Theorem 7)",
            f"share of runs that reach {result['finest']:g}, at least and in the mean: "
            + "; ".join(
                f"{min(some):.2f} and {np.mean(some):.3f} with {name}"
                for name, some in reach.items()
                if some
            ),
            [share == 1.0 for share in reach[GROWN]],
        ),
        _within(result, "labels", "label queries"),
        _within(result, "mistakes", "errors, on all rows"),
        verdict(
            f"labels grow like a power of 1/lambda; the proof has {PROVEN_POWER}, with no attempt "
            "to make it small",
            f"fitted powers: {'; '.join(ends) or 'none'}",
            [power <= PROVEN_POWER for some in powers.values() for power in some],
        ),
    ]


def _within(result: Row, quantity: str, words: str) -> Row:
    ratios = [
        bound / count
        for c in result["cells"]
        for bound, count in zip(c[f"most_{quantity}"], c[quantity], strict=True)
        if count
    ]
    return verdict(
        f"poly(1/lambda) d log(1/eps) {words}, with a proven constant (Theorem 7)",
        f"bound over measured, at least: {tightness(min(ratios)) if ratios else 'none'}",
        [ratio >= 1.0 for ratio in ratios],
    )


def text(result: Row) -> str:
    """Write labels and errors by λ for each patience, the bounds below them."""
    cells = {(c["patience"], c["shape"], c["d"], c["similarity"]): c for c in result["cells"]}
    powers = {(one["patience"], one["shape"], one["d"]): one["power"] for one in result["powers"]}
    dimensions = sorted({c["d"] for c in result["cells"]})
    first = [cells[UNIFORM, next(iter(SHAPES)), dimensions[0], s] for s in SIMILARITIES]
    rows = [["lambda", *(f"{s:g}" for s in SIMILARITIES), "power"],
            ["  measured", *(f"{c['measured']:.3f}" for c in first), ""]]  # fmt: skip
    for quantity in ("labels", "mistakes"):
        for d in dimensions:
            for named in PATIENCES:
                rows.append([f"{quantity}, d = {d}, {named}", *[""] * len(SIMILARITIES), ""])
                for shape in SHAPES:
                    some = [cells[named, shape, d, s] for s in SIMILARITIES]
                    grown = powers[named, shape, d] if quantity == "labels" else None
                    rows.append([f"  {shape}", *(_shown(c, quantity) for c in some),
                                 "" if grown is None else f"{grown:.2f}"])  # fmt: skip
            bounds = [cells[UNIFORM, shape, d, s][f"most_{quantity}"][-1] for s in SIMILARITIES]
            rows.append(["  Theorem 7", *(f"{bound:.0e}" for bound in bounds), ""])
    return "\n".join(lay_out(rows))


def _shown(cell: Row, quantity: str) -> str:
    mean, share = cell[quantity][-1], cell["reach"][-1]
    return ("-" if mean is None else f"{mean:.0f}") + ("" if share == 1.0 else f" ({share:.2f})")


def draw(result: Row) -> Picture:
    """Draw labels over d against 1/λ, a panel for each dimension; dashed: the patience grows."""
    dimensions = sorted({c["d"] for c in result["cells"]})
    figure, panels = new_figure(11, 4, 1, len(dimensions), sharey=True)
    lines = grouped(((c["d"], c["patience"], c["shape"]), c) for c in result["cells"])
    colours = {shape: f"C{k}" for k, shape in enumerate(SHAPES)}
    for axes, d in zip(panels, dimensions, strict=True):
        for (of, named, shape), some in lines.items():
            if of == d:
                labels = [c["labels"][-1] / d if c["reach"][-1] == 1.0 else np.nan for c in some]
                axes.plot([1.0 / c["similarity"] for c in some], labels, color=colours[shape],
                          marker="o", linestyle="--" if named == GROWN else "-",
                          label=shape if named == UNIFORM else None)  # fmt: skip
        finish(axes, xscale="log", yscale="log", xlabel="1/λ", title=f"d = {d}",
               legend=7 if d == dimensions[0] else None)  # fmt: skip
    panels[0].set_ylabel(f"labels / d to an error of {result['finest']:g}")
    return figure
