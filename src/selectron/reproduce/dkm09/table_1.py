"""Count rows, mistakes, labels and work of learners on the sphere ([DKM09], Table 1).

[Mon06], Table 3.1, is the same table with fewer learners, and says which of them are online.
Work is counted: at each error the learner, as it then is, plays some rows with numbers that count
their products.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.queries import Always, Halving
from selectron.reproduce.dkm09 import Job, Tally, World
from selectron.reproduce.dkm09.labels import (
    COARSE,
    DIMENSIONS,
    TO_A_MILLIONTH,
    TO_A_THOUSANDTH,
    judge_theorem_3,
    patience,
)
from selectron.reproduce.dkm09.version_space import Filter, Keeper, by_committee, by_consistency
from selectron.reproduce.harness import first_passages, grouped
from selectron.reproduce.harness.experiment import Row, verdict
from selectron.reproduce.harness.report import Picture, finish, lay_out, new_figure
from selectron.spec import UpdateRule
from selectron.streams.drifting import on_sphere
from selectron.updates import Perceptron, Reflection

LOW_DIMENSIONS = (5, 10, 15)  # for those that keep every label: a run in d = 20 takes a minute
DRAWN = 10
QUANTITIES = ("rows", "mistakes", "labels")
WORK = "work"
PROBES = 32  # rows by which the work of a row is counted, at each error of each run
SLACK = 0.25  # a fitted power may be this far from the paper's, which omits logarithms


class Order(NamedTuple):
    """An order of growth: powers of d, of 1/eps and of log(1/eps)."""

    d: float
    error: float
    log: float = 0

    def __str__(self) -> str:
        bases = ("d", "(1/eps)", "log(1/eps)")
        parts = [
            base if power == 1 else f"{base}^{round(power, 2):g}"
            for base, power in zip(bases, self, strict=True)
            if power
        ]
        return " ".join(parts)


class Counts(NamedTuple):
    """A tally, and the multiplications of a row at that time."""

    labels: int
    rows: int
    mistakes: int
    work: float


class Student(Protocol):
    """A learner at work, of which it can be said what rows cost it now."""

    def cost(self, X: Matrix) -> int: ...


Started = tuple[Student, Iterator[tuple[Tally, float]]]


class Learner(NamedTuple):
    """One line of the table.

    Parameters
    ----------
    errors : array
        The errors to be reached.
    dimensions : tuple
        The dimensions of the spheres.
    start : callable
        Takes a dimension and a seed; returns the student, and its tallies and errors as it learns.
    most : dict
        The paper's order for each quantity that it bounds from above.
    least : Order, optional
        The order that the paper says no quantity stays below.
    online : bool
        Whether [Mon06], Table 3.1, calls it online.
    """

    errors: Vector
    dimensions: tuple[int, ...]
    start: Callable[[int, int], Started]
    most: dict[str, Order]
    least: Order | None
    online: bool


def always(update: UpdateRule) -> Callable[[int, int], Started]:
    """Draw every row and ask for every label."""

    def start(d: int, seed: int) -> Started:
        world = World(update, Always(), d, seed)
        return world, world.by_rows(20_000 * d)

    return start


def banded(d: int, seed: int) -> Started:
    """Draw the rows inside the band of the active learner, and count those outside."""
    world = World(Reflection(), Halving(patience(d)), d, seed)
    return world, world.by_band(400 * d)


def orders(d: float) -> dict[str, Order]:
    """Return the orders of an active learner in the table."""
    return {"rows": Order(d, 1, 1), "mistakes": Order(d, 0, 1), "labels": Order(d, 0, 1)}


def kept(asks: Filter) -> Callable[[int, int], Started]:
    """Keep every label, and ask by a filter of the version space."""

    def start(d: int, seed: int) -> Started:
        keeper = Keeper(asks, d, seed)
        return keeper, keeper.by_rows(50_000 * d)

    return start


LEARNERS = {
    "Perceptron + Always": Learner(
        COARSE, DIMENSIONS, always(Perceptron()),
        {"rows": Order(1, 3), "mistakes": Order(1, 2)}, Order(0, 2), online=True),
    "Reflection + Always": Learner(
        TO_A_THOUSANDTH, DIMENSIONS, always(Reflection()),
        orders(1) | {"labels": Order(1, 1, 1)}, None, online=True),  # all rows have a label
    "Reflection + Halving": Learner(
        TO_A_MILLIONTH, DIMENSIONS, banded, orders(1), None, online=True),
    "query by committee": Learner(
        TO_A_THOUSANDTH, LOW_DIMENSIONS, kept(by_committee), orders(1), None, online=False),
    "version-space filter": Learner(
        TO_A_THOUSANDTH, LOW_DIMENSIONS, kept(by_consistency), orders(1.5), None,
        online=False),
}  # fmt: skip


def jobs(seeds: int) -> list[Job]:
    return [
        Job(name, d, seed)
        for name, learner in LEARNERS.items()
        for d in learner.dimensions
        for seed in range(seeds)
    ]


def measure(job: Job) -> list[Counts | None]:
    levels = LEARNERS[job.learner].errors.tolist()
    return first_passages(with_work(job, levels), levels)


def with_work(job: Job, levels: Sequence[float]) -> Iterator[tuple[Counts, float]]:
    """Yield the counts and the error; the work is counted anew when a level is reached."""
    student, tallies = LEARNERS[job.learner].start(job.d, job.seed)
    rng = np.random.default_rng([job.seed, 2])  # of its own: probes change no row of the run
    left, work = list(levels), np.nan
    for tally, error in tallies:
        if left and error <= left[0]:
            work = student.cost(on_sphere(rng, PROBES, job.d)) / PROBES
            left = [level for level in left if level < error]
        yield Counts(*tally, work), error


def report(found: Iterable[tuple[Job, list[Counts | None]]], seeds: int) -> Row:
    """Return the mean counts at each error, and how each quantity grows."""
    runs = grouped(((job.learner, job.d), counts) for job, counts in found)
    curves = [{"learner": name, "d": d} | summary(LEARNERS[name], some)
              for (name, d), some in runs.items()]  # fmt: skip
    fits = [
        {"learner": name, "quantity": quantity, "order": fit(name, quantity, curves)}
        for name in LEARNERS
        for quantity in (*QUANTITIES, WORK)
    ]
    return {"seeds": seeds, "curves": curves, "growth": fits}


def summary(learner: Learner, runs: Sequence[list[Counts | None]]) -> Row:
    """Average the runs at the errors that all of them reached."""
    at_each = list(zip(*runs, strict=True))
    means = [None if None in some else np.mean(some, axis=0) for some in at_each]
    found: Row = {"errors": learner.errors.tolist()}
    for place, quantity in enumerate(Counts._fields):
        found[quantity] = [None if mean is None else float(mean[place]) for mean in means]
    found["reached"] = [sum(counts is not None for counts in some) / len(some) for some in at_each]
    return found


def fit(name: str, quantity: str, curves: Sequence[Row]) -> Order | None:
    """Fit powers of d and 1/eps to the finer half of the errors, after the paper's logarithm.

    To work, powers of d and of log(1/eps) are fitted: labels grow like log(1/eps), so that is how
    a row gets dearer for a learner that reads all of them.
    """
    learner = LEARNERS[name]
    log = learner.most[quantity].log if quantity in learner.most else 0
    coarse = len(learner.errors) // 2
    cells = [
        (np.log(curve["d"]), np.log(1 / eps), np.log(n) - log * np.log(np.log(1 / eps)))
        for curve in curves
        if curve["learner"] == name
        for eps, n in zip(curve["errors"][coarse:], curve[quantity][coarse:], strict=True)
        if n is not None
    ]
    if len({d for d, *_ in cells}) < 2 or len({efolds for _, efolds, _ in cells}) < 2:
        return None
    d, efolds, y = np.array(cells).T
    if quantity == WORK:
        efolds = np.log(efolds)
    powers = np.linalg.lstsq(np.c_[d, efolds, np.ones(len(y))], y, rcond=None)[0]
    if quantity == WORK:
        return Order(float(powers[0]), 0.0, float(powers[1]))
    return Order(float(powers[0]), float(powers[1]), log)


def verdicts(result: Row) -> list[Row]:
    """Judge the orders of the table, Theorem 3 with its constants, and who is online."""
    return [
        *(judge_orders(result, name) for name in LEARNERS),
        judge_theorem_3(result),
        judge_online(result),
    ]


def judge_orders(result: Row, name: str) -> Row:
    """Hold the fitted powers of a learner against the paper's."""
    learner = LEARNERS[name]
    fits = {
        row["quantity"]: Order(*row["order"])
        for row in result["growth"]
        if row["learner"] == name and row["order"] and row["quantity"] in QUANTITIES
    }
    holds = [
        fits[quantity].d <= most.d + SLACK and fits[quantity].error <= most.error + SLACK
        for quantity, most in learner.most.items()
        if quantity in fits
    ]
    claim = [f"{quantity} at most {most}" for quantity, most in learner.most.items()]
    if learner.least:
        claim.append(f"rows, mistakes and labels at least {learner.least}")
        holds += [order.error >= learner.least.error - SLACK for order in fits.values()]
    ours = ", ".join(f"{quantity} {order}" for quantity, order in fits.items())
    return verdict(
        f"{name}: {', '.join(claim)}, up to logarithms",
        f"{ours} (powers within {SLACK})",
        holds,
        f"{SLACK:g} of the power",
    )


