"""Labels to learn digits, [Mon06] Table 4.1: its six algorithms, and ours without a knob."""

from collections.abc import Callable
from typing import Any

import numpy as np

from selectron.experiments.mon06_table_4_1_plot import plot
from selectron.experiments.mon06_table_4_1_text import text
from selectron.experiments.ocr_learners import DEFAULT, LEARNERS, LearnerJob, Runs, run_learner
from selectron.experiments.ocr_problems import FOLDS, PROBLEMS, require_files
from selectron.experiments.processes import in_processes
from selectron.experiments.registry import Experiment
from selectron.experiments.thesis_algorithms import ALGORITHMS
from selectron.experiments.thesis_runs import ColumnJob, mean_and_share, run_column
from selectron.experiments.thesis_table import BEST, COMPARISONS, TABLE, significance

RUNS = 5
SEEDS = (1, 2, 3)  # of rows, folds and coins; the six and our older learners run on the first
COLUMNS = range(len(PROBLEMS))


def steps(seeds: int | None) -> int:
    return len(_learner_jobs(seeds or RUNS)) + len(COLUMNS)


def run(seeds: int | None, tick: Callable[[], Any]) -> dict[str, Any]:
    """Run everything on all cores; `seeds` is the number of tenfold runs, 5 in the thesis."""
    require_files()
    runs = seeds or RUNS
    jobs = _learner_jobs(runs)
    columns = [ColumnJob(problem, runs, SEEDS[0]) for problem in COLUMNS]
    # The long ones first: nobody waits for the last of them alone.
    everything: list[ColumnJob | LearnerJob] = [*columns, *jobs]
    found = in_processes(_work, everything, tick)
    thesis, ours = found[: len(columns)], found[len(columns) :]
    cells = [_thesis_cell(name, k, thesis[k][name]) for name in ALGORITHMS for k in COLUMNS]
    rows = [_our_cell(job, runs) for job, runs in zip(jobs, ours, strict=True)]
    return {
        "experiment": "mon06-table-4.1",
        "folds": runs * FOLDS,
        "seeds": list(SEEDS),
        "cells": cells,
        "learners": rows,
        "comparisons": _comparisons(cells),
        "wins": _wins(cells, rows),
    }


def _learner_jobs(runs: int) -> list[LearnerJob]:
    default = [(DEFAULT, seed) for seed in SEEDS]
    others = [(name, SEEDS[0]) for name in LEARNERS if name != DEFAULT]
    return [LearnerJob(name, k, runs, seed) for name, seed in default + others for k in COLUMNS]


def _work(job: ColumnJob | LearnerJob) -> Any:
    return run_column(job) if isinstance(job, ColumnJob) else run_learner(job)


def _thesis_cell(name: str, problem: int, found: dict[str, Any]) -> dict[str, Any]:
    mean, deviation = TABLE[name][problem]
    row = {"algorithm": name, "problem": PROBLEMS[problem].name}
    measured = _measures(Runs(found["reached"], found["held"]))
    theirs = {"thesis_mean": mean, "thesis_sd": deviation}
    ratio = None if measured["mean"] is None else measured["mean"] / mean
    return row | found | measured | theirs | {"ratio_to_thesis": ratio}


def _our_cell(job: LearnerJob, runs: Runs) -> dict[str, Any]:
    row = {"learner": job.learner, "seed": job.seed, "problem": PROBLEMS[job.problem].name}
    measured = _measures(runs)
    mean = measured["mean"]
    ratio = None if mean is None else mean / BEST[job.problem]
    return row | runs._asdict() | measured | {"ratio_to_best_of_thesis": ratio}


def _measures(runs: Runs) -> dict[str, Any]:
    mean, share = mean_and_share(runs.reached)
    held_mean, held_share = mean_and_share(runs.held)
    there = [labels for labels in runs.reached if labels is not None]
    return {
        "mean": mean,
        "sd": float(np.std(there)) if there else None,
        "most": max(there, default=None),
        "reach": share,
        "held_mean": held_mean,
        "held_reach": held_share,
    }


def _comparisons(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    means = {
        name: [cell["mean"] for cell in cells if cell["algorithm"] == name] for name in ALGORITHMS
    }
    return [
        {"fewer": a, "more": b, "thesis_p": p, "p": significance(means[a], means[b])}
        for a, b, p in COMPARISONS
        if None not in means[a] + means[b]
    ]


def _wins(cells: list[dict[str, Any]], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Compare the default with the best tuned algorithm of each column, fold by fold."""
    found = []
    for k in COLUMNS:
        name = PROBLEMS[k].name
        column = [cell for cell in cells if cell["problem"] == name and cell["mean"] is not None]
        best = min(column, key=lambda cell: cell["mean"])
        ours = next(r for r in rows if r["learner"] == DEFAULT and r["problem"] == name)
        pairs = zip(ours["reached"], best["reached"], strict=True)
        won = sum(a is not None and (b is None or a < b) for a, b in pairs)
        found.append({"problem": name, "against": best["algorithm"], "folds_won": won})
    return found


TABLE_4_1 = Experiment(
    "labels to learn handwritten digits, [Mon06] Table 4.1 and Figures 4-5 and 4-6, and ours",
    steps,
    run,
    text,
    plot,
    reads_data=True,
)
