"""Least squares of classes that join as they are met, each label learnt once."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.numeric.rows import Row, dot, square_norm
from selectron.numeric.symmetric import downdate, image, quadratic_form
from selectron.protocol import ManyForecast, glance, hypothesis, learn, predict
from selectron.spec import Range, UpdateRule
from selectron.updates.class_low_rank import ClassLowRankState, fresh_class_low_rank
from selectron.updates.covariance import SLACK, Covariance, positive_root, shared_covariance
from selectron.updates.known_classes import (
    count_label,
    lead_of_known,
    one_sided_residual,
    weight_of,
)
from selectron.updates.prototypes import frobenius
from selectron.updates.two_prototypes import TwoPrototypesState, distance_between, separation

FULL = 0


@dataclass(frozen=True)
class ClassRidge(UpdateRule):
    """Least squares on targets 1 for the label's class and 0 for the others, not beyond them.

    One A⁻¹ serves all classes. A score beyond its target is no error. A class does not compete
    before a label names it, and then begins with zeros; labels of a class that has had fewer than
    its share count for up to four.

    Parameters
    ----------
    rank : int
        0 keeps the whole of A⁻¹, d x d numbers. Otherwise A⁻¹ is known in the directions of the
        first `rank` labels, and is the identity elsewhere: for wide rows. 1 is first order, O(d).

    Examples
    --------
    >>> import numpy as np
    >>> from selectron import SelectiveClassifier
    >>> from selectron.queries import Always
    >>> from selectron.updates import ClassRidge
    >>> X = np.array([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]])
    >>> clf = SelectiveClassifier(ClassRidge(), Always()).fit(X, ["ant", "bee", "cow"])
    >>> clf.coef_.round(3).tolist()
    [[0.2, 0.4], [0.267, -0.3], [0.333, 0.0]]
    """

    rank: int = FULL
    RANGES: ClassVar = {"rank": Range(0, 10_000)}

    @property
    def by_products(self) -> bool:
        return self.rank != FULL

    def begin(self, d: int, dtype: Any) -> TwoPrototypesState:
        return TwoPrototypesState(self.many(d, dtype, 2), 0.0, 0)

    def many(self, d: int, dtype: Any, n_classes: int) -> "ClassRidgeState | ClassLowRankState":
        if self.rank != FULL:
            return fresh_class_low_rank(d, n_classes, int(self.rank))
        shared = shared_covariance(d, n_classes, 1.0)
        return ClassRidgeState(shared, np.zeros(n_classes), np.zeros(n_classes), 0.0, 0)


class ClassRidgeState(NamedTuple):
    covariance: Covariance  # its weights are (K, d)
    counts: Vector  # labels of each class
    scores: Vector
    norm: float
    n_updates: int


@glance.of(ClassRidgeState)
def class_ridge_glance(update: ClassRidgeState, x: Row) -> ManyForecast:
    weights, scores = update.covariance.weights, update.scores
    for k in range(len(scores)):
        scores[k] = dot(x, weights[k])
    found = lead_of_known(update.counts, scores)
    most = SLACK * square_norm(x)
    unit = positive_root(most)
    return ManyForecast(found.margin, unit, update.norm, most, False, found.best, found.second)


@predict.of(ClassRidgeState)
def class_ridge_predict(update: ClassRidgeState, x: Row, seen: ManyForecast) -> ManyForecast:
    covariance = update.covariance
    variance = max(quadratic_form(x, covariance.A_inv, covariance.support), 0.0)
    unit = positive_root(variance)
    return ManyForecast(seen.margin, unit, update.norm, variance, True, seen.best, seen.second)


@learn.of(ClassRidgeState)
def class_ridge_learn(
    update: ClassRidgeState, x: Row, y: float, forecast: ManyForecast
) -> ClassRidgeState:
    label = int(y)
    weights, A_inv, g, _ = update.covariance
    counts, scores = update.counts, update.scores
    image(x, A_inv, g)
    count_label(label, counts, scores)
    weight = weight_of(label, counts)
    share = weight / (1.0 + weight * forecast.variance)
    for k in range(len(weights)):
        step = share * one_sided_residual(k, label, counts, scores)
        if step != 0.0:
            row = weights[k]
            for i in range(len(row)):
                row[i] += step * g[i]
    downdate(A_inv, g, share)
    return update._replace(norm=frobenius(weights), n_updates=update.n_updates + 1)


@hypothesis.of(ClassRidgeState)
def class_ridge_hypothesis(update: ClassRidgeState) -> Matrix:
    return update.covariance.weights


@separation.of(ClassRidgeState)
def class_ridge_separation(update: ClassRidgeState) -> float:
    return distance_between(update.covariance.weights)
