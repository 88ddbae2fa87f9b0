"""[CBGZ06], Figure 5 and the table of b: asking by the margin against asking at a fixed rate.

The paper's figure has SEL-P and SEL-2ND. SEL-ADA stands beside them, and no claim speaks of it.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from selectron.reproduce.cbgz06 import OF_THE_PAPER, parameter_for, play, play_at_rate, stories
from selectron.reproduce.harness import grouped
from selectron.reproduce.harness.experiment import Row, verdict
from selectron.reproduce.harness.problems import published
from selectron.reproduce.harness.report import Picture, finish, new_figure, table

B_FACTOR = 2.0  # other stories have other margins: b may be so many times the paper's, or a part
COLUMNS = {
    "algorithm": "{algorithm:<9}", "rate": "{rate:6.3f}", "paper's b": "{their_b:>11}",
    "our b": "{b:8.3f}", "F": "{f1:7.3f}", "F, fixed rate": "{fixed:15.3f}",
    "gain": "{gain:8.3f}", "± 95 %": "{spread:8.3f}",
}  # fmt: skip


class Job(NamedTuple):
    """One algorithm at one sampling rate, with the coins of several seeds."""

    algorithm: str
    rate: float
    paper_b: float | None  # None: the paper has none
    seeds: int


def jobs(seeds: int) -> list[Job]:
    """List the three algorithms at the seven rates of the figure, and with every label asked."""
    given = published("cbgz06-table-of-b")
    longest_first = OF_THE_PAPER[::-1]
    return [
        Job(name, rate, b, seeds)
        for name in longest_first
        for rate, b in zip(given["rate"], given.get(name, [None] * len(given["rate"])), strict=True)
    ] + [Job(name, 1.0, None, 1) for name in longest_first]


def measure(job: Job) -> Row:
    """Tune b to the rate, then run by the margin and at the rate that this gave, seed by seed."""
    if job.rate == 1.0:
        f1 = play_at_rate(job.algorithm, 1.0, 0).f1
        return {"algorithm": job.algorithm, "rate": 1.0, "f1": f1}
    b = parameter_for(job.algorithm, job.rate)
    pairs = []
    for seed in range(job.seeds):
        ours = play(job.algorithm, b, seed)
        pairs.append((ours.f1, play_at_rate(job.algorithm, ours.rate, seed).f1, ours.rate))
    f1, fixed, rate = np.mean(pairs, axis=0)
    gains = [margin - fixed for margin, fixed, _ in pairs]
    return job._asdict() | {
        "b": b, "aimed_at": job.rate, "rate": float(rate), "f1": float(f1), "fixed": float(fixed),
        "gains": gains, "gain": float(np.mean(gains)), "spread": half_width(gains),
    }  # fmt: skip


def half_width(gains: list[float]) -> float:
    """Return half of the interval of 95 % of a mean (Student's t); 0 for a single number."""
    from scipy.stats import t  # noqa: PLC0415 - costs half a second

    n = len(gains)
    return float(t.ppf(0.975, n - 1) * np.std(gains, ddof=1) / n**0.5) if n > 1 else 0.0


def report(found: list[tuple[Job, Row]], seeds: int) -> Row:
    """Return the points of the curves, and the F-measure of all labels."""
    points = sorted(
        (row for job, row in found if job.rate < 1.0),
        key=lambda row: (OF_THE_PAPER.index(row["algorithm"]), row["aimed_at"]),
    )
    every = {row["algorithm"]: row["f1"] for job, row in found if job.rate == 1.0}
    return {"seeds": seeds, "data": stories().name, "points": points, "all": every}


class Fall(NamedTuple):
    """How far the gain falls from the least rate to the largest, over the seeds of the coins."""

    mean: float
    spread: float
    said: str

    @classmethod
    def along(cls, rows: list[Row]) -> "Fall":
        """Compare both ends seed by seed: the coins of a seed are the same at every rate."""
        first, last = rows[0], rows[-1]
        falls = [a - b for a, b in zip(first["gains"], last["gains"], strict=True)]
        mean, spread = float(np.mean(falls)), half_width(falls)
        steps = [a["gain"] > b["gain"] for a, b in pairwise(rows)]
        said = (
            f"{first['algorithm']} from {first['gain']:.3f} to {last['gain']:.3f}, by {mean:.3f} "
            f"± {spread:.3f}, and at {sum(steps)} of {len(steps)} steps"
        )
        return cls(mean, spread, said)


def verdicts(result: Row) -> list[Row]:
    """Judge both claims of the paper, and its table of b, on the algorithms that they are about."""
    claimed = [row for row in result["points"] if row["paper_b"] is not None]
    beside = [row for row in result["points"] if row["paper_b"] is None]
    falls = {name: Fall.along(rows) for name, rows in _curves(result["points"]).items()}
    about = [falls[name] for name in _curves(claimed)]
    ratios = {
        name: [row["b"] / row["paper_b"] for row in rows] for name, rows in _curves(claimed).items()
    }
    said = (f"{name} {' '.join(f'{x:.2f}' for x in each)}" for name, each in ratios.items())
    return [
        verdict(
            "the margin-based technique clearly dominates at every rate",
            f"the gain in F less its interval is at least {_least(claimed):.3f}"
            + (f" (SEL-ADA, which the paper leaves out: {_least(beside):.3f})" if beside else ""),
            [row["gain"] > row["spread"] for row in claimed],
            "the 95 % interval over the coins",
        ),
        verdict(
            "the difference shrinks as the rate gets larger",
            "the gain in F falls from the least rate to the largest: "
            + "; ".join(fall.said for fall in falls.values()),
            [fall.mean > fall.spread for fall in about],
            "the 95 % interval over the coins of the fall from end to end",
        ),
        verdict(
            "the table of b: these b lead to these rates",
            f"our b over the paper's: {'; '.join(said)}",
            [1.0 / B_FACTOR <= x <= B_FACTOR for each in ratios.values() for x in each],
            f"a factor of {B_FACTOR:g}",
        ),
    ]


def _curves(points: list[Row]) -> dict[str, list[Row]]:
    return grouped((row["algorithm"], row) for row in points)


def _least(points: list[Row]) -> float:
    least: float = min(row["gain"] - row["spread"] for row in points)
    return least


def text(result: Row) -> str:
    """Write a line a rate."""
    lines = [
        row | {"their_b": "-" if row["paper_b"] is None else f"{row['paper_b']:.3f}"}
        for row in result["points"]
    ]
    every = ", ".join(f"{name} {f1:.3f}" for name, f1 in result["all"].items())
    return "\n".join([*table(COLUMNS, lines), f"every label asked: {every}"])


def draw(result: Row) -> Picture:
    """Draw a panel an algorithm: F against the rate, dotted with every label."""
    curves = _curves(result["points"])
    figure, panels = new_figure(14, 4, 1, len(curves))
    for axes, (name, rows) in zip(panels, curves.items(), strict=True):
        rates = [row["rate"] for row in rows]
        axes.errorbar(rates, [row["f1"] for row in rows], [row["spread"] for row in rows],
                      fmt="o-", capsize=3, label=name)  # fmt: skip
        axes.plot(rates, [row["fixed"] for row in rows], "s--", label=f"{name}, fixed rate")
        axes.axhline(result["all"][name], color="grey", linestyle=":", label="every label")
        finish(axes, legend=9, xlabel="sampling rate", ylabel="F-measure, mean of categories")
    return figure
