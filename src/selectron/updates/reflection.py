"""The modified Perceptron [DKM09]: on a mistake, mirror the hypothesis."""

from dataclasses import dataclass
from math import nan
from typing import ClassVar, NamedTuple

from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import Row, square_norm
from selectron.protocol import in_file
from selectron.spec import Range, State
from selectron.updates.first_order import FirstOrder, Step, margin_of, step


@dataclass(frozen=True)
class Reflection(FirstOrder):
    """Step alpha |v.x| towards y x on a mistake, from v = y₁x₁ ([DKM09], Figure 2 and section 5).

    The rows must have unit length; others are scaled to it. At alpha = 2 the hypothesis is
    reflected and keeps its length of one; the error never rises for any alpha in (0, 2]. The
    prototypes of many classes are mirrored all at once, as one vector.

    Parameters
    ----------
    alpha : float
        Relaxation in (0, 2]: 2 reflects, 1 projects.

    Examples
    --------
    >>> from selectron import SelectiveClassifier, updates
    >>> clf = SelectiveClassifier(updates.Reflection(), "always")
    >>> clf.fit([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]], ["yes", "no", "no"]).coef_.round(3).tolist()
    [[-0.6, 0.8]]
    """

    alpha: float = 2.0
    UNIT_ROWS: ClassVar = True
    RANGES: ClassVar = {"alpha": Range(0.0, 2.0, low_open=True)}

    def numbers(self) -> "ReflectionRule":
        return ReflectionRule(float(self.alpha))


class ReflectionRule(NamedTuple):
    alpha: float


@margin_of.of(ReflectionRule)
def margin_of_direction(rule: ReflectionRule, product: float, x: Row) -> float:
    """Return the margin of the row as if it had unit length.

    A row without a direction has no margin; the pass refuses it.
    """
    length = sqrt(square_norm(x))
    return product / length if length != 0.0 else nan


@step.of(ReflectionRule)
def reflection_step(
    rule: ReflectionRule, before: State, x: Row, y: float, margin: float, copies: float
) -> Step:
    length, alpha = sqrt(square_norm(x)), rule.alpha
    if before.n_updates == 0:  # a hypothesis of length one, its share in each copy of the row
        return Step(y * (1.0 / sqrt(copies)) / length, 1.0)
    if y * margin >= 0.0:
        return Step(0.0, 0.0)
    removed = alpha * (2.0 - alpha) * margin * margin / copies
    return Step(-alpha * margin / copies / length, before.square_length - removed)


in_file(ReflectionRule, "alpha")
