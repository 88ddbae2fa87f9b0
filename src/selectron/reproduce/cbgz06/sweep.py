"""[CBGZ06], Figures 6, 7 and 8: F-measure and sampling rate along the parameter of a query rule."""

from typing import NamedTuple

import numpy as np

from selectron.reproduce.cbgz06 import (
    ALGORITHMS,
    OF_THE_PAPER,
    Outcome,
    grid,
    play,
    play_at_rate,
    stories,
)
from selectron.reproduce.harness import grouped
from selectron.reproduce.harness.experiment import Parts, Row, verdict
from selectron.reproduce.harness.report import Picture, finish, new_figure, table

SEEN_AS_EQUAL = 0.02  # F-measures this close are called essentially the same
MANY_LABELS, SIZEABLE = 0.8, 0.1  # a rate that saves many labels; a sizeable interval of rates
COMPARED_AT = (0.3, 0.4, 0.5, 0.6, 0.7)  # sampling rates
SWEPT = {"algorithm": "{algorithm:<18}", "parameter": "{parameter:10.4f}",
         "rate": "{rate:8.3f}", "F": "{f1:8.3f}"}  # fmt: skip


class Job(NamedTuple):
    """One algorithm with one parameter, or with every label asked."""

    algorithm: str
    parameter: float | None  # None: every label
    seeds: int


class Target(NamedTuple):
    """One algorithm, tuned to the F-measure that is aimed at."""

    algorithm: str
    seeds: int


def _average(algorithm: str, parameter: float, seeds: int) -> Outcome:
    """Average every number of the outcome over the seeds of the coins."""
    runs = [play(algorithm, parameter, seed) for seed in range(seeds)]
    rate, f1, rates, scores = (np.mean(part, axis=0) for part in zip(*runs, strict=True))
    return Outcome(float(rate), float(f1), rates.tolist(), scores.tolist())


def _measure(job: Job) -> Row:
    found = (
        play_at_rate(job.algorithm, 1.0, 0)  # no coin is tossed: one seed is all
        if job.parameter is None
        else _average(job.algorithm, job.parameter, job.seeds)
    )
    return {"algorithm": job.algorithm, "parameter": job.parameter} | found._asdict()


def _jobs_6(seeds: int) -> list[Job]:
    names = "SEL-2ND", "SEL-P"  # the longest first
    every = [Job(name, None, 1) for name in names]
    return every + [Job(name, b, seeds) for name in names for b in grid(name)]


def _jobs_7(seeds: int) -> list[Job]:
    return [Job(name, b, seeds) for name in ALGORITHMS for b in grid(name)]


def _curves(result: Row) -> dict[str, list[Row]]:
    return grouped((row["algorithm"], row) for row in result["points"])


def _report(found: list[tuple[Job, Row]], seeds: int) -> Row:
    return {"seeds": seeds, "data": stories().name, "points": [row for _, row in found]}


def _report_6(found: list[tuple[Job, Row]], seeds: int) -> Row:
    swept = [(job, row) for job, row in found if job.parameter is not None]
    every = {job.algorithm: row["f1"] for job, row in found if job.parameter is None}
    return _report(swept, seeds) | {"all": every}


def _verdicts_6(result: Row) -> list[Row]:
    saved, constant, ours = [], [], []
    for name, rows in _curves(result).items():
        every = result["all"][name]
        close = [row["rate"] for row in rows if row["f1"] >= every - SEEN_AS_EQUAL] or [1.0]
        least, most = min(close), max(close)
        saved.append(least < MANY_LABELS)
        constant.append(most - least > SIZEABLE)
        ours.append(f"{name}: F within {SEEN_AS_EQUAL} of {every:.3f}, that of all labels, at "
                    f"rates from {least:.3f} to {most:.3f}")  # fmt: skip
    return [
        verdict("a b with F as with all labels saves many labels", "; ".join(ours), saved,
                f"F within {SEEN_AS_EQUAL}, a rate below {MANY_LABELS:g}"),
        verdict("in a sizeable interval of b the rate falls while F stays", "as above", constant,
                f"F within {SEEN_AS_EQUAL}, rates {SIZEABLE:g} apart"),
    ]  # fmt: skip


def f1_at(rows: list[Row], rate: float) -> float | None:
    """Return F at a sampling rate, between the two points next to it; None outside of all."""
    rates = [row["rate"] for row in rows]
    if not min(rates) <= rate <= max(rates):
        return None
    return float(np.interp(rate, rates, [row["f1"] for row in rows]))


def _verdicts_7(result: Row) -> list[Row]:
    at = {
        name: [f1_at(rows, rate) for rate in COMPARED_AT] for name, rows in _curves(result).items()
    }

    def above(better: str, worse: str) -> list[bool]:
        pairs = zip(at[better], at[worse], strict=True)
        return [a > b for a, b in pairs if a is not None and b is not None]

    said = "; ".join(
        f"{name} {' '.join('-' if f1 is None else f'{f1:.3f}' for f1 in at[name])}"
        for name in OF_THE_PAPER
    )
    ours = f"F at rates {' '.join(map(str, COMPARED_AT))}: {said}"
    best = above("SEL-2ND", "SEL-P") + above("SEL-2ND", "SEL-ADA")
    return [
        verdict("SEL-2ND has the best trade-off of F and rate", ours, best),
        verdict("SEL-ADA is slightly worse than SEL-P", "as above", above("SEL-P", "SEL-ADA")),
    ]


