"""First-order states: one weight vector for two classes, a prototype a class for many.

A rule says how far the hypothesis moves along a row (`step`). The states here predict, carry the
step out and keep the length of the hypothesis. So a rule is a handful of numbers and one formula.

With many classes the predicted class is the one whose prototype has the largest product with the
row ([SS05], section 4). A label then stands for a pair: its class and the best of the others. The
prototypes side by side are one weight vector, and the row stands in it twice: in the place of the
label's class, and with the other sign in the place of the other.
"""

from math import isfinite, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from selectron.arrays import Matrix, Vector
from selectron.compiler.verbs import Verb, helper
from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import Row, add_scaled, dot
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
from selectron.spec import NOT_NEGATIVE, State, UpdateRule


class Separator(NamedTuple):
    """The weight vector of two classes."""

    weights: Vector
    rule: State  # the numbers of the rule
    square_length: float  # of the weights, kept up to date in O(nnz)
    norm: float  # its root, taken at updates: most rounds have none
    n_updates: int


class Prototypes(NamedTuple):
    """The weight vectors of many classes."""

    prototypes: Matrix  # (K, d)
    scores: Vector  # the product of the row at hand with each prototype
    rule: State
    square_length: float  # of all prototypes as one vector
    norm: float
    n_updates: int


class Step(NamedTuple):
    """How the hypothesis moves."""

    along: float  # how much of the row is added; 0: the label teaches nothing
    square_length: float  # of the hypothesis after the step, but for rounding


class Lead(NamedTuple):
    """The class of the largest score, the class after it, and the difference of the two scores."""

    margin: float
    best: int
    second: int


class FirstOrder(UpdateRule):
    """An update rule whose states are those of this file."""

    by_products = True

    def numbers(self) -> State:
        """Return the numbers of the rule; their type chooses the formula."""
        raise NotImplementedError  # every rule has its own

    def begin(self, d: int, dtype: DTypeLike) -> Separator:
        return Separator(np.zeros(d, dtype), self.numbers(), 0.0, 0.0, 0)

    def many(self, d: int, dtype: DTypeLike, n_classes: int) -> Prototypes:
        weights, scores = np.zeros((n_classes, d), dtype), np.zeros(n_classes)
        return Prototypes(weights, scores, self.numbers(), 0.0, 0.0, 0)


# What a rule says.


@Verb
def step(rule: State, before: State, x: Row, y: float, margin: float, copies: float) -> Step:
    """Return the step for a label y = ±1; the row stands `copies` times in the hypothesis."""


@Verb.with_body
def margin_of(rule: State, product: float, x: Row) -> float:
    """Return the margin of a row that has this product with the hypothesis."""
    return product


@Verb.with_body
def unit_of(rule: State, norm: float) -> float:
    """Return the natural unit of the margins of a hypothesis of this length."""
    return norm if norm > 0.0 else 1.0


@Verb.with_body
def move_prototypes(rule: State, update: Prototypes, x: Row, label: int, rival: int) -> Step:
    """Move the prototypes for a label; return the step.

    Most rules add the row to the prototype of its class, and take it from that of the best other
    class.
    """
    y = sign_of(label, rival)
    product = y * (update.scores[label] - update.scores[rival])
    taken: Step = step(rule, update, x, y, margin_of(rule, product, x), 2.0)
    if taken.along != 0.0:
        add_scaled(x, y * taken.along, update.prototypes[label])
        add_scaled(x, -y * taken.along, update.prototypes[rival])
    return taken


def always_one(rule: State, norm: float) -> float:
    """Serve as `unit_of` of the rules that aim at margins of one."""
    return 1.0


@helper
def grown(before: State, along: float, margin: float, size: float) -> Step:
    """Return the step that adds `along` times a row of this margin and squared length."""
    return Step(along, before.square_length + along * (2.0 * margin + along * size))


# Who leads.


@helper
def lead(scores: Vector) -> Lead:
    """Find the two largest scores; of equal ones the lowest class comes first."""
    best, second, broken = 0, 1, 0
    for k in range(len(scores)):
        broken += not isfinite(scores[k])
    if scores[1] > scores[0]:
        best, second = 1, 0
    for k in range(2, len(scores)):
        if scores[k] > scores[best]:
            best, second = k, best
        elif scores[k] > scores[second]:
            second = k
    # A score that is not finite must reach the margin, where the pass looks for it.
    return Lead(scores[best] - scores[second] if broken == 0 else nan, best, second)


@helper
def is_mistake(y: float, margin: float, literal_ties: bool) -> bool:
    """Say whether a label of two classes counts against the margin.

    A margin of 0 does, for either label; with literal ties only for y = +1, since 0 predicts -1.
    """
    if literal_ties and margin == 0.0:
        return y > 0.0
    return not y * margin > 0.0


@helper
def sign_of(label: int, rival: int) -> float:
    """Return what the label is of the two classes; of equal scores the lower class is predicted."""
    return 1.0 if label > rival else -1.0


@helper
def rival_of(label: int, forecast: ManyForecast) -> int:
    """Return the best of the other classes."""
    return forecast.second if forecast.best == label else forecast.best


# The verbs of the loop.


@glance.of(Separator)
def glance_by_weights(update: Separator, x: Row) -> Forecast:
    norm = update.norm
    margin = margin_of(update.rule, dot(x, update.weights), x)
    return Forecast(margin, unit_of(update.rule, norm), norm, 0.0, True)


@glance.of(Prototypes)
def glance_by_prototypes(update: Prototypes, x: Row) -> ManyForecast:
    norm, scores = update.norm, update.scores
    for k in range(len(scores)):
        scores[k] = dot(x, update.prototypes[k])
    found = lead(scores)
    margin = margin_of(update.rule, found.margin, x)
    unit = unit_of(update.rule, norm)
    return ManyForecast(margin, unit, norm, 0.0, True, found.best, found.second)


predict.of(Separator, Prototypes)(already_exact)


@learn.of(Separator)
def learn_sign(update: Separator, x: Row, y: float, forecast: Forecast) -> Separator:
    taken = step(update.rule, update, x, y, forecast.margin, 1.0)
    if taken.along == 0.0:
        return update
    add_scaled(x, taken.along, update.weights)
    square = max(taken.square_length, 0.0)
    return Separator(update.weights, update.rule, square, sqrt(square), update.n_updates + 1)


@learn.of(Prototypes)
def learn_class(update: Prototypes, x: Row, y: float, forecast: ManyForecast) -> Prototypes:
    label = int(y)
    taken = move_prototypes(update.rule, update, x, label, rival_of(label, forecast))
    if taken.along == 0.0:
        return update
    square = max(taken.square_length, 0.0)
    return update._replace(square_length=square, norm=sqrt(square), n_updates=update.n_updates + 1)


@hypothesis.of(Separator)
def weights_of_two(update: Separator) -> Vector:
    return update.weights


@hypothesis.of(Prototypes)
def prototypes_of_many(update: Prototypes) -> Matrix:
    return update.prototypes


in_file(Separator, square_length=NOT_NEGATIVE, norm=NOT_NEGATIVE)
in_file(Prototypes, square_length=NOT_NEGATIVE, norm=NOT_NEGATIVE)
