"""Logistic regression that forgets: Newton's steps, for labels whose meaning drifts."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from selectron.arrays import Matrix, Vector
from selectron.compiler.verbs import apart, helper
from selectron.numeric.elementary import exponential
from selectron.numeric.rows import DenseRow, Row, add_scaled, dot
from selectron.numeric.symmetric import image
from selectron.protocol import (
    Forecast,
    ManyForecast,
    already_exact,
    glance,
    hypothesis,
    in_file,
    learn,
    predict,
)
from selectron.spec import NOT_NEGATIVE, POSITIVE, State, UpdateRule
from selectron.tracking.changes import Mistakes, no_mistakes, noted, size_since_change
from selectron.tracking.forgetting_ridge import forget, hold_trace
from selectron.updates.covariance import LARGEST_WIDTH
from selectron.updates.first_order import lead

LEAST_CURVATURE = 1e-3  # of a label that was foreseen: it still teaches a little
MOST_LOG_ODDS = 30.0
WATCHED = 2000  # labels


@dataclass(frozen=True)
class ForgettingLogistic(UpdateRule):
    """Follow the logistic regression of the labels, each older one counting by f less.

    With p the chance of the class, h = p(1 - p), g = Ax and r = x·g: w += g (y - p) / (f + hr),
    then A = (A - h g gᵀ / (f + hr)) / f, as in Kalman's filter. With many classes p is that of
    the softmax, and each class has its own w and A. A starts at I/a, and its trace stays at or
    below where it started.

    Parameters
    ----------
    memory : float
        Labels a feature that count: f = 1 - 1/(memory · d). 0: nothing is forgotten, f = 1.
    watch : float
        Standard deviations by which the mistakes of late must exceed the earlier ones for a change
        of the concept; A then starts again at I/a, and the weights stay. 0: never.
    a : float
        Regularisation > 0.

    Examples
    --------
    >>> from selectron import SelectiveClassifier, tracking
    >>> clf = SelectiveClassifier(tracking.ForgettingLogistic(memory=2.0), "always")
    >>> clf.fit([[0.6, 0.8], [0.8, -0.6], [0.6, 0.8]], ["yes", "no", "no"]).coef_.round(3).tolist()
    [[-1.293, 0.266]]
    """

    memory: float = 20.0
    watch: float = 0.0
    a: float = 0.3
    RANGES: ClassVar = {"memory": NOT_NEGATIVE, "watch": NOT_NEGATIVE, "a": POSITIVE}

    def begin(self, d: int, dtype: DTypeLike) -> "LogisticState":
        return LogisticState(*self._fresh(d, 1))

    def many(self, d: int, dtype: DTypeLike, n_classes: int) -> "ManyLogisticState":
        return ManyLogisticState(np.zeros(n_classes), *self._fresh(d, n_classes))

    def _fresh(
        self, d: int, n: int
    ) -> tuple[Matrix, "Curvatures", Vector, Mistakes, float, float, int]:
        if n * d > LARGEST_WIDTH:
            raise ValueError(
                f"{self.label} keeps a {d} x {d} matrix for each class: above {LARGEST_WIDTH} "
                "features in all use a first-order rule such as HalfStep() or Perceptron()"
            )
        kept = 1.0 - 1.0 / max(self.memory * d, 2.0) if self.memory > 0 else 1.0
        A = np.zeros((n, d, d))
        A[:, range(d), range(d)] = 1.0 / self.a
        mistakes = no_mistakes(WATCHED if self.watch > 0 else 1, self.watch)
        return np.zeros((n, d)), A, np.zeros(d), mistakes, kept, float(self.a), 0


Curvatures = NDArray[np.float64]  # (K, d, d)


class LogisticState(NamedTuple):
    """The regression of two classes."""

    weights: Matrix  # (1, d)
    A: Curvatures  # the weighted Σ h x xᵀ + regularisation of each class, inverted
    image: Vector  # room for A x
    mistakes: Mistakes
    kept: float  # f
    a: float
    n_updates: int


class ManyLogisticState(NamedTuple):
    """The regression of many classes."""

    scores: Vector  # the chance of each class
    weights: Matrix  # (K, d)
    A: Curvatures
    image: Vector
    mistakes: Mistakes
    kept: float
    a: float
    n_updates: int


@helper
def logistic(log_odds: float) -> float:
    """Return the chance of these log-odds, which are cut at ±30."""
    return 1.0 / (1.0 + exponential(-min(max(log_odds, -MOST_LOG_ODDS), MOST_LOG_ODDS)))


@helper
def newton_step(update: State, k: int, x: Row, target: float, chance: float) -> None:
    """Move the weights of one class towards its target, and learn how well they are known."""
    weights, A, g, kept = update.weights[k], update.A[k], update.image, update.kept
    curvature = max(chance * (1.0 - chance), LEAST_CURVATURE)
    image(x, A, g)
    share = 1.0 / (kept + curvature * max(dot(x, g), 0.0))
    add_scaled(DenseRow(g), (target - chance) * share, weights)
    forget(A, g, curvature * share, kept)
    hold_trace(A, len(weights) / update.a)


@helper
def know_less(A: Curvatures, a: float) -> None:
    """Start all A at I/a again."""
    for k in range(len(A)):
        for i in range(len(A[k])):
            A[k, i] = 0.0
            A[k, i, i] = 1.0 / a


@helper
def looked_back(mistakes: Mistakes, mistaken: bool, A: Curvatures, a: float) -> Mistakes:
    """Note a label; if the concept has changed, forget how well the weights were known."""
    now = noted(mistakes, mistaken)
    size = size_since_change(now)
    if size < now.size:
        know_less(A, a)
    return now._replace(size=size)


@glance.of(LogisticState)
def logistic_glance(update: LogisticState, x: Row) -> Forecast:
    log_odds = dot(x, update.weights[0])
    # NaN must reach the margin, where the pass looks for it.
    margin = 2.0 * logistic(log_odds) - 1.0 if log_odds - log_odds == 0.0 else log_odds
    return Forecast(margin, 1.0, 1.0, 0.0, True)


@glance.of(ManyLogisticState)
@apart
def many_logistic_glance(update: ManyLogisticState, x: Row) -> ManyForecast:
    scores = update.scores
    most, total = 0.0, 0.0
    for k in range(len(scores)):
        scores[k] = dot(x, update.weights[k])
        most = scores[k] if k == 0 else max(most, scores[k])
    for k in range(len(scores)):
        scores[k] = exponential(scores[k] - most) if scores[k] - scores[k] == 0.0 else scores[k]
        total += scores[k]
    for k in range(len(scores)):
        scores[k] /= total
    found = lead(scores)
    return ManyForecast(found.margin, 1.0, 1.0, 0.0, True, found.best, found.second)


predict.of(LogisticState, ManyLogisticState)(already_exact)


@learn.of(LogisticState)
@apart
def logistic_learn(update: LogisticState, x: Row, y: float, forecast: Forecast) -> LogisticState:
    plus = y > 0.0
    mistaken = (forecast.margin > 0.0) != plus
    mistakes = looked_back(update.mistakes, mistaken, update.A, update.a)
    newton_step(update, 0, x, 1.0 if plus else 0.0, logistic(dot(x, update.weights[0])))
    return update._replace(mistakes=mistakes, n_updates=update.n_updates + 1)


@learn.of(ManyLogisticState)
@apart
def many_logistic_learn(
    update: ManyLogisticState, x: Row, y: float, forecast: ManyForecast
) -> ManyLogisticState:
    label = int(y)
    mistakes = looked_back(update.mistakes, forecast.best != label, update.A, update.a)
    for k in range(len(update.scores)):
        newton_step(update, k, x, 1.0 if k == label else 0.0, update.scores[k])
    return update._replace(mistakes=mistakes, n_updates=update.n_updates + 1)


@hypothesis.of(LogisticState)
def logistic_hypothesis(update: LogisticState) -> Vector:
    weights: Vector = update.weights[0]
    return weights


@hypothesis.of(ManyLogisticState)
def many_logistic_hypothesis(update: ManyLogisticState) -> Matrix:
    return update.weights


in_file(LogisticState, "kept", "a")
in_file(ManyLogisticState, "kept", "a")
