"""Ten classes: labels to an error for the default, and how soon it knows a class that is late."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from selectron.evaluate.plots import write_figure
from selectron.experiments.multiclass_problems import NEWS, PROBLEMS
from selectron.experiments.multiclass_runs import (
    DEFAULT,
    FIRST_ORDER,
    LEARNERS,
    PEER,
    Job,
    LateJob,
    work,
)
from selectron.experiments.multiclass_text import text
from selectron.experiments.newsgroups import news_file
from selectron.experiments.ocr_problems import require_files
from selectron.experiments.processes import in_processes
from selectron.experiments.registry import Experiment
from selectron.experiments.thesis_runs import mean_and_share

RUNS = 10
LATE_RUNS = 4 * RUNS  # a few classes take very long: ten streams say little about a mean


def steps(seeds: int | None) -> int:
    return len(_jobs(seeds or RUNS))


def run(seeds: int | None, tick: Callable[[], Any]) -> dict[str, Any]:
    """Run every learner on the same streams; `seeds` is how many of them."""
    require_files()
    jobs = _jobs(seeds or RUNS)
    return summary(list(zip(jobs, in_processes(work, jobs, tick), strict=True)))


def summary(found: list[tuple[Job | LateJob, list[int | None]]]) -> dict[str, Any]:
    """Return a cell for every learner, problem and error, and the rows of the late classes."""
    runs = [(job, done) for job, done in found if isinstance(job, Job)]
    names = dict.fromkeys(job.learner for job, _ in runs)
    played = {job[:2] for job, _ in runs}
    cells = [
        _cell(name, k, error, [done[i] for job, done in runs if job[:2] == (name, k)])
        for name in names
        for k, problem in enumerate(PROBLEMS)
        if (name, k) in played
        for i, error in enumerate(problem.errors)
    ]
    late = [rows for job, done in found if isinstance(job, LateJob) for rows in done]
    missing = [] if PEER in names else [PEER]
    missing += [] if NEWS.name in {cell["problem"] for cell in cells} else [NEWS.name]
    return {"experiment": "multiclass", "cells": cells, "late": late, "missing": missing}


def _jobs(runs: int) -> list[Job | LateJob]:
    names = [*LEARNERS, *([PEER] if find_spec("skactiveml") else [])]
    jobs: list[Job | LateJob] = [
        Job(name, k, seed)
        for name in names
        for k, problem in enumerate(PROBLEMS)
        if problem is not NEWS or (name != PEER and news_file() is not None)
        for seed in range(runs)
    ]
    return jobs + [LateJob(seed) for seed in range(runs * LATE_RUNS // RUNS)]


def _cell(name: str, problem: int, error: float, reached: list[int | None]) -> dict[str, Any]:
    mean, share = mean_and_share(reached)
    there = [labels for labels in reached if labels is not None]
    return {
        "learner": name,
        "problem": PROBLEMS[problem].name,
        "error": error,
        "mean": mean,
        "sd": float(np.std(there)) if there else None,
        "reach": share,
        "reached": reached,
    }


def plot(result: dict[str, Any], path: Path) -> None:
    """Draw the labels of every learner against the error."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    figure = Figure(figsize=(11, 4), layout="constrained")
    styles = {DEFAULT: "k*-", FIRST_ORDER: "C0o-", PEER: "C3s-"}
    panels = figure.subplots(1, len(PROBLEMS))
    for axes, problem in zip(panels, PROBLEMS, strict=True):
        for name in dict.fromkeys(cell["learner"] for cell in result["cells"]):
            cells = [c for c in result["cells"]
                     if c["learner"] == name and c["problem"] == problem.name
                     and c["reach"] == 1.0]  # fmt: skip
            axes.plot([100 * cell["error"] for cell in cells], [cell["mean"] for cell in cells],
                      styles.get(name, "C7^--"), label=name)  # fmt: skip
        axes.set(title=problem.name, yscale="log", xlabel="test error, %")
        axes.invert_xaxis()
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("labels, where all runs get there")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, fontsize=8)
    write_figure(figure, path)


MULTICLASS = Experiment(
    f"ten classes: labels to an error, and a class that comes late ({RUNS} streams a problem)",
    steps,
    run,
    text,
    plot,
    reads_data=True,
)
