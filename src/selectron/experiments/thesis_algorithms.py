"""The six algorithms of [Mon06], section 4.6.1, and how they are tuned on a hold-out."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from selectron.evaluate.first_passage import Curve, most_errors
from selectron.experiments.gram_engine import Table, run_fold
from selectron.experiments.ocr_problems import Fold
from selectron.queries import Halving, Margin, Uniform
from selectron.spec import QueryRule

RATES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0)
REFLECTING = (0.0,)
PATIENCES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 50)
WIDTHS = tuple(2.0**k for k in range(-14, 6))
NEVER = 5.0  # a run that does not get there counts as this many streams of labels


class Algorithm(NamedTuple):
    """An update with its rates (0 reflects), a query rule with its parameters."""

    rates: tuple[float, ...]
    query: Callable[[float], QueryRule]
    parameters: tuple[float, ...]


class Setting(NamedTuple):
    rate: float
    parameter: float


def halving(patience: float) -> QueryRule:
    return Halving(int(patience), start=1.0)


def margin(b: float) -> QueryRule:
    return Margin(b)


def half_of_the_rows(_: float) -> QueryRule:
    return Uniform(0.5)


ALGORITHMS = {
    "DKM²": Algorithm(REFLECTING, halving, PATIENCES),
    "DKM active + Perceptron": Algorithm(RATES, halving, PATIENCES),
    "CBGZ + DKM update": Algorithm(REFLECTING, margin, WIDTHS),
    "CBGZ + Perceptron": Algorithm(RATES, margin, WIDTHS),
    "random + DKM update": Algorithm(REFLECTING, half_of_the_rows, (0.0,)),
    "random + Perceptron": Algorithm(RATES, half_of_the_rows, (0.0,)),
}


def run_algorithm(
    algorithm: Algorithm, setting: Setting, table: Table, fold: Fold, enough: int = -1
) -> Curve:
    query = algorithm.query(setting.parameter)
    return run_fold(table, fold, query, eta=setting.rate, enough=enough)


def tune(algorithm: Algorithm, table: Table, folds: Sequence[Fold], error: float) -> Setting:
    """Return the setting that needs the fewest labels to this error, over all folds.

    Of equals the first is taken: small rates, short patience, narrow widths.
    """
    settings = [Setting(r, p) for r in algorithm.rates for p in algorithm.parameters]
    if len(settings) == 1:
        return settings[0]
    costs = [_cost(algorithm, setting, table, folds, error) for setting in settings]
    return settings[int(np.argmin(costs))]


def _cost(
    algorithm: Algorithm, setting: Setting, table: Table, folds: Sequence[Fold], error: float
) -> float:
    total = 0.0
    for fold in folds:
        enough = most_errors(error, len(fold.test))
        reached = run_algorithm(algorithm, setting, table, fold, enough).passage(enough)
        total += NEVER * len(fold.train) if reached is None else reached
    return total
