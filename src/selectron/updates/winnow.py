"""Winnow [CBGZ06]: multiplicative steps inside the probability simplex."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from selectron.arrays import Matrix, Vector
from selectron.compiler.verbs import Verb, helper
from selectron.numeric.elementary import opposite_exponentials
from selectron.numeric.exponential_step import LEAST_WEIGHT, tilt_entries
from selectron.numeric.rows import DenseRow, Row, SparseRow, dot
from selectron.numeric.sums import lane_sum
from selectron.protocol import Forecast, already_exact, glance, hypothesis, in_file, learn, predict
from selectron.spec import POSITIVE, UpdateRule
from selectron.updates.first_order import is_mistake

# Unnormalised weights are brought back to sum one when their sum leaves this range.
LEAST_SUM, MOST_SUM = 1e-60, 1e60


@dataclass(frozen=True)
class Winnow(UpdateRule):
    """Multiply weight i by exp(eta y x_i) on a mistake, then normalise ([CBGZ06], section 3).

    Parameters
    ----------
    eta : float
        Learning rate > 0; Theorem 4 wants 2(1 - α)γ/X∞².
    balanced : bool
        Double the features to (x, -x), so that weights of either sign can be learnt.
    literal_ties : bool
        [CBGZ06] predicts -1 where the margin is 0, so that a tie is a mistake if y = +1 alone. By
        default every tie is one.

    Examples
    --------
    >>> from selectron import SelectiveClassifier, updates
    >>> clf = SelectiveClassifier(updates.Winnow(eta=0.5), "always")
    >>> clf.fit([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]], ["yes", "no", "no"]).coef_.round(3).tolist()
    [[0.231, 0.769]]
    """

    eta: float = 0.1
    balanced: bool = False
    literal_ties: bool = False
    RANGES: ClassVar = {"eta": POSITIVE}

    def begin(self, d: int, dtype: DTypeLike) -> "WinnowState":
        room, knobs = np.zeros((2, d)), (float(self.eta), bool(self.literal_ties))
        if self.balanced:
            up, down = np.full((2, d), 0.5 / d)
            return WinnowState(np.zeros(d), up, down, room, *knobs, 1.0, 0)
        even = np.full(d, 1.0 / d)
        return WinnowState(even, even, np.zeros(0), room, *knobs, 1.0, 0)


class WinnowState(NamedTuple):
    difference: Vector  # positive - negative: what predicts; the positive ones if not balanced
    positive: Vector  # not normalised: an update touches the stored entries only
    negative: Vector  # of the features -x, empty unless balanced
    factors: Matrix  # (2, d): room for the exponentials of a sparse row
    eta: float
    literal_ties: bool
    total: float  # the sum of all weights
    n_updates: int


@glance.of(WinnowState)
def winnow_glance(update: WinnowState, x: Row) -> Forecast:
    return Forecast(dot(x, update.difference) / update.total, 1.0, 1.0, 0.0, True)


predict.of(WinnowState)(already_exact)


@Verb
def tilt(x: Row, rate: float, update: WinnowState) -> float:
    """Multiply weight i by exp(rate x_i), its opposite by the inverse; return the new sum."""


@tilt.of(DenseRow)
def tilt_dense(x: DenseRow, rate: float, update: WinnowState) -> float:
    return np.float64(
        tilt_entries(x.values, rate, update.positive, update.negative, update.difference)
    )


@tilt.of(SparseRow)
def tilt_sparse(x: SparseRow, rate: float, update: WinnowState) -> float:
    difference, positive, negative = update.difference, update.positive, update.negative
    n = len(x.values)
    ups, downs = update.factors[0], update.factors[1]
    for k in range(n):  # on their own, so that the compiler takes several at once
        ups[k], downs[k] = opposite_exponentials(rate * np.float64(x.values[k]))
    grown = 0.0
    for k in range(n):
        i = x.indices[k]
        up = max(positive[i] * ups[k], LEAST_WEIGHT)
        grown += up - positive[i]
        positive[i] = up
        if len(negative) > 0:
            down = max(negative[i] * downs[k], LEAST_WEIGHT)
            grown += down - negative[i]
            negative[i] = down
            difference[i] = up - down
    return update.total + grown


@helper
def rescale(update: WinnowState) -> float:
    """Bring the weights back to sum one, but for rounding; return their sum.

    A sum that was kept up to date may have lost all its digits, so it is taken anew.
    """
    positive, negative = update.positive, update.negative
    factor = 1.0 / np.float64(lane_sum(positive) + lane_sum(negative))
    for i in range(len(positive)):
        positive[i] = max(positive[i] * factor, LEAST_WEIGHT)
    for i in range(len(negative)):
        negative[i] = max(negative[i] * factor, LEAST_WEIGHT)
        update.difference[i] = positive[i] - negative[i]
    return np.float64(lane_sum(positive) + lane_sum(negative))


@learn.of(WinnowState)
def winnow_learn(update: WinnowState, x: Row, y: float, forecast: Forecast) -> WinnowState:
    if not is_mistake(y, forecast.margin, update.literal_ties):
        return update
    total = tilt(x, update.eta * y, update)
    # A sum that shrank a thousandfold has lost digits.
    if not (LEAST_SUM < total < MOST_SUM) or total < 1e-3 * update.total:
        total = rescale(update)
    return update._replace(total=total, n_updates=update.n_updates + 1)


@hypothesis.of(WinnowState)
def winnow_hypothesis(update: WinnowState) -> Vector:
    return update.difference / update.total


in_file(WinnowState, "eta", "literal_ties", positive=POSITIVE, negative=POSITIVE, total=POSITIVE)
