"""Winnow [CBGZ06]: multiplicative steps inside the probability simplex."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from selectron.dispatch import helper
from selectron.numeric.arrays import Vector
from selectron.numeric.elementary import exponential
from selectron.numeric.rows import Row, dot, entry_index, n_entries
from selectron.protocol import Forecast, already_exact, glance, hypothesis, learn, predict
from selectron.spec import POSITIVE, Spec

# Unnormalised weights are brought back to sum one when their sum leaves this range.
LEAST_SUM, MOST_SUM = 1e-60, 1e60
LEAST_WEIGHT = 1e-290  # above the slow subnormal numbers; a weight of exactly 0 could never return


@dataclass(frozen=True)
class Winnow(Spec):
    """Multiply weight i by exp(eta y x_i) on a mistake, then normalise ([CBGZ06], section 3).

    Parameters
    ----------
    eta : float
        Learning rate > 0; Theorem 4 wants 2(1 - α)γ/X∞².
    balanced : bool
        Double the features to (x, -x), so that weights of either sign can be learnt.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron import SelectiveClassifier
    >>> from selectron.queries import Always
    >>> from selectron.updates import Winnow
    >>> X = np.array([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]])
    >>> clf = SelectiveClassifier(Winnow(eta=0.5), Always()).fit(X, ["yes", "no", "no"])
    >>> clf.coef_.round(3).tolist()
    [[0.231, 0.769]]
    """

    eta: float = 0.1
    balanced: bool = False
    RANGES: ClassVar = {"eta": POSITIVE}

    def begin(self, d: int, dtype: Any) -> "WinnowState":
        sides = 2 if self.balanced else 1
        return WinnowState(
            np.full(d, 1.0 / (sides * d)),
            np.full(d if self.balanced else 0, 1.0 / (sides * d)),
            float(self.eta),
            1.0,
            0,
        )


class WinnowState(NamedTuple):
    positive: Vector  # not normalised: an update touches the stored entries only
    negative: Vector  # of the features -x, empty unless balanced
    eta: float
    total: float  # the sum of all weights
    n_updates: int


@glance.of(WinnowState)
def winnow_glance(update: WinnowState, x: Row) -> Forecast:
    raw = dot(x, update.positive)
    if len(update.negative) > 0:
        raw -= dot(x, update.negative)
    return Forecast(raw / update.total, 1.0, 1.0, 0.0, True)


predict.of(WinnowState)(already_exact)


@helper
def tilt(x: Row, rate: float, weights: Vector) -> float:
    """Multiply weight i by exp(rate x_i); return by how much their sum grew."""
    grown = 0.0
    for k in range(n_entries(x)):
        i = entry_index(x, k)
        before = weights[i]
        after = max(before * exponential(rate * x.values[k]), LEAST_WEIGHT)
        weights[i] = after
        grown += after - before
    return grown


@helper
def rescale(weights: Vector, factor: float) -> float:
    total = 0.0
    for i in range(len(weights)):
        weights[i] = max(weights[i] * factor, LEAST_WEIGHT)
        total += weights[i]
    return total


@learn.of(WinnowState)
def winnow_learn(update: WinnowState, x: Row, y: float, forecast: Forecast) -> WinnowState:
    if y * forecast.margin > 0.0:
        return update
    total = update.total + tilt(x, update.eta * y, update.positive)
    if len(update.negative) > 0:
        total += tilt(x, -update.eta * y, update.negative)
    # A sum that shrank a thousandfold has lost digits: it is taken anew.
    if not (LEAST_SUM < total < MOST_SUM) or total < 1e-3 * update.total:
        factor = 1.0 / max(total, LEAST_WEIGHT)
        total = rescale(update.positive, factor) + rescale(update.negative, factor)
    return WinnowState(update.positive, update.negative, update.eta, total, update.n_updates + 1)


@hypothesis.of(WinnowState)
def winnow_hypothesis(update: WinnowState) -> Vector:
    if len(update.negative) > 0:
        return (update.positive - update.negative) / update.total
    return update.positive / update.total