def judge_online(result: Row) -> Row:
    """Hold who is online by the counted work of a row against who is by the thesis."""
    powers = {
        row["learner"]: Order(*row["order"]).log
        for row in result["growth"]
        if row["quantity"] == WORK and row["order"]
    }
    return verdict(
        "only the Perceptron and the new learner, with or without a filter, are online: a row "
        "costs the same however many came before (Table 3.1)",
        f"counted work of a row grows with a power of log(1/eps), online at most {SLACK}: "
        + ", ".join(
            f"{name} {power:.2f} ({'online' if power <= SLACK else 'not online'})"
            for name, power in powers.items()
        ),
        [(power <= SLACK) == LEARNERS[name].online for name, power in powers.items()],
        f"{SLACK:g} of the power",
    )


def text(result: Row) -> str:
    """Write the tallies at each error, then the growth beside the paper's."""
    lines = []
    for curve in result["curves"]:
        rows = [[f"{curve['learner']}, d = {curve['d']}", *(f"{e:.2g}" for e in curve["errors"])]]
        for quantity in (*QUANTITIES, WORK):
            found = zip(curve[quantity], curve["reached"], strict=True)
            cells = (f"- ({share:.2f})" if n is None else f"{n:.3g}" for n, share in found)
            rows.append([f"  {quantity}", *cells])
        lines += lay_out(rows)
    return "\n".join([*lines, "", *growth_lines(result)])


