"""Tune the six algorithms of [Mon06], section 4.6.1, on a hold-out, and run them on every fold."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from selectron.evaluate.first_passage import Curve, most_errors
from selectron.queries import Halving, Margin, Uniform
from selectron.reproduce.harness import Labels, Reach
from selectron.reproduce.harness.experiment import Row
from selectron.reproduce.mon06.digits import (
    PROBLEMS,
    Digits,
    Fold,
    Runs,
    draw_sample,
    folds,
    passages,
)
from selectron.reproduce.mon06.gram_engine import Table, run_fold
from selectron.spec import QueryRule

RATES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0)
REFLECTING = (0.0,)
PATIENCES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 50)
WIDTHS = tuple(2.0**k for k in range(-14, 6))
NEVER = 5.0  # a run that does not reach the error counts as this many streams of labels
NEAR = 1.5  # cells further off than this factor are looked into
REPEATS, FIRST_REPEAT = 20, 100
ACCURACIES = tuple(round(0.8 + 0.005 * k, 3) for k in range(41))
LABELS = (*range(1, 20), *range(20, 100, 5), *range(100, 401, 20))


class Setting(NamedTuple):
    rate: float
    parameter: float


class Algorithm(NamedTuple):
    """An update with its rates (0 reflects), a query rule with its parameters.

    From zero, as in Figure 4-4, the first label adds rate y x. Else it makes the hypothesis y x.
    """

    rates: tuple[float, ...]
    query: Callable[[float], QueryRule]
    parameters: tuple[float, ...]
    from_zero: bool = False

    def run(self, setting: Setting, table: Table, fold: Fold, enough: int = -1) -> Curve:
        """Run over a fold, to its end or until no more than `enough` errors are left."""
        first = setting.rate if self.from_zero else 1.0
        query = self.query(setting.parameter)
        return run_fold(table, fold, query, eta=setting.rate, first=first, enough=enough)


def halving(patience: float) -> QueryRule:
    return Halving(int(patience), start=1.0)


ALGORITHMS = {
    "DKM²": Algorithm(REFLECTING, halving, PATIENCES),
    "DKM active + Perceptron": Algorithm(RATES, halving, PATIENCES),
    "CBGZ + DKM update": Algorithm(REFLECTING, Margin, WIDTHS),
    "CBGZ + Perceptron": Algorithm(RATES, Margin, WIDTHS),
    "random + DKM update": Algorithm(REFLECTING, lambda _: Uniform(0.5), (0.0,)),
    "random + Perceptron": Algorithm(RATES, lambda _: Uniform(0.5), (0.0,)),
}


def labels_to(
    error: float, algorithm: Algorithm, setting: Setting, table: Table, used: Sequence[Fold]
) -> Labels:
    """Return the labels until the error is reached first, in every fold."""
    reached = []
    for fold in used:
        enough = most_errors(error, len(fold.test))
        reached.append(algorithm.run(setting, table, fold, enough).passage(enough))
    return reached


def tune(algorithm: Algorithm, table: Table, used: Sequence[Fold], error: float) -> Setting:
    """Return the setting that needs the fewest labels to this error, over all folds.

    Of equals the first is taken: small rates, short patience, narrow widths.
    """
    settings = [Setting(r, p) for r in algorithm.rates for p in algorithm.parameters]
    if len(settings) == 1:
        return settings[0]
    return min(settings, key=lambda setting: cost(algorithm, setting, table, used, error))


def cost(
    algorithm: Algorithm, setting: Setting, table: Table, used: Sequence[Fold], error: float
) -> float:
    """Add up the labels of all folds."""
    reached = zip(labels_to(error, algorithm, setting, table, used), used, strict=True)
    return sum(NEVER * len(fold.train) if n is None else n for n, fold in reached)


class ColumnJob(NamedTuple):
    """The six algorithms on one problem."""

    problem: int
    runs: int
    seed: int


def run_column(job: ColumnJob, theirs: dict[str, float]) -> Row:
    """Tune and run every algorithm; look into what comes out far from `theirs`, the thesis's."""
    digits = PROBLEMS[job.problem]
    (small, few), (table, used) = (
        (Table.of(part), list(folds(digits, len(part.signs), job.runs, job.seed)))
        for part in draw_sample(digits, job.seed)
    )
    cells = {}
    for name, algorithm in ALGORITHMS.items():
        setting = tune(algorithm, small, few, digits.error)
        curves = [algorithm.run(setting, table, fold) for fold in used]
        runs = Runs.of(curves, digits.error, used)
        figures = {"efficiency": efficiency(curves, used), "learning": learning(curves, used)}
        cells[name] = setting._asdict() | runs._asdict() | figures
        mean = Reach.of(runs.reached).mean
        if mean is None or not 1.0 / NEAR <= mean / theirs[name] <= NEAR:
            cells[name] |= look_into(digits, table, algorithm, setting, used)
    return cells


def efficiency(curves: Sequence[Curve], used: Sequence[Fold]) -> list[float | None]:
    """Return mean labels to each accuracy, None where a run never got there (Figure 4-5)."""
    reaches = (Reach.of(passages(curves, 1.0 - accuracy, used)) for accuracy in ACCURACIES)
    return [found.mean if found.reach == 1.0 else None for found in reaches]


def learning(curves: Sequence[Curve], used: Sequence[Fold]) -> list[float]:
    """Return the mean test error after each number of labels (Figure 4-6)."""
    errors = np.zeros((len(curves), len(LABELS)))
    for row, curve, fold in zip(errors, curves, used, strict=True):
        row[:] = curve.errors[np.searchsorted(curve.labels, LABELS, side="right") - 1]
        row /= len(fold.test)
    return [float(mean) for mean in errors.mean(axis=0)]


def look_into(
    digits: Digits, table: Table, algorithm: Algorithm, setting: Setting, used: Sequence[Fold]
) -> Row:
    """Measure other parameters on the same folds, and the mean of fifty folds on fresh ones.

    The fresh ones are those the thesis seems to describe: all ten of a run in one order.
    """
    n, runs, again, sweep = len(table.signs), len(used) // 10, [], []
    for seed in range(FIRST_REPEAT, FIRST_REPEAT + REPEATS):
        fresh = list(folds(digits, n, runs, seed, own_order=False))
        again.append(Reach.of(labels_to(digits.error, algorithm, setting, table, fresh)).mean)
    for parameter in algorithm.parameters:
        other = setting._replace(parameter=parameter)
        found = Reach.of(labels_to(digits.error, algorithm, other, table, used))
        sweep.append((parameter, found.mean, found.reach))
    return {"sweep": sweep, "again": sorted(mean for mean in again if mean is not None)}
