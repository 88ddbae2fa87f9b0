"""Count labels and mistakes by the relaxation alpha and the dimension ([DKM09], section 5).

The update steps alpha |v.x| towards the row: 2 reflects, 1 projects. The paper takes 2, says that
1 would do as well, and asks whether alpha should depend on the dimension.

Near the target the answer can be computed (`efold`). An error x has |v.x| = z s and |u.x| =
(1 - z) s, where z is uniform. An update takes s² (2 alpha z - alpha² z²) from |v - u|², in the mean
s² (alpha - alpha²/3). So 3/2 is best in many dimensions, and 1 and 2 are equal.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from selectron.queries import Always, Halving
from selectron.reproduce.dkm09 import Tally, World
from selectron.reproduce.dkm09.labels import patience
from selectron.reproduce.harness import first_passages, grouped
from selectron.reproduce.harness.experiment import Row, verdict
from selectron.reproduce.harness.report import Picture, finish, lay_out, new_figure
from selectron.spec import QueryRule
from selectron.updates import Reflection

ALPHAS = (0.5, 1.0, 1.25, 1.5, 1.75, 2.0)
DIMENSIONS = (5, 10, 20, 50, 100)
ERRORS = (0.1, 0.01)
MOST_ROWS = 5_000  # for each dimension
ALL, BAND = QUERIES = ("every label", "inside the band")
COUNTED = {ALL: "mistakes", BAND: "labels"}  # by which relaxations are compared
ROUNDING = 1e-12  # by which an error may rise
NODES, WEIGHTS = (
    np.polynomial.legendre.leggauss(200) + np.array([[1.0], [0.0]])
) / 2.0  # on [0, 1]
CLOSE = 2.0  # standard errors between means that are not told apart


class Job(NamedTuple):
    """One run of the modified Perceptron."""

    query: str
    d: int
    alpha: float
    seed: int


class Run(NamedTuple):
    """The tally at each error, None where it was not reached; and the updates that raised it."""

    tallies: list[Tally | None]
    updates: int
    raised: int


def efold(d: int, alpha: float) -> float:
    """Return the mistakes on all rows that lower a small error by a factor of e, for d >= 3.

    Of |v - u|² = 1 an update leaves 1 - q (2 alpha z - alpha² z²): q is the square of the error's
    part in the plane of u and v, of a beta distribution with 1 and (d - 2)/2.
    """
    q = betaincinv(1.0, (d - 2) / 2.0, NODES)
    left = np.log1p(-np.outer(q, 2.0 * alpha * NODES - (alpha * NODES) ** 2))
    return float(-2.0 / (WEIGHTS @ left @ WEIGHTS))


def jobs(seeds: int) -> list[Job]:
    return [Job(query, d, alpha, seed) for query in QUERIES for d in DIMENSIONS
            for alpha in ALPHAS for seed in range(seeds)]  # fmt: skip


def measure(job: Job) -> Run:
    query: QueryRule = Always() if job.query == ALL else Halving(patience(job.d))
    world = World(Reflection(alpha=job.alpha), query, job.d, job.seed)
    passed: list[tuple[Tally, float]] = []
    for tally, error in world.by_rows(MOST_ROWS * job.d):
        passed.append((tally, error))
        if error <= ERRORS[-1]:
            break
    errors = np.array([error for _, error in passed])
    raised = int(np.count_nonzero(np.diff(errors) > ROUNDING))
    return Run(first_passages(iter(passed), ERRORS), len(passed), raised)


def report(found: Iterable[tuple[Job, Run]], seeds: int) -> Row:
    """Return a cell for each learner, dimension and alpha, and the best alpha of each dimension."""
    runs = grouped((job[:3], run) for job, run in found)
    cells = [cell(*key, some) for key, some in runs.items()]
    by_dimension = grouped(((c["query"], c["d"]), c) for c in cells)
    best = [{"query": query, "d": d} | least(some) for (query, d), some in by_dimension.items()]
    return {"seeds": seeds, "finest": ERRORS[-1], "cells": cells, "best": best}


def cell(query: str, d: int, alpha: float, runs: list[Run]) -> Row:
    """Average the runs that reached the finest error."""
    there = [run.tallies[-1] for run in runs if run.tallies[-1] is not None]
    counts = np.array([getattr(tally, COUNTED[query]) for tally in there], float)
    return {
        "query": query,
        "d": d,
        "alpha": alpha,
        "reach": len(there) / len(runs),
        "mean": float(counts.mean()) if len(there) else None,
        "error": float(counts.std(ddof=1) / np.sqrt(len(there))) if len(there) > 1 else None,
        "updates": sum(run.updates for run in runs),
        "raised": sum(run.raised for run in runs),
        "efold": efold(d, alpha),
    }


def least(cells: list[Row]) -> Row:
    """Return the alpha with the fewest, and those that cannot be told from it."""
    there = [c for c in cells if c["reach"] == 1.0]
    if not there:
        return {"alpha": None, "close": []}
    first = min(there, key=lambda c: c["mean"])

    def is_close(c: Row) -> bool:
        apart = CLOSE * np.hypot(c["error"] or 0.0, first["error"] or 0.0)
        return bool(c["mean"] - first["mean"] <= apart)

    return {"alpha": first["alpha"], "close": [c["alpha"] for c in there if is_close(c)]}


def verdicts(result: Row) -> list[Row]:
    """Judge what section 5 says of alpha, and answer what it asks."""
    raised = {alpha: sum(c["raised"] for c in result["cells"] if c["alpha"] == alpha)
              for alpha in ALPHAS}  # fmt: skip
    projecting = [c for c in result["cells"] if c["alpha"] == 1.0]
    reflecting = {(c["query"], c["d"]): c for c in result["cells"] if c["alpha"] == 2.0}
    ratios = [
        c["mean"] / reflecting[c["query"], c["d"]]["mean"]
        for c in projecting
        if c["mean"] and reflecting[c["query"], c["d"]]["mean"]
    ]
    ends = f"{min(ratios):.2f} to {max(ratios):.2f}" if ratios else "none"
    return [
        verdict(
            "any alpha in [0, 2] guarantees an error that never rises",
            f"updates that raise it: {sum(raised.values())} of "
            f"{sum(c['updates'] for c in result['cells']):,}",
            [n == 0 for n in raised.values()],
            f"{ROUNDING:g}, for rounding",
        ),
        verdict(
            "alpha = 2 is most convenient, but alpha = 1 would work as well",
            f"runs with alpha = 1 that reach {result['finest']:g}: "
            f"{np.mean([c['reach'] for c in projecting]):.0%}, with {ends} times the mistakes or "
            "labels of alpha = 2",
            [c["reach"] == 1.0 for c in projecting],
            "works: all runs reach the error",
        ),
        *(judge_dimension(result, query) for query in QUERIES),
        judge_theory(result),
    ]


def has_errors(result: Row) -> bool:
    """Tell whether there are standard errors: of one run there is none."""
    return all(c["error"] is not None for c in result["cells"] if c["reach"] == 1.0)


def judge_theory(result: Row) -> Row:
    """Say whether the alpha of the fewest mistakes near the target is the best that was found."""
    cells = grouped((c["d"], c) for c in result["cells"] if c["query"] == ALL)
    close = {b["d"]: b["close"] for b in result["best"] if b["query"] == ALL and b["close"]}
    least = {d: min(cells[d], key=lambda c: c["efold"])["alpha"] for d in close}
    return verdict(
        "question: the best alpha is the one with the fewest mistakes near the target, as computed",
        ", ".join(
            f"{least[d]:g} of {'/'.join(f'{alpha:g}' for alpha in close[d])} at d = {d}"
            for d in close
        ),
        [least[d] in close[d] for d in close] if has_errors(result) else [],
        f"{CLOSE:g} standard errors",
    )


def judge_dimension(result: Row, query: str) -> Row:
    some = [best for best in result["best"] if best["query"] == query and best["close"]]
    shared = set(ALPHAS).intersection(*(best["close"] for best in some))
    everywhere = ", ".join(f"{alpha:g}" for alpha in sorted(shared)) or "none"
    return verdict(
        f"question: the best alpha is a function of the dimension ({query}, by {COUNTED[query]})",
        "best alpha " + ", ".join(f"{best['alpha']:g} at d = {best['d']}" for best in some)
        + f"; not told from the best at any d: {everywhere}",
        [not shared] if some and has_errors(result) else [],
        f"{CLOSE:g} standard errors",
    )  # fmt: skip


def text(result: Row) -> str:
    """Write mistakes and labels over d by alpha, the best of each dimension marked."""
    cells = {(c["query"], c["d"], c["alpha"]): c for c in result["cells"]}
    lines: list[list[str]] = []
    for query in QUERIES:
        lines.append([f"{COUNTED[query]} / d, {query}", *(f"{alpha:g}" for alpha in ALPHAS)])
        for best in result["best"]:
            if best["query"] == query:
                d = best["d"]
                shown = (_shown(cells[query, d, alpha], alpha in best["close"]) for alpha in ALPHAS)
                lines.append([f"  d = {d}", *shown])
    lines.append(["computed, a factor e of the error", *[""] * len(ALPHAS)])
    for d in sorted({c["d"] for c in result["cells"]}):
        near = (f"{cells[ALL, d, alpha]['efold'] / d:.2f}" for alpha in ALPHAS)
        lines.append([f"  d = {d}", *near])
    return "\n".join(lay_out(lines))


def _shown(cell: Row, close: bool) -> str:
    if cell["mean"] is None:
        return "-"
    share = "" if cell["reach"] == 1.0 else f" ({cell['reach']:.2f})"
    return f"{cell['mean'] / cell['d']:.2f}{share}{' *' if close else ''}"


def draw(result: Row) -> Picture:
    """Draw mistakes and labels over d against alpha, a line a dimension."""
    figure, panels = new_figure(9, 4, 1, len(QUERIES))
    for axes, query in zip(panels, QUERIES, strict=True):
        curves = grouped((c["d"], c) for c in result["cells"] if c["query"] == query)
        for d, some in curves.items():
            means = [c["mean"] / d if c["reach"] == 1.0 else np.nan for c in some]
            axes.plot([c["alpha"] for c in some], means, "o-", label=f"d = {d}")
        finish(axes, xlabel="alpha", ylabel=f"{COUNTED[query]} / d", title=query, legend=8)
    figure.suptitle(f"[DKM09], section 5: to an error of {result['finest']:g} by the relaxation")
    return figure
