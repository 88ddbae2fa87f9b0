"""The second-order Perceptron [CBGZ06]: a Perceptron in the metric of its past mistakes.

With sums over the rounds where an update was made, v = Σ y x and A = a I + Σ x xᵀ. We keep A⁻¹ and
w = A⁻¹v, so that the sign of the margin costs O(d).
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from numpy.typing import DTypeLike

from selectron.arrays import Vector
from selectron.protocol import Forecast, in_file
from selectron.spec import POSITIVE, UpdateRule
from selectron.updates.covariance import (
    Belief,
    ClassBelief,
    Lesson,
    belief,
    class_belief,
    is_damped,
    lesson_of,
    most_variance,
    target_of,
    weight_of_label,
)
from selectron.updates.first_order import is_mistake, sign_of
from selectron.updates.ridge import most_by_regularisation


@dataclass(frozen=True)
class SecondOrder(UpdateRule):
    """Predict with vᵀ(A + xxᵀ)⁻¹x and learn on mistakes ([CBGZ06], Figure 3).

    Parameters
    ----------
    a : float
        A starts at a I, a > 0; the paper has a = 1.
    literal_ties : bool
        [CBGZ06] predicts -1 where the margin is 0, so that a tie is a mistake if y = +1 alone; of
        many classes, if the label is not the first of those that tie. By default every tie is one.

    Examples
    --------
    >>> from selectron import SelectiveClassifier, updates
    >>> clf = SelectiveClassifier(updates.SecondOrder(), "always")
    >>> clf.fit([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]], ["yes", "no", "no"]).coef_.round(3).tolist()
    [[-0.1, 0.7]]
    """

    a: float = 1.0
    literal_ties: bool = False
    RANGES: ClassVar = {"a": POSITIVE}

    def begin(self, d: int, dtype: DTypeLike) -> Belief:
        return belief(self.numbers(), d, self.a)

    def many(self, d: int, dtype: DTypeLike, n_classes: int) -> ClassBelief:
        return class_belief(self.numbers(), d, float(self.a), n_classes)

    def numbers(self) -> "SecondOrderRule":
        return SecondOrderRule(float(self.a), bool(self.literal_ties))


class SecondOrderRule(NamedTuple):
    a: float
    literal_ties: bool


most_variance.of(SecondOrderRule)(most_by_regularisation)


@is_damped.of(SecondOrderRule)
def always_damped(rule: SecondOrderRule) -> bool:
    """By Sherman-Morrison a margin is w.x / (1 + r), with 0 <= r <= |x|²/a."""
    return True


@lesson_of.of(SecondOrderRule)
def second_order_lesson(rule: SecondOrderRule, y: float, forecast: Forecast) -> Lesson:
    share = 1.0 / (1.0 + forecast.variance)
    # v grows by y x as A grows by x xᵀ: w moves along A⁻¹x.
    wrong = is_mistake(y, forecast.margin, rule.literal_ties)
    return Lesson(wrong, rule, y * share - forecast.margin, share)


@weight_of_label.of(SecondOrderRule)
def weigh_mistakes(rule: SecondOrderRule, label: int, rival: int, scores: Vector) -> float:
    y = sign_of(label, rival)
    margin = y * (scores[label] - scores[rival])
    return 1.0 if is_mistake(y, margin, rule.literal_ties) else 0.0


@target_of.of(SecondOrderRule)
def for_and_against(rule: SecondOrderRule, k: int, label: int, rival: int, score: float) -> float:
    """Let v of the label grow by x and that of the rival fall by x; A grows by x xᵀ for all."""
    return 1.0 if k == label else -1.0 if k == rival else 0.0


in_file(SecondOrderRule, "a", "literal_ties")
