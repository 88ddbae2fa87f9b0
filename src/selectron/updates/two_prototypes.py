"""Two classes by a rule that is made for many: the margin is how far one prototype leads."""

from math import isfinite, nan
from typing import Any, NamedTuple

from selectron.arrays import Matrix, Vector
from selectron.compiler.verbs import Verb, helper
from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import Row
from selectron.protocol import (
    Forecast,
    ManyForecast,
    follow_scaling,
    glance,
    hypothesis,
    learn,
    predict,
)
from selectron.updates.known_classes import product_with


class TwoPrototypesState(NamedTuple):
    classes: Any  # a state for many classes, of which there are two
    norm: float
    n_updates: int


@Verb
def separation(classes: Any) -> float:
    """Return how far the two prototypes of a state are apart."""


@helper
def of_classes(forecast: Forecast) -> ManyForecast:
    """Return what the rule for many needs to know of a forecast for two."""
    first = 1 if forecast.margin > 0.0 else 0
    return ManyForecast(
        abs(forecast.margin),
        forecast.unit,
        forecast.norm,
        forecast.variance,
        forecast.exact,
        first,
        1 - first,
    )


@helper
def distance_between(prototypes: Matrix) -> float:
    total = 0.0
    for i in range(prototypes.shape[1]):
        apart = prototypes[1, i] - prototypes[0, i]
        total += apart * apart
    return sqrt(total)


@follow_scaling.of(TwoPrototypesState)
def two_prototypes_follow(update: TwoPrototypesState, x: Row) -> TwoPrototypesState:
    return TwoPrototypesState(follow_scaling(update.classes, x), update.norm, update.n_updates)


@glance.of(TwoPrototypesState)
def two_prototypes_glance(update: TwoPrototypesState, x: Row) -> Forecast:
    classes = update.classes
    seen = glance(classes, x)
    margin = nan
    if isfinite(seen.margin):
        margin = product_with(1, classes.counts, classes.scores)
        margin -= product_with(0, classes.counts, classes.scores)
    return Forecast(margin, seen.unit, update.norm, seen.variance, seen.exact)


@predict.of(TwoPrototypesState)
def two_prototypes_predict(update: TwoPrototypesState, x: Row, seen: Forecast) -> Forecast:
    exact = predict(update.classes, x, of_classes(seen))
    return Forecast(seen.margin, exact.unit, update.norm, exact.variance, True)


@learn.of(TwoPrototypesState)
def two_prototypes_learn(
    update: TwoPrototypesState, x: Row, y: float, forecast: Forecast
) -> TwoPrototypesState:
    classes = learn(update.classes, x, 1.0 if y > 0.0 else 0.0, of_classes(forecast))
    return TwoPrototypesState(classes, separation(classes), update.n_updates + 1)


@hypothesis.of(TwoPrototypesState)
def two_prototypes_hypothesis(update: TwoPrototypesState) -> Vector:
    prototypes = hypothesis(update.classes)
    between: Vector = prototypes[1] - prototypes[0]
    return between
