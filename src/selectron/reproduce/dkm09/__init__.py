"""Count the labels that the modified Perceptron of [DKM09] needs on the unit sphere."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import acos, asin, pi, tan
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from scipy.special import beta, betainc

from selectron.arrays import Matrix, Vector
from selectron.classifier.labels import Labels as ClassLabels
from selectron.classifier.machine import LinearMachine
from selectron.classifier.run import Run
from selectron.compiler.states import own_arrays
from selectron.loop import NOTHING_KEPT, NOTHING_TOLD, UPDATED, Kernel, Rounds, run_pass
from selectron.numeric.rows import Dense
from selectron.protocol import hypothesis
from selectron.reproduce.dkm09.counting import Counter, counted
from selectron.reproduce.harness import Labels, first_passages, grouped
from selectron.reproduce.harness.experiment import Row
from selectron.reproduce.harness.report import Picture, finish, new_figure
from selectron.scalings import Raw
from selectron.spec import QueryRule, Rules, UpdateRule
from selectron.streams.drifting import on_sphere

BLOCK = 4096
FAR = 1000.0  # a bound that holds by this factor is called far from tight
Found = TypeVar("Found")
Signs = np.ndarray[tuple[int, ...], np.dtype[np.int8]]


def error(target: Vector, weights: Vector) -> float:
    """Return the share of the sphere on which two half-spaces differ: their angle over π."""
    length = float(np.linalg.norm(weights))
    if length == 0.0:
        return 0.5
    return acos(min(1.0, max(-1.0, float(target @ weights) / length))) / pi


def tightness(times: float) -> str:
    """Write a bound over what was measured, and say so where it is far from tight."""
    return f"{times:.1e}" + (", far from tight" if times >= FAR else "")


class Tally(NamedTuple):
    """The labels asked so far, the rows drawn, and the mistakes on all rows, asked about or not."""

    labels: int
    rows: int
    mistakes: int


Tallies = list[Tally | None]  # at each error; None where it was not reached


class World:
    """A learner, the half-space that it has to find, and the generator of the points."""

    def __init__(self, update: UpdateRule, query: QueryRule, d: int, seed: int) -> None:
        self.seed, self.rng = seed, np.random.default_rng(seed)
        self.target = on_sphere(self.rng, 1, d)[0]
        rules = Rules(Raw(), update, query)
        self.machine = LinearMachine(rules, d, np.dtype(np.float64), seed)
        self.run = Run(self.machine, ClassLabels())

    def rows(self, n: int) -> Matrix:
        """Draw rows as they come."""
        return on_sphere(self.rng, n, self.machine.d)

    def point(self) -> Vector:
        drawn: Vector = self.rows(1)[0]
        return drawn

    def signs(self, X: Matrix) -> Signs:
        return np.where(X @ self.target > 0.0, 1, -1).astype(np.int8)

    def labelled(self, n: int) -> tuple[Matrix, Signs]:
        """Draw rows with the labels that the learner is told."""
        X = self.rows(n)
        return X, self.signs(X)

    def weights(self) -> Vector:
        now: Vector = hypothesis(self.machine.states.now.update)
        return now

    def error(self) -> float:
        return error(self.target, self.weights())

    def by_rows(self, most_rows: int) -> Iterator[tuple[Tally, float]]:
        """Draw every row; yield the tally and the error after each update."""
        run, mistakes = self.run, 0
        while run.rounds < most_rows:
            (X, signs), done = self.labelled(BLOCK), 0
            while done < BLOCK:
                weights, first = self.weights().copy(), done
                stop = run.play(Dense(X), signs, first=done, pause=True)
                done = stop.position
                mistakes += n_wrong(weights, X[first:done], signs[first:done])
                if stop.status == UPDATED:
                    yield Tally(run.n_asked, run.rounds, mistakes), self.error()

    def by_band(self, most_labels: int) -> Iterator[tuple[Tally, float]]:
        """Draw only rows inside the band; yield the tally and the error after each of them.

        How many rows were outside before, and how many mistakes among them, is drawn too, from a
        generator of its own: these counts change no row.
        """
        counts = np.random.default_rng([self.seed, 1])
        d, rows, mistakes = self.machine.d, 0, 0
        for n_labels in range(1, most_labels + 1):
            state = self.machine.states.now
            weights, width = hypothesis(state.update), min(1.0, float(state.query.threshold))
            if n_labels == 1:
                x = self.point()
            else:
                share = band_share(d, width)
                outside = int(counts.geometric(share)) - 1
                if outside:
                    wrong = wrong_outside(d, pi * self.error(), width) / (1.0 - share)
                    mistakes += int(counts.binomial(outside, min(1.0, wrong)))
                rows += outside
                x = inside(self.rng, weights, width)
            X = x[np.newaxis]
            rows += 1
            mistakes += n_wrong(weights, X, self.signs(X))
            self.machine.lesson(Dense(X), self.signs(X), NOTHING_TOLD, fresh=False)
            yield Tally(n_labels, rows, mistakes), self.error()

    def cost(self, X: Matrix) -> int:
        """Count the multiplications by which the learner, as it is now, plays rows.

        A copy plays them in plain Python, whose bodies are those that are compiled.
        """
        counter, states = Counter(), self.machine.states
        rows, labels = Dense(counted(X, counter)), self.signs(X)
        rounds = Rounds(rows, labels, np.zeros(len(X)), NOTHING_KEPT, arrived=0)
        play: Kernel = run_pass
        play(own_arrays(states.tree), states.numbers.copy(), *rounds)
        return counter.n


def n_wrong(
    weights: Vector, X: Matrix, signs: np.ndarray[tuple[int, ...], np.dtype[np.int8]]
) -> int:
    """Count the rows to which a half-space gives another sign."""
    return int(np.count_nonzero((X @ weights > 0.0) != (signs > 0)))


def band_share(d: int, width: float) -> float:
    """Return the share of the sphere with a margin of at most `width` to a half-space."""
    return float(betainc(0.5, (d - 1) / 2, width * width))


NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)


def wrong_outside(d: int, angle: float, width: float) -> float:
    """Return the share of the sphere outside the band on which two half-spaces differ.

    A point has the margin m = sin φ > width to the one; the half-spaces are at `angle`. In the
    plane of both, across the margin, lies cos φ times a coordinate t of a sphere of one dimension
    less. The point is wrong where t < -tan φ / tan(angle). The density of φ is that of cos^(d-2).
    """
    if angle > pi / 2:  # the opposite of the other half-space is wrong where this one is right
        return 1.0 - band_share(d, width) - wrong_outside(d, pi - angle, width)
    low, high = asin(width), angle
    if low >= high:
        return 0.0
    phi = low + (high - low) * (NODES + 1.0) / 2.0
    t = np.tan(phi) / tan(angle)
    below = 0.5 - 0.5 * betainc(0.5, (d - 2) / 2, t * t)
    density = np.cos(phi) ** (d - 2) / beta(0.5, (d - 1) / 2)
    return float((high - low) * (WEIGHTS @ (density * below)))


def labels_by_streaming(
    update: UpdateRule, query: QueryRule, d: int, errors: Vector, seed: int, most_rows: int
) -> Labels:
    """Return the labels asked when each error was first reached, drawing the rows one by one."""
    world = World(update, query, d, seed)
    return labels_of(first_passages(world.by_rows(most_rows), errors.tolist()))


def tallies_inside_the_band(
    update: UpdateRule, query: QueryRule, d: int, errors: Vector, seed: int, most_labels: int
) -> Tallies:
    """Return the tallies of a rule that asks inside a band and learns nothing outside.

    Only the rows inside are drawn, from their exact distribution, so that the millions between two
    questions at an error of one in a million cost nothing.
    """
    if d < 3:
        raise ValueError(f"the band is drawn from its density, which is for d >= 3, got {d=}")
    return first_passages(World(update, query, d, seed).by_band(most_labels), errors.tolist())


def labels_of(tallies: Sequence[Tally | None]) -> Labels:
    return [tally and tally.labels for tally in tallies]


def inside(rng: np.random.Generator, weights: Vector, width: float) -> Vector:
    """Draw a point of the sphere whose margin is at most `width`."""
    d = len(weights)
    axis = weights / np.linalg.norm(weights)
    width = min(width, 1.0)
    while True:  # the margin has density (1 - m²)^((d - 3)/2)
        margin = rng.uniform(-width, width)
        if rng.random() <= (1.0 - margin * margin) ** ((d - 3) / 2):
            break
    across = rng.standard_normal(d)
    across -= (across @ axis) * axis
    across *= np.sqrt(1.0 - margin * margin) / np.linalg.norm(across)
    return across + margin * axis


class Curve(NamedTuple, Generic[Found]):
    """The errors to be reached, a function that runs a dimension and a seed, and a line style.

    The function returns labels at each error, or tallies.
    """

    errors: Vector
    sample: Callable[[int, int], Found]
    dimensions: tuple[int, ...]
    style: str


class Job(NamedTuple):
    """One run of a learner."""

    learner: str
    d: int
    seed: int


def jobs_of(curves: Mapping[str, Curve[Found]], seeds: Sequence[int]) -> list[Job]:
    """List the runs of all learners in all their dimensions."""
    return [
        Job(name, d, seed)
        for name, curve in curves.items()
        for d in curve.dimensions
        for seed in seeds
    ]


def report_curves(
    found: Iterable[tuple[Job, Found]],
    seeds: int,
    summary: Callable[[Vector, list[Found], int], Row],
    curves: Mapping[str, Curve[Found]],
) -> Row:
    """Summarise the runs of each learner in each dimension."""
    runs = grouped(((job.learner, job.d), done) for job, done in found)
    rows = [{"learner": name, "d": d} | summary(curves[name].errors, some, d)
            for (name, d), some in runs.items()]  # fmt: skip
    return {"seeds": seeds, "curves": rows}


def draw_curves(
    rows: Sequence[tuple[Row, Sequence[float | None]]],
    curves: Mapping[str, Curve[Found]],
    colours: Mapping[int, str],
    title: str,
    most: int,
    columns: int = 1,
) -> Picture:
    """Draw labels/d against the error: a line for each learner and dimension."""
    figure, axes = new_figure(8, 5)
    for found, labels_per_d in rows:
        shown = [(e, v) for e, v in zip(found["errors"], labels_per_d, strict=True) if v]
        if shown:
            axes.plot(*zip(*shown, strict=True), curves[found["learner"]].style, marker=".",
                      color=colours[found["d"]],
                      label=f"{found['learner']}, d = {found['d']}")  # fmt: skip
    finish(axes, xscale="log", xlabel="error", ylabel="labels / d", ylim=(0, most), title=title,
           legend=7, columns=columns)  # fmt: skip
    axes.invert_xaxis()
    return figure
