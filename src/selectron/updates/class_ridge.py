"""Least squares of classes that join when a label names them, each label learnt once.

Only classes that a label has named compete, and labels of rare classes weigh more. With two classes
the rule keeps a prototype for each, as with many: the margin is how far one leads the other.
"""

from dataclasses import dataclass
from math import isfinite, nan
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from selectron.arrays import Matrix, Vector
from selectron.compiler.verbs import helper
from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import Row
from selectron.protocol import (
    Forecast,
    ManyForecast,
    chances,
    follow_scaling,
    glance,
    hypothesis,
    in_file,
    learn,
    predict,
)
from selectron.spec import NOT_NEGATIVE, Range, State, UpdateRule
from selectron.updates.covariance import (
    ClassBelief,
    all_compete,
    class_belief,
    lead_of,
    target_of,
    weight_of_label,
)
from selectron.updates.first_order import Lead, lead
from selectron.updates.low_rank import fresh_low_rank

MOST_WEIGHT = 4.0
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
    >>> from selectron import SelectiveClassifier, updates
    >>> clf = SelectiveClassifier(updates.ClassRidge(), "always")
    >>> clf.fit([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]], ["a", "b", "c"]).coef_.round(3).tolist()
    [[0.2, 0.4], [0.267, -0.3], [0.333, 0.0]]
    """

    rank: int = FULL
    RANGES: ClassVar = {"rank": Range(0, 10_000)}

    @property
    def by_products(self) -> bool:
        return self.rank != FULL

    def begin(self, d: int, dtype: DTypeLike) -> "TwoPrototypes":
        return TwoPrototypes(self.many(d, dtype, 2), 0.0, 0)

    def many(self, d: int, dtype: DTypeLike, n_classes: int) -> ClassBelief:
        rule = KnownClasses(np.zeros(n_classes))
        if self.rank == FULL:
            return class_belief(rule, d, 1.0, n_classes)
        store = fresh_low_rank(d, int(self.rank), n_classes)
        return ClassBelief(store, rule, np.zeros(n_classes), 0.0, 0)


class KnownClasses(NamedTuple):
    """The rule: only classes that a label has named compete."""

    counts: Vector  # labels of each class


@lead_of.of(KnownClasses)
def lead_of_known(rule: KnownClasses, scores: Vector) -> Lead:
    """Find the leader; a class that no label has named is put below all the others."""
    known, least = 0, 0.0
    for k in range(len(scores)):
        if rule.counts[k] > 0.0:
            least = scores[k] if known == 0 else min(least, scores[k])
            known += 1
    if known > 0:
        for k in range(len(scores)):
            if rule.counts[k] == 0.0:
                scores[k] = least - 1.0
    return lead(scores)


@all_compete.of(KnownClasses)
def all_are_known(rule: KnownClasses) -> bool:
    return bool((rule.counts > 0.0).all())


@weight_of_label.of(KnownClasses)
def count_label(rule: KnownClasses, label: int, rival: int, scores: Vector) -> float:
    """Count a label, and weigh it; a class that it is the first to name begins at score zero."""
    if rule.counts[label] == 0.0:
        scores[label] = 0.0
    rule.counts[label] += 1.0
    return weight_of(label, rule.counts)


@helper
def weight_of(label: int, counts: Vector) -> float:
    """Return what a label weighs: more if its class has less than its share of all labels."""
    known, labels = 0, 0.0
    for k in range(len(counts)):
        known += counts[k] > 0.0
        labels += counts[k]
    scarcity = np.float64(labels / known / counts[label])
    return min(max(scarcity, 1.0), MOST_WEIGHT)


@target_of.of(KnownClasses)
def one_sided_target(rule: KnownClasses, k: int, label: int, rival: int, score: float) -> float:
    """Return 1 or 0; a score beyond its target is no error, nor is that of an unknown class."""
    if rule.counts[k] == 0.0:
        return score
    return max(1.0, score) if k == label else min(0.0, score)


class TwoPrototypes(NamedTuple):
    """Two classes by a state that is made for many."""

    classes: State  # of two classes
    norm: float  # how far the two prototypes are apart
    n_updates: int


@helper
def product_with(classes: State, k: int) -> float:
    """Return the product of the row with prototype k, which is zero before its first label."""
    return np.float64(classes.scores[k] if classes.rule.counts[k] > 0.0 else 0.0)


@helper
def as_many(forecast: Forecast) -> ManyForecast:
    """Return what the state for many needs to know of a forecast for two."""
    first = 1 if forecast.margin > 0.0 else 0
    margin, unit, norm, variance, exact = forecast
    return ManyForecast(abs(margin), unit, norm, variance, exact, first, 1 - first)


@helper
def distance_between(prototypes: Matrix) -> float:
    total = 0.0
    for i in range(prototypes.shape[1]):
        apart = prototypes[1, i] - prototypes[0, i]
        total += apart * apart
    return sqrt(total)


@chances.of(TwoPrototypes)
def two_prototypes_chances(update: TwoPrototypes, margins: Vector) -> Matrix:
    found: Matrix = chances(update.classes, np.column_stack([np.zeros(len(margins)), margins]))
    return found


@follow_scaling.of(TwoPrototypes)
def two_prototypes_follow(update: TwoPrototypes, x: Row) -> TwoPrototypes:
    return TwoPrototypes(follow_scaling(update.classes, x), update.norm, update.n_updates)


@glance.of(TwoPrototypes)
def two_prototypes_glance(update: TwoPrototypes, x: Row) -> Forecast:
    classes = update.classes
    seen = glance(classes, x)
    margin = nan
    if isfinite(seen.margin):
        margin = product_with(classes, 1) - product_with(classes, 0)
    return Forecast(margin, seen.unit, update.norm, seen.variance, seen.exact)


@predict.of(TwoPrototypes)
def two_prototypes_predict(update: TwoPrototypes, x: Row, seen: Forecast) -> Forecast:
    exact = predict(update.classes, x, as_many(seen))
    return Forecast(seen.margin, exact.unit, update.norm, exact.variance, True)


@learn.of(TwoPrototypes)
def two_prototypes_learn(
    update: TwoPrototypes, x: Row, y: float, forecast: Forecast
) -> TwoPrototypes:
    classes = learn(update.classes, x, 1.0 if y > 0.0 else 0.0, as_many(forecast))
    return TwoPrototypes(classes, distance_between(classes.store.weights), update.n_updates + 1)


@hypothesis.of(TwoPrototypes)
def two_prototypes_hypothesis(update: TwoPrototypes) -> Vector:
    prototypes = hypothesis(update.classes)
    between: Vector = prototypes[1] - prototypes[0]
    return between


in_file(KnownClasses, counts=NOT_NEGATIVE)
in_file(TwoPrototypes, norm=NOT_NEGATIVE)
