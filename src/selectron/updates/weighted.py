"""Labels that weigh more or less than one: each is taught to the rule within so many times.

This is no rule of a paper. It is how `class_weight=` reaches any update rule: a label of weight w
teaches as w labels of the same row do. The forecast is made anew before each repetition. What is
left of w below one is carried over to the next label of that class, so that no coin is needed.

A repetition is a lesson, and no news: whether a label refutes all that was learnt, as `Probit` asks
itself, it is asked once (`learn_again`). Else five labels of one row, wrong together, would pass
for a concept that has changed.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from selectron.arrays import DType, Matrix, Vector
from selectron.compiler.verbs import helper
from selectron.numeric.rows import Row
from selectron.protocol import (
    AnyForecast,
    Forecast,
    ManyForecast,
    catch_up,
    chances,
    class_of,
    follow_scaling,
    glance,
    hypothesis,
    in_file,
    learn,
    learn_again,
    postpone,
    predict,
    product_weights,
    room_for,
    set_odds,
    warm_up,
    write_details,
)
from selectron.spec import NOT_NEGATIVE, Range, State, UpdateRule

Weights: TypeAlias = tuple[tuple[Any, float], ...] | str  # pairs of a label and its weight
BALANCED = "balanced"
MOST_AT_ONCE = 100.0  # a larger weight counts as this one: a label must not hold up a stream
SLACK = 1e-9  # ten labels of a tenth are one label, whatever rounding makes of their sum


@dataclass(frozen=True)
class Weighted(UpdateRule):
    """Teach a rule every label as often as its class weighs.

    Parameters
    ----------
    update : update rule
    weights : pairs of a label and its weight, or "balanced"
        Labels that are not named weigh 1. "balanced" weighs a label of class k by n / (K n_k),
        counted over the labels learnt so far, with this one among them.
    """

    update: UpdateRule
    weights: Weights = BALANCED
    NAMED: ClassVar = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.update, UpdateRule) or not self.update.NAMED:
            raise TypeError(f"labels are weighed for one update rule, got {self.update!r}")
        check(self.weights)

    @property
    def label(self) -> str:
        return self.update.label

    @property
    def UNIT_ROWS(self) -> bool:  # type: ignore[override]  # noqa: N802 - a flag of all rules
        return self.update.UNIT_ROWS

    @property
    def HAS_SCALE(self) -> bool:  # type: ignore[override]  # noqa: N802
        return self.update.HAS_SCALE

    @property
    def by_products(self) -> bool:
        return self.update.by_products

    def begin(self, d: int, dtype: DType) -> "TwoWeighted":
        return TwoWeighted(self.update.begin(d, dtype), self._weighing(2), 0)

    def many(self, d: int, dtype: DType, n_classes: int) -> "ManyWeighted":
        within = self.update.many(d, dtype, n_classes)
        return ManyWeighted(within, np.zeros(n_classes), self._weighing(n_classes), 0)

    def _weighing(self, n_classes: int) -> "Weighing":
        nothing = np.zeros(n_classes)
        return Weighing(np.ones(n_classes), nothing, nothing.copy(), self.weights == BALANCED)

    def weigh(self, update: State, names: Iterable[Any]) -> None:
        """Write the weights of classes of these names, in the order of their numbers."""
        given = {} if isinstance(self.weights, str) else dict(self.weights)
        for k, name in enumerate(names):
            update.weighing.weights[k] = given.get(name, 1.0)


def check(weights: Weights) -> None:
    """Refuse weights that make no sense."""
    if isinstance(weights, str):
        if weights != BALANCED:
            raise ValueError(
                f'class_weight={weights!r} is unknown: pass "balanced" or a dictionary'
            )
        return
    for label, weight in weights:
        if isinstance(weight, bool) or not isinstance(weight, Real):
            raise TypeError(f"class_weight of {label!r} must be a number, got {weight!r}")
        if not (isfinite(weight) and weight >= 0.0):
            raise ValueError(
                f"class_weight of {label!r} must be finite and not negative, got {weight!r}"
            )


class Weighing(NamedTuple):
    """What labels weigh, by the number of their class."""

    weights: Vector
    carried: Vector  # what was left below one
    counts: Vector  # labels learnt
    balanced: bool  # weights follow from the counts


class TwoWeighted(NamedTuple):
    within: State
    weighing: Weighing
    n_updates: int  # labels that changed the hypothesis, each counted once


class ManyWeighted(NamedTuple):
    within: State
    scores: Vector
    weighing: Weighing
    n_updates: int


# What a label weighs.


@helper
def times_of(weighing: Weighing, k: int) -> int:
    """Count a label of class k; return how often it is taught, and carry over what is left."""
    weights, carried, counts, balanced = weighing
    counts[k] += 1.0
    weight = weights[k]
    if balanced:
        n, known = 0.0, 0.0
        for count in counts:
            n += count
            known += 1.0 if count > 0.0 else 0.0
        weight = n / (known * counts[k])
    total = carried[k] + min(weight, MOST_AT_ONCE)
    times = int(total + SLACK)
    carried[k] = total - times
    return times


@learn.of(TwoWeighted, ManyWeighted)
def learn_so_often(update: State, x: Row, y: float, forecast: AnyForecast) -> State:
    within = update.within
    before = within.n_updates
    times = times_of(update.weighing, class_of(forecast, y))
    if times > 0:
        within = learn(within, x, y, forecast)
    for _ in range(times - 1):
        forecast = glance(within, x)
        if not forecast.exact:
            forecast = predict(within, x, forecast)
        within = learn_again(within, x, y, forecast)
    changed = 1 if within.n_updates != before else 0
    return update._replace(within=within, n_updates=update.n_updates + changed)


# All else is up to the rule within.


@glance.of(TwoWeighted)
def glance_within(update: TwoWeighted, x: Row) -> Forecast:
    seen: Forecast = glance(update.within, x)
    return seen


@predict.of(TwoWeighted)
def predict_within(update: TwoWeighted, x: Row, seen: Forecast) -> Forecast:
    exact: Forecast = predict(update.within, x, seen)
    return exact


@glance.of(ManyWeighted)
def glance_at_many(update: ManyWeighted, x: Row) -> ManyForecast:
    seen: ManyForecast = glance(update.within, x)
    copy_scores(update)
    return seen


@predict.of(ManyWeighted)
def predict_many(update: ManyWeighted, x: Row, seen: ManyForecast) -> ManyForecast:
    exact: ManyForecast = predict(update.within, x, seen)
    copy_scores(update)
    return exact


@helper
def copy_scores(update: ManyWeighted) -> None:
    """Copy the scores of the row at hand to where the loop reads them."""
    for k in range(len(update.scores)):
        update.scores[k] = update.within.scores[k]


@follow_scaling.of(TwoWeighted, ManyWeighted)
def follow_scaling_within(update: State, x: Row) -> State:
    return update._replace(within=follow_scaling(update.within, x))


@warm_up.of(TwoWeighted, ManyWeighted)
def warm_up_within(update: State, x: Row) -> State:
    return update._replace(within=warm_up(update.within, x))


@postpone.of(TwoWeighted, ManyWeighted)
def postpone_within(update: State) -> State:
    return update._replace(within=postpone(update.within))


@catch_up.of(TwoWeighted, ManyWeighted)
def catch_up_within(update: State) -> State:
    return update._replace(within=catch_up(update.within))


@set_odds.of(TwoWeighted, ManyWeighted)
def set_odds_within(update: State, odds: float) -> State:
    return update._replace(within=set_odds(update.within, odds))


@write_details.of(TwoWeighted, ManyWeighted)
def write_details_within(update: State, details: Vector) -> None:
    write_details(update.within, details)


@hypothesis.of(TwoWeighted, ManyWeighted)
def hypothesis_within(update: State) -> Vector:
    weights: Vector = hypothesis(update.within)
    return weights


@product_weights.of(TwoWeighted, ManyWeighted)
def product_weights_within(update: State) -> Matrix | None:
    weights: Matrix | None = product_weights(update.within)
    return weights


@chances.of(TwoWeighted, ManyWeighted)
def chances_within(update: State, scores: Vector) -> Matrix:
    found: Matrix = chances(update.within, scores)
    return found


in_file(Weighing, "balanced", weights=NOT_NEGATIVE, carried=Range(-1.0, 1.0), counts=NOT_NEGATIVE)
room_for(ManyWeighted, "scores")
