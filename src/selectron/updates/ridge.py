"""Ridge regression on every label that was asked."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from numpy.typing import DTypeLike

from selectron.arrays import Vector
from selectron.numeric.rows import Row
from selectron.protocol import Forecast, in_file, relabel
from selectron.spec import POSITIVE, State, UpdateRule
from selectron.updates.covariance import (
    SLACK,
    Belief,
    ClassBelief,
    Lesson,
    begin_step,
    belief,
    class_belief,
    length_of,
    lesson_of,
    most_variance,
    move,
    target_of,
    weight_of_label,
)


@dataclass(frozen=True)
class Ridge(UpdateRule):
    """Keep w = A⁻¹ Σ y x with A = a I + Σ x xᵀ, over all labels asked, right or wrong.

    Learning from right answers too is what saves most labels: the second-order Perceptron, which
    learns on mistakes only, needs more than twice as many.

    Parameters
    ----------
    a : float
        Regularisation > 0.

    Examples
    --------
    >>> from selectron import SelectiveClassifier, updates
    >>> clf = SelectiveClassifier(updates.Ridge(a=2.0), "always")
    >>> clf.fit([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]], ["yes", "no", "no"]).coef_.round(3).tolist()
    [[-0.3, 0.467]]
    """

    a: float = 1.0
    CORRECTABLE: ClassVar = True
    RANGES: ClassVar = {"a": POSITIVE}

    def begin(self, d: int, dtype: DTypeLike) -> Belief:
        return belief(RidgeRule(float(self.a)), d, self.a)

    def many(self, d: int, dtype: DTypeLike, n_classes: int) -> ClassBelief:
        """Begin with targets 0 and 1, so that the weights of a class never seen stay zero."""
        return class_belief(RidgeRule(float(self.a)), d, float(self.a), n_classes)


class RidgeRule(NamedTuple):
    a: float


@most_variance.of(RidgeRule)
def most_by_regularisation(rule: State, square: float) -> float:
    """Return |x|²/a: A starts at a I, and only grows."""
    return float(SLACK * square / rule.a)


@lesson_of.of(RidgeRule)
def ridge_lesson(rule: RidgeRule, y: float, forecast: Forecast) -> Lesson:
    share = 1.0 / (1.0 + forecast.variance)
    return Lesson(True, rule, (y - forecast.margin) * share, share)


@weight_of_label.of(RidgeRule)
def weigh_alike(rule: RidgeRule, label: int, rival: int, scores: Vector) -> float:
    return 1.0


@target_of.of(RidgeRule)
def zero_or_one(rule: RidgeRule, k: int, label: int, rival: int, score: float) -> float:
    return 1.0 if k == label else 0.0


@relabel.of(Belief, ClassBelief)
def relabel_ridge(update: State, x: Row, before: float, after: float) -> State:
    """Move Σ y x: A knows no labels, so w changes by A⁻¹ x times the change of the target."""
    begin_step(update.store, x)
    for k in range(len(update.store.weights)):
        if isinstance(update, Belief):
            step = after - before
        else:
            step = float(k == after) - float(k == before)
        move(update.store, k, step, 0.0)
    return update._replace(norm=length_of(update.store))


in_file(RidgeRule, "a")