def _text(result: Row) -> str:
    return "\n".join(table(SWEPT, result["points"]))


def _text_6(result: Row) -> str:
    every = ", ".join(f"{name} {f1:.3f}" for name, f1 in result["all"].items())
    return f"{_text(result)}\nevery label asked: {every}"


def _draw_6(result: Row) -> Picture:
    figure, panels = new_figure(10, 4, 1, 2)
    for axes, (name, rows) in zip(panels, _curves(result).items(), strict=True):
        b = [row["parameter"] for row in rows]
        axes.plot(b, [row["f1"] for row in rows], "o-", label="F-measure")
        axes.plot(b, [row["rate"] for row in rows], "s--", label="sampling rate")
        axes.axhline(result["all"][name], color="grey", linestyle=":", label="F, every label")
        finish(axes, legend=9, xscale="log", xlabel="b", title=name)
    return figure


def _draw_7(result: Row) -> Picture:
    figure, axes = new_figure(7, 4.5)
    for name, rows in _curves(result).items():
        line = "o-" if name in OF_THE_PAPER else "x:"
        axes.plot([row["rate"] for row in rows], [row["f1"] for row in rows], line, label=name)
    finish(axes, legend=9, xlabel="sampling rate", ylabel="F-measure, mean of categories")
    return figure


# --- Figure 8


def _jobs_8(seeds: int) -> list[Target]:
    return [Target(name, seeds) for name in reversed(ALGORITHMS)]


def _measure_8(job: Target) -> Row:
    """Find the least parameter that reaches the target on the grid, refine it, and run it."""
    wanted, b = stories().target, grid(job.algorithm)
    scores = [play(job.algorithm, each, 0).f1 for each in b]
    there = next((k for k, f1 in enumerate(scores) if f1 >= wanted), None)
    if there is None:
        return {"algorithm": job.algorithm, "parameter": None, "best": max(scores)}
    logs = np.log(b)
    parameter = b[0]
    if there:
        share = (wanted - scores[there - 1]) / (scores[there] - scores[there - 1])
        parameter = float(np.exp(logs[there - 1] + share * (logs[there] - logs[there - 1])))
    return {"algorithm": job.algorithm, "parameter": parameter} | _average(
        job.algorithm, parameter, job.seeds
    )._asdict()


def _report_8(found: list[tuple[Target, Row]], seeds: int) -> Row:
    points = [row for _, row in reversed(found)]
    return {"seeds": seeds, "data": stories().name, "target": stories().target, "points": points}


def _verdicts_8(result: Row) -> list[Row]:
    by_name = {row["algorithm"]: row for row in result["points"]}
    rates = [by_name[name].get("rate") for name in OF_THE_PAPER]
    said = ", ".join(
        f"{name} never" if rate is None else f"{name} {rate:.3f}"
        for name, rate in zip(OF_THE_PAPER, rates, strict=True)
    )
    first, ada, second = (1.0 if rate is None else rate for rate in rates)  # all are not enough
    ends = {
        name: (by_name[name]["block_rates"][0], by_name[name]["block_rates"][-1])
        for name in OF_THE_PAPER
        if "block_rates" in by_name[name]
    }
    moved = ", ".join(f"{name} from {a:.2f} to {b:.2f}" for name, (a, b) in ends.items())
    falls = [a > b for name, (a, b) in ends.items() if name != "SEL-ADA"]
    grows = [a < b for name, (a, b) in ends.items() if name == "SEL-ADA"]
    return [
        verdict("SEL-2ND needs the lowest rate, then SEL-P, then SEL-ADA", said,
                [second < first, first < ada]),
        verdict("SEL-2ND needs less than a sixth of SEL-P's rate (9 % against 60 %)", said,
                second < first / 6.0),
        verdict("the rates of SEL-P and SEL-2ND fall with time", moved, falls),
        verdict("the rate of SEL-ADA grows with time", "as above", grows),
    ]  # fmt: skip


def _text_8(result: Row) -> str:
    lines = []
    for row in result["points"]:
        if row["parameter"] is None:
            lines.append(f"{row['algorithm']}: never; its best F is {row['best']:.3f}")
            continue
        rates, scores = (
            " ".join(f"{number:.2f}" for number in row[key]) for key in ("block_rates", "block_f1")
        )
        lines += [
            f"{row['algorithm']:<18}parameter {row['parameter']:.4f}, F {row['f1']:.3f}, "
            f"rate {row['rate']:.3f}",
            f"{'':18}rate by block {rates}",
            f"{'':18}F by block    {scores}",
        ]
    return "\n".join(lines)


def _draw_8(result: Row) -> Picture:
    figure, (left, right) = new_figure(10, 4, 1, 2)
    for row in result["points"]:
        if row["parameter"] is not None:
            line = "o-" if row["algorithm"] in OF_THE_PAPER else "x:"
            left.plot(row["block_f1"], line, label=row["algorithm"])
            right.plot(row["block_rates"], line, label=row["algorithm"])
    finish(left, xlabel="block", ylabel="F-measure, mean of categories")
    finish(right, legend=9, xlabel="block", ylabel="sampling rate")
    return figure


FIGURE_6 = Parts(_jobs_6, _measure, _report_6, _text_6, _draw_6, _verdicts_6)
FIGURE_7 = Parts(_jobs_7, _measure, _report, _text, _draw_7, _verdicts_7)
FIGURE_8 = Parts(_jobs_8, _measure_8, _report_8, _text_8, _draw_8, _verdicts_8)
