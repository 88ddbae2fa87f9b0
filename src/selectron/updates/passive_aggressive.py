"""Passive-Aggressive [CDKSS06]: the smallest step that gets the margin right."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from selectron.arrays import Vector
from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import Row, add_scaled, dot, square_norm
from selectron.protocol import Forecast, already_exact, glance, hypothesis, learn, predict
from selectron.spec import POSITIVE, UpdateRule
from selectron.updates.many_passive_aggressive import (
    ManyPassiveAggressiveState,
    fresh_many_passive_aggressive,
)


@dataclass(frozen=True)
class PassiveAggressive(UpdateRule):
    """Move to margin one, by at most C ([CDKSS06], PA-I; PA-II when squared).

    Parameters
    ----------
    C : float
        Aggressiveness > 0: the longest step (PA-I), or what a squared slack costs (PA-II).
    squared : bool
        Penalise the squared slack (PA-II).

    Examples
    --------
    >>> import numpy as np
    >>> from selectron import SelectiveClassifier
    >>> from selectron.queries import Always
    >>> from selectron.updates import PassiveAggressive
    >>> X = np.array([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]])
    >>> clf = SelectiveClassifier(PassiveAggressive(C=0.5), Always()).fit(X, ["yes", "no", "no"])
    >>> clf.coef_.round(3).tolist()
    [[-0.6, 0.7]]
    """

    C: float = 1.0
    squared: bool = False
    RANGES: ClassVar = {"C": POSITIVE}

    @property
    def by_products(self) -> bool:
        return True

    def begin(self, d: int, dtype: Any) -> "PassiveAggressiveState":
        return PassiveAggressiveState(
            np.zeros(d, dtype), float(self.C), bool(self.squared), 0.0, 0.0, 0
        )

    def many(self, d: int, dtype: Any, n_classes: int) -> "ManyPassiveAggressiveState":
        return fresh_many_passive_aggressive(d, dtype, n_classes, float(self.C), bool(self.squared))


class PassiveAggressiveState(NamedTuple):
    weights: Vector
    C: float
    squared: bool
    square_length: float
    norm: float
    n_updates: int


@glance.of(PassiveAggressiveState)
def passive_aggressive_glance(update: PassiveAggressiveState, x: Row) -> Forecast:
    return Forecast(dot(x, update.weights), 1.0, update.norm, 0.0, True)


predict.of(PassiveAggressiveState)(already_exact)


@learn.of(PassiveAggressiveState)
def passive_aggressive_learn(
    update: PassiveAggressiveState, x: Row, y: float, forecast: Forecast
) -> PassiveAggressiveState:
    loss = 1.0 - y * forecast.margin
    size = square_norm(x)
    if loss <= 0.0 or size == 0.0:
        return update
    size_with_slack = size + 0.5 / update.C
    step = y * (loss / size_with_slack if update.squared else min(update.C, loss / size))
    grown = update.square_length + step * (2.0 * forecast.margin + step * size)
    grown = max(grown, 0.0)
    add_scaled(x, step, update.weights)
    return update._replace(square_length=grown, norm=sqrt(grown), n_updates=update.n_updates + 1)


@hypothesis.of(PassiveAggressiveState)
def passive_aggressive_hypothesis(update: PassiveAggressiveState) -> Vector:
    return update.weights