def growth_lines(result: Row) -> list[str]:
    """Lay out the fitted orders of each learner above the paper's."""
    fits = grouped((row["learner"], row["order"]) for row in result["growth"])
    rows = [["growth of", *QUANTITIES, WORK]]
    for name, learner in LEARNERS.items():
        rows.append([name, *(str(Order(*order)) if order else "-" for order in fits[name])])
        rows.append(["  the paper", *(claimed(learner, quantity) for quantity in QUANTITIES),
                     "online" if learner.online else "not online"])  # fmt: skip
    return lay_out(rows)


def claimed(learner: Learner, quantity: str) -> str:
    """Write the paper's orders for a quantity of a learner."""
    most = [f"at most {learner.most[quantity]}"] if quantity in learner.most else []
    least = [f"at least {learner.least}"] if learner.least else []
    return ", ".join(most + least) or "-"


def draw(result: Row) -> Picture:
    """Draw rows, mistakes, labels and work against the error in ten dimensions."""
    shown = (*QUANTITIES, WORK)
    figure, panels = new_figure(13, 4, 1, len(shown), sharey=True)
    for axes, quantity in zip(panels, shown, strict=True):
        for curve in result["curves"]:
            if curve["d"] == DRAWN:
                counts = [n or np.nan for n in curve[quantity]]
                axes.plot(curve["errors"], counts, marker=".", label=curve["learner"])
        finish(axes, xscale="log", yscale="log", xlabel="error",
               title="work (multiplications a row)" if quantity == WORK else quantity,
               legend=7 if quantity == QUANTITIES[-1] else None)  # fmt: skip
        axes.invert_xaxis()
    figure.suptitle(f"[DKM09], Table 1, by experiment: d = {DRAWN}")
    return figure
