"""A column of Table 4.1: the six algorithms tuned on the hold-out, then run on every fold."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from selectron.evaluate.first_passage import Curve, most_errors
from selectron.experiments.gram_engine import Table
from selectron.experiments.ocr_learners import Runs
from selectron.experiments.ocr_problems import PROBLEMS, Digits, Fold, draw, folds
from selectron.experiments.thesis_algorithms import (
    ALGORITHMS,
    Algorithm,
    Setting,
    run_algorithm,
    tune,
)
from selectron.experiments.thesis_table import TABLE

NEAR = 1.5  # cells further off than this factor are looked into
REPEATS, FIRST_REPEAT = 20, 100
ACCURACIES = tuple(round(0.8 + 0.005 * k, 3) for k in range(41))
LABELS = (*range(1, 20), *range(20, 100, 5), *range(100, 401, 20))


class ColumnJob(NamedTuple):
    """The six algorithms on one problem."""

    problem: int
    runs: int
    seed: int


def run_column(job: ColumnJob) -> dict[str, Any]:
    """Tune and run every algorithm; look into what comes out far from the thesis."""
    digits = PROBLEMS[job.problem]
    hold_out, sample = draw(digits, job.seed)
    small = Table.of(hold_out)
    small_folds = list(folds(digits, len(small.signs), job.runs, job.seed))
    settings = {
        name: tune(algorithm, small, small_folds, digits.error)
        for name, algorithm in ALGORITHMS.items()
    }
    table = Table.of(sample)
    large_folds = list(folds(digits, len(table.signs), job.runs, job.seed))
    allowed = [most_errors(digits.error, len(fold.test)) for fold in large_folds]
    cells = {}
    for name, algorithm in ALGORITHMS.items():
        setting = settings[name]
        curves = [run_algorithm(algorithm, setting, table, fold) for fold in large_folds]
        runs = Runs.of(curves, allowed)
        cells[name] = {
            "rate": setting.rate,
            "parameter": setting.parameter,
            "reached": runs.reached,
            "held": runs.held,
            "efficiency": efficiency(curves, large_folds),
            "learning": learning(curves, large_folds),
        }
        mean, _ = mean_and_share(runs.reached)
        theirs = TABLE[name][job.problem][0]
        if mean is None or not 1.0 / NEAR <= mean / theirs <= NEAR:
            cells[name] |= look_into(digits, table, algorithm, setting, large_folds)
    return cells


def mean_and_share(reached: Sequence[int | None]) -> tuple[float | None, float]:
    """Return the mean over the runs that got there, and their share."""
    there = [labels for labels in reached if labels is not None]
    return (float(np.mean(there)) if there else None), len(there) / len(reached)


def efficiency(curves: Sequence[Curve], used: Sequence[Fold]) -> list[float | None]:
    """Return mean labels to each accuracy, None where a run never got there (Figure 4-5)."""
    means = []
    for accuracy in ACCURACIES:
        reached = [
            curve.passage(most_errors(1.0 - accuracy, len(fold.test)))
            for curve, fold in zip(curves, used, strict=True)
        ]
        mean, share = mean_and_share(reached)
        means.append(mean if share == 1.0 else None)
    return means


def learning(curves: Sequence[Curve], used: Sequence[Fold]) -> list[float]:
    """Return the mean test error after each number of labels (Figure 4-6)."""
    errors = np.zeros((len(curves), len(LABELS)))
    for row, curve, fold in zip(errors, curves, used, strict=True):
        row[:] = curve.errors[np.searchsorted(curve.labels, LABELS, side="right") - 1]
        row /= len(fold.test)
    return [float(mean) for mean in errors.mean(axis=0)]


def look_into(
    digits: Digits, table: Table, algorithm: Algorithm, setting: Setting, used: Sequence[Fold]
) -> dict[str, Any]:
    """Measure other parameters on the same folds, and the mean of fifty folds on fresh ones.

    The fresh ones are those the thesis seems to describe: all ten of a run in one order.
    """

    def labels(chosen: Setting, these: Sequence[Fold]) -> tuple[float | None, float]:
        reached = []
        for fold in these:
            enough = most_errors(digits.error, len(fold.test))
            curve = run_algorithm(algorithm, chosen, table, fold, enough)
            reached.append(curve.passage(enough))
        return mean_and_share(reached)

    n, runs = len(table.signs), len(used) // 10
    seeds = range(FIRST_REPEAT, FIRST_REPEAT + REPEATS)
    again = [labels(setting, list(folds(digits, n, runs, s, own_order=False)))[0] for s in seeds]
    return {
        "sweep": [(p, *labels(setting._replace(parameter=p), used)) for p in algorithm.parameters],
        "again": sorted(mean for mean in again if mean is not None),
    }
