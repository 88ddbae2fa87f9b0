"""Measure time, bytes and mistakes with 500 support vectors at most, and without a limit."""

from time import process_time
from typing import NamedTuple

from selectron.kernels import REMOVALS
from selectron.reproduce.harness.experiment import Row, verdict
from selectron.reproduce.harness.report import Picture, fill, finish, new_figure
from selectron.reproduce.ss05.figure_3 import begin, digits, mistakes, n_support

BUDGET = 500
STRETCH = 3_000  # rows between two looks at the clock
RADII = (0.0, 0.05)
STAYS, GROWS = 1.25, 1.5  # at most, and at least: the last quarter over the second
CLAIM = "With a budget time and memory stay as they are; without one both grow with the stream"


class Job(NamedTuple):
    """One pass over MNIST; `removal` None: there is room for every support vector."""

    r: float
    removal: str | None


def jobs(seeds: int) -> list[Job]:
    return [Job(r, removal) for removal in (None, *REMOVALS) for r in RADII]


def measure(job: Job) -> Row:
    """Make one pass, and write down time, memory and mistakes on the way."""
    X, y = digits("MNIST")
    limit = (BUDGET, job.removal) if job.removal else ()
    # The first run compiles: that time is not the learner's.
    mistakes(begin(X, job.r, *limit), X[:STRETCH], y[:STRETCH])
    run, looks = begin(X, job.r, *limit), []
    for start in range(0, len(y), STRETCH):
        some = slice(start, start + STRETCH)
        before, rows = process_time(), len(y[some])
        wrong = mistakes(run, X[some], y[some])
        look = {"rows": start + rows, "microseconds": 1e6 * (process_time() - before) / rows}
        look["megabytes"] = sum(array.nbytes for array in run.machine.arrays()) / 2**20
        looks.append(look | {"support_vectors": n_support(run), "mistakes": wrong})
    return job._asdict() | {"rows": len(y), "looks": looks}


def report(found: list[tuple[Job, Row]], seeds: int) -> Row:
    return {"budget": BUDGET, "runs": [run for _, run in found]}


def text(result: Row) -> str:
    """Write every run at its end, time and memory early and late, and what they say of a budget."""
    line = ("{r:5.2f}  {room:12s}{total:9d}{share:8.4f}{late:14.4f}{support_vectors:9d}"
            "{us_2:21.0f}{us_4:8.0f}{mb_2:9.1f}{mb_4:8.1f}")  # fmt: skip
    return "\n".join([
        f"{'r':>5s}  {'makes room':12s}{'mistakes':>9s}{'share':>8s}{'last quarter':>14s}"
        f"{'support':>9s}{'us/row, 2nd quarter':>21s}{'4th':>8s}{'MB, 2nd':>9s}{'4th':>8s}",
        *fill(line, map(_line, result["runs"])),
        f"{CLAIM}:\n  {(judged := judge(result))['ours']} -> {judged['verdict']}",
    ])  # fmt: skip


def judge(result: Row) -> Row:
    """Judge by every run whether a budget holds time and memory, and whether both grow without."""
    growths: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for line in map(_line, result["runs"]):
        growth = line["us_4"] / line["us_2"], line["mb_4"] / line["mb_2"]
        growths[line["removal"] is None].append(growth)
    holds = [each >= GROWS for run in growths[True] for each in run]
    holds += [each <= STAYS for run in growths[False] for each in run]
    time, memory = (f"{max(each):.2f}" for each in zip(*growths[False], strict=True))
    time_free, memory_free = (f"{min(each):.2f}" for each in zip(*growths[True], strict=True))
    ours = (
        f"4th quarter over 2nd, with a budget at most {time} (time) and {memory} (MB), "
        f"without one at least {time_free} and {memory_free}"
    )
    return verdict(CLAIM, ours, holds, f"stays: {STAYS:g} times at most; grows: {GROWS:g} at least")


def _line(run: Row) -> Row:
    """Sum up a run: mistakes in all, and the middle look of its second and its last quarter."""
    looks = run["looks"]
    n, total = max(1, len(looks) // 4), sum(look["mistakes"] for look in looks)
    second, fourth = looks[n : 2 * n], looks[-n:]
    late = sum(look["mistakes"] for look in fourth) / (STRETCH * len(fourth))
    middles = {
        f"{unit}_{k}": sorted(look[column] for look in some)[len(some) // 2]
        for k, some in ((2, second), (4, fourth))
        for unit, column in (("us", "microseconds"), ("mb", "megabytes"))
    }
    room = run["removal"] or "no limit"
    sums = {"room": room, "total": total, "share": total / run["rows"], "late": late}
    return {**looks[-1], **run, **sums, **middles}


def draw(result: Row) -> Picture:
    """Draw time, memory and the share of mistakes along the stream."""
    figure, places = new_figure(12, 4.2, 1, 3)
    panels = {"microseconds": "µs a row", "megabytes": "MB", "mistakes": "share of mistakes"}
    for axes, (column, label) in zip(places, panels.items(), strict=True):
        scale = STRETCH if column == "mistakes" else 1
        for run in result["runs"]:
            if run["r"] == RADII[-1]:
                shown = [look[column] / scale for look in run["looks"]]
                rows = [look["rows"] for look in run["looks"]]
                axes.plot(rows, shown, label=run["removal"] or "no limit")
        last = column == "mistakes"
        finish(axes, xlabel="rows", ylabel=label, yscale="log", legend=8 if last else None)
    figure.suptitle(f"budget = {result['budget']}, r = {RADII[-1]:g}")
    return figure
