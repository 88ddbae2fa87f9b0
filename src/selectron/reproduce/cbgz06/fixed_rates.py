"""[CBGZ06], Figure 5 and the table of b: asking by the margin against asking at a fixed rate."""

from typing import NamedTuple

import numpy as np

from selectron.reproduce.cbgz06.stories import parameter_for, play, play_at_rate, stories
from selectron.reproduce.harness.experiment import Row
from selectron.reproduce.harness.measure import grouped
from selectron.reproduce.harness.problems import published
from selectron.reproduce.harness.report import Picture, finish, new_figure, table
from selectron.reproduce.harness.verdict import verdict

TWICE_SD = 1.96  # of a mean: its interval of 95 %
COLUMNS = {
    "algorithm": "{algorithm:<9}", "rate": "{rate:6.3f}", "paper's b": "{paper_b:11.3f}",
    "our b": "{b:8.3f}", "F": "{f1:7.3f}", "F, fixed rate": "{fixed:15.3f}",
    "gain": "{gain:8.3f}", "± 95 %": "{spread:8.3f}",
}  # fmt: skip


class Job(NamedTuple):
    """One algorithm at one sampling rate, with the coins of several seeds."""

    algorithm: str
    rate: float
    paper_b: float
    seeds: int


def jobs(seeds: int) -> list[Job]:
    """List both algorithms of the figure at its seven rates, and with every label asked."""
    given = published("cbgz06-table-of-b")
    return [
        Job(name, rate, b, seeds)
        for name in ("SEL-2ND", "SEL-P")  # the longest first
        for rate, b in zip(given["rate"], given[name], strict=True)
    ] + [Job(name, 1.0, np.inf, 1) for name in ("SEL-2ND", "SEL-P")]


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
    spread = TWICE_SD * float(np.std(gains, ddof=1)) / len(gains) ** 0.5 if len(gains) > 1 else 0.0
    return job._asdict() | {
        "b": b, "rate": float(rate), "f1": float(f1), "fixed": float(fixed),
        "gain": float(np.mean(gains)), "spread": spread,
    }  # fmt: skip


def report(found: list[tuple[Job, Row]], seeds: int) -> Row:
    """Return the points of both curves, and the F-measure of all labels."""
    points = sorted(
        (row for job, row in found if job.rate < 1.0),
        key=lambda row: (row["algorithm"] != "SEL-P", row["rate"]),
    )
    every = {row["algorithm"]: row["f1"] for job, row in found if job.rate == 1.0}
    return {"seeds": seeds, "data": stories().name, "points": points, "all": every}


def verdicts(result: Row) -> list[Row]:
    """Judge both claims of the paper."""
    curves = grouped((row["algorithm"], row) for row in result["points"])
    ends = "; ".join(
        f"{name} from {rows[0]['gain']:.3f} to {rows[-1]['gain']:.3f}"
        for name, rows in curves.items()
    )
    least = min(row["gain"] - row["spread"] for row in result["points"])
    return [
        verdict(
            "the margin-based technique clearly dominates at every rate",
            f"the gain in F less its interval is at least {least:.3f}",
            [row["gain"] > row["spread"] for row in result["points"]],
        ),
        verdict(
            "the difference shrinks as the rate gets larger",
            f"gain in F at the least and at the largest rate: {ends}",
            [rows[-1]["gain"] < rows[0]["gain"] for rows in curves.values()],
        ),
    ]


def text(result: Row) -> str:
    """Write a line a rate."""
    every = ", ".join(f"{name} {f1:.3f}" for name, f1 in result["all"].items())
    return "\n".join([*table(COLUMNS, result["points"]), f"every label asked: {every}"])


def draw(result: Row) -> Picture:
    """Draw both sides of the figure: F against the rate, dotted with every label."""
    figure, panels = new_figure(10, 4, 1, 2)
    curves = grouped((row["algorithm"], row) for row in result["points"])
    for axes, (name, rows) in zip(panels, curves.items(), strict=True):
        rates = [row["rate"] for row in rows]
        axes.errorbar(rates, [row["f1"] for row in rows], [row["spread"] for row in rows],
                      fmt="o-", capsize=3, label=name)  # fmt: skip
        axes.plot(rates, [row["fixed"] for row in rows], "s--", label=f"{name}, fixed rate")
        axes.axhline(result["all"][name], color="grey", linestyle=":", label="every label")
        finish(axes, legend=9, xlabel="sampling rate", ylabel="F-measure, mean of categories")
    return figure
