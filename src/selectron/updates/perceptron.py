"""The Perceptron [Ng]: on a mistake, add the example."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from selectron.arrays import Vector
from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import Row, add_scaled, dot, square_norm
from selectron.protocol import Forecast, already_exact, glance, hypothesis, learn, predict
from selectron.spec import POSITIVE, UpdateRule
from selectron.updates.many_perceptron import ManyPerceptronState, fresh_many_perceptron


@dataclass(frozen=True)
class Perceptron(UpdateRule):
    """Add eta y x to the weights on every mistake that is seen ([Ng]; [CBGZ06], Figure 1).

    Parameters
    ----------
    eta : float
        Step > 0. It scales the weights and nothing else, since they start at zero.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron import SelectiveClassifier
    >>> from selectron.queries import Always
    >>> from selectron.updates import Perceptron
    >>> X = np.array([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]])
    >>> clf = SelectiveClassifier(Perceptron(), Always()).fit(X, ["yes", "no", "no"])
    >>> clf.coef_.round(3).tolist()
    [[-0.2, 1.4]]
    """

    eta: float = 1.0
    RANGES: ClassVar = {"eta": POSITIVE}

    @property
    def by_products(self) -> bool:
        return True

    def begin(self, d: int, dtype: Any) -> "PerceptronState":
        return PerceptronState(np.zeros(d, dtype), float(self.eta), 0.0, 0.0, 0)

    def many(self, d: int, dtype: Any, n_classes: int) -> "ManyPerceptronState":
        return fresh_many_perceptron(d, dtype, n_classes, float(self.eta))


class PerceptronState(NamedTuple):
    weights: Vector
    eta: float
    square_length: float  # of the weights, kept up to date in O(nnz)
    norm: float  # its root, taken at updates: most rounds have none
    n_updates: int


@glance.of(PerceptronState)
def perceptron_glance(update: PerceptronState, x: Row) -> Forecast:
    norm = update.norm
    return Forecast(dot(x, update.weights), norm if norm > 0.0 else 1.0, norm, 0.0, True)


predict.of(PerceptronState)(already_exact)


@learn.of(PerceptronState)
def perceptron_learn(
    update: PerceptronState, x: Row, y: float, forecast: Forecast
) -> PerceptronState:
    if y * forecast.margin > 0.0:
        return update
    step = update.eta * y
    grown = update.square_length + step * (2.0 * forecast.margin + step * square_norm(x))
    grown = max(grown, 0.0)
    add_scaled(x, step, update.weights)
    return PerceptronState(update.weights, update.eta, grown, sqrt(grown), update.n_updates + 1)


@hypothesis.of(PerceptronState)
def perceptron_hypothesis(update: PerceptronState) -> Vector:
    return update.weights
