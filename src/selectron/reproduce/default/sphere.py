"""Count the labels of the default learner on the sphere, down to an error of one in a million.

At such errors the next question is millions of rows away. A row whose margin is wider than the band
can be by then is not asked; it only opens the band a little. So the number of such rows is drawn
instead of the rows. The distribution of the run is that of drawing every row.
"""

from collections.abc import Iterator
from functools import partial
from math import log
from typing import NamedTuple, Protocol

import numpy as np

from selectron.arrays import Vector
from selectron.compiler.states import pack
from selectron.numeric.rows import Dense
from selectron.protocol import hypothesis
from selectron.queries import Auto, Balanced
from selectron.queries.auto import LEAK
from selectron.reproduce.dkm09 import (
    Curve,
    Job,
    World,
    draw_curves,
    inside,
    jobs_of,
    labels_by_streaming,
    report_curves,
)
from selectron.reproduce.harness import Labels, first_passages, grouped
from selectron.reproduce.harness.experiment import Row
from selectron.reproduce.harness.problems import published
from selectron.reproduce.harness.report import Picture
from selectron.spec import QueryRule, UpdateRule
from selectron.updates import Probit, Reflection

AHEAD = 1.5  # the threshold may grow by this factor before the band is drawn anew
FIRST_ROWS = 100  # taken one by one: the threshold still jumps from row to row
FIRST_SEED = 100  # those below have seen constants being chosen
DECADES = np.array([1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6])
MOST_LABELS, MOST_ROWS = 150, 50_000  # per dimension


class Threshold(Protocol):
    """The state of a query rule that asks below a threshold."""

    threshold: float
    n_rounds: int


class Spread(NamedTuple):
    """The length of the hypothesis, and the belief's deviation along it and, at most, across."""

    norm: float
    along: float
    across: float


def labels_by_events(
    update: UpdateRule, query: QueryRule, d: int, errors: Vector, seed: int, most_labels: int
) -> Labels:
    """Return the labels asked when each error was first reached.

    The query must be a threshold that grows by 1 + leak/t in silence, with a whole leak, and asks
    nothing above: `Balanced`, or `Auto(hard=True)`.
    """
    return first_passages(_questions(World(update, query, d, seed), most_labels), errors.tolist())


def _questions(world: World, most_labels: int) -> Iterator[tuple[int, float]]:
    """Yield labels and error after each question."""
    machine, run, spread = world.machine, world.run, Spread(0.0, 0.0, 0.0)
    while run.n_asked < most_labels:
        asked = run.n_asked
        x = world.point() if _early(machine.states.now.query) else next_row(world, spread)
        if x is None:
            continue
        X = x[np.newaxis]
        run.play(Dense(X), world.signs(X))
        if run.n_asked > asked:
            spread = spread_of(machine.states.now.update)
            yield run.n_asked, world.error()


def _early(query: Threshold) -> bool:
    one_class = min(getattr(query, "n_negative", 1), getattr(query, "n_positive", 1)) == 0
    return one_class or query.threshold == 0.0 or query.n_rounds < FIRST_ROWS


def next_row(world: World, spread: Spread) -> Vector | None:
    """Skip to the next row that might be asked; None if the band has to be drawn anew before."""
    from scipy.special import betainc  # noqa: PLC0415 - costs half a second

    state = world.machine.states.now
    query, weights = state.query, hypothesis(state.update)
    leak = getattr(query, "leak", LEAK)
    width = widest_margin(spread, AHEAD * query.threshold)
    share = float(betainc(0.5, (len(weights) - 1) / 2.0, width * width))
    # (t + j)/(s + j) <= t/s, so until here the threshold has not outgrown the band.
    last = int(query.n_rounds * AHEAD ** (1.0 / leak)) if leak > 0 else np.iinfo(np.int64).max
    row = query.n_rounds + int(world.rng.geometric(share))
    skipped = min(row - 1, last)
    grown = query.threshold * growth(query.n_rounds, skipped, round(leak))
    query = query._replace(threshold=grown, n_rounds=skipped)
    pack(state._replace(query=query), world.machine.states.numbers)
    return inside(world.rng, weights, width) if row <= last + 1 else None


def growth(before: int, after: int, leak: int) -> float:
    """Return the product of 1 + leak/t over the rounds t from `before` + 1 to `after`."""
    product = 1.0
    for j in range(1, leak + 1):
        product *= (after + j) / (before + j)
    return product


def spread_of(update: tuple[object, ...]) -> Spread:
    """Measure the spread of an update rule's state."""
    weights = hypothesis(update)
    norm = float(np.linalg.norm(weights))
    covariance = getattr(update, "store", None)
    if covariance is None:
        return Spread(norm, 0.0, norm)  # certainty is the margin itself
    V, axis = covariance.A_inv, weights / norm
    image = V @ axis
    along = float(axis @ image)
    across = V - np.outer(axis, image) - np.outer(image, axis) + along * np.outer(axis, axis)
    return Spread(norm, along**0.5, float(np.linalg.eigvalsh(across)[-1]) ** 0.5)


def widest_margin(spread: Spread, threshold: float) -> float:
    """Return a bound on |w.x|/|w| for unit rows x whose certainty is within the threshold.

    A row m w/|w| + u, with u across w, has a deviation of at most `across` + |m| `along`.
    """
    left = spread.norm - threshold * spread.along
    return min(threshold * spread.across / left, 1.0) if left > 0.0 else 1.0


def skipping(update: UpdateRule, query: QueryRule, d: int, seed: int) -> Labels:
    return labels_by_events(update, query, d, DECADES, seed, MOST_LABELS * d)


def drawing(query: QueryRule, d: int, seed: int) -> Labels:
    return labels_by_streaming(Probit(), query, d, DECADES[:3], seed, MOST_ROWS * d)


DKM = Balanced(rho=0.3, step=0.3, leak=1.0, start=1.0)
HARD, REFLECTION, HARD_ROWS, TAIL_ROWS = LEARNERS = (
    "default, hard threshold",
    "Reflection + Balanced",
    "default, hard, every row drawn",
    "default, tail and floor, every row drawn",
)
CURVES = {
    HARD: Curve(DECADES, partial(skipping, Probit(), Auto(hard=True)), (20, 50, 100), "-"),
    REFLECTION: Curve(DECADES, partial(skipping, Reflection(), DKM), (10, 20, 50, 100), "--"),
    HARD_ROWS: Curve(DECADES[:3], partial(drawing, Auto(hard=True)), (20, 50), ":"),
    TAIL_ROWS: Curve(DECADES[:3], partial(drawing, Auto()), (20, 50), "-."),
}
GOALS = dict(zip(LEARNERS, (3.3, 7.0, 3.3, 19.5 / log(1e3)), strict=True))  # over d ln(1/ε)
# Labels over d of a prototype, at the last errors.
PROTOTYPE: dict[str, dict[str, list[float]]] = published("sphere")


def jobs(seeds: int) -> list[Job]:
    return jobs_of(CURVES, range(FIRST_SEED, FIRST_SEED + seeds))


def measure(job: Job) -> Labels:
    return CURVES[job.learner].sample(job.d, job.seed)


def report(found: list[tuple[Job, Labels]], seeds: int) -> Row:
    """Return labels over d at each error."""
    return report_curves(found, seeds, summary, CURVES)


def summary(errors: Vector, runs: list[Labels], d: int) -> Row:
    """Return the mean labels over d where all runs arrived, and the most they cost a factor e."""
    table = np.array([[np.nan if v is None else v for v in labels] for labels in runs], float) / d
    means = [float(m) if np.isfinite(m) else None for m in table.mean(axis=0)]
    costs = [m / log(1.0 / e) for m, e in zip(means, errors.tolist(), strict=True) if m is not None]
    spread = table.std(axis=0) / np.sqrt(len(runs))
    return {
        "errors": errors.tolist(),
        "labels_per_d": means,
        "deviation": None if None in means else spread.tolist(),
        "reached": np.isfinite(table).mean(axis=0).tolist(),
        "most_per_efold": None if None in means else max(costs),
    }


def text(result: Row) -> str:
    """Write labels/d at each error, the prototype's beside them, and what a factor e costs."""
    lines = [f"Labels over d to reach an error on the unit sphere (mean of {result['seeds']} seeds "
             "| prototype)"]  # fmt: skip
    for name, rows in grouped((found["learner"], found) for found in result["curves"]).items():
        lines += ["", name, " " * 8 + "".join(f"{e:>14.0e}" for e in rows[0]["errors"])]
        for found in rows:
            lines.append(f"  d {found['d']:>3} " + "".join(_cells(found)))
            cost = found["most_per_efold"]
            shown = "not reached" if cost is None else f"{cost:.2f} d ln(1/eps)"
            lines.append(f"  {'':6}at most {shown}; goal {GOALS[name]:.2f}")
    return "\n".join(lines)


def _cells(found: Row) -> list[str]:
    theirs = PROTOTYPE[found["learner"]].get(str(found["d"]), [])
    beside = [""] * (len(found["errors"]) - len(theirs)) + [f" | {v:.1f}" for v in theirs]
    ours = ["-" if v is None else f"{v:.1f}" for v in found["labels_per_d"]]
    return [f"{a + b:>14}" for a, b in zip(ours, beside, strict=True)]


def draw(result: Row) -> Picture:
    """Draw labels/d against the error: two bundles of straight lines."""
    rows = [(found, found["labels_per_d"]) for found in result["curves"]]
    title = "Labels on the sphere: the default learner and DKM"
    colours = {10: "C3", 20: "C0", 50: "C1", 100: "C2"}
    return draw_curves(rows, CURVES, colours, title, 100)
