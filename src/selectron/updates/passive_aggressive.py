"""Passive-Aggressive [CDKSS06]: the smallest step that gets the margin right."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from selectron.numeric.rows import Row, square_norm
from selectron.protocol import in_file
from selectron.spec import POSITIVE, State
from selectron.updates.first_order import FirstOrder, Step, always_one, grown, step, unit_of


@dataclass(frozen=True)
class PassiveAggressive(FirstOrder):
    """Move to margin one, by at most C ([CDKSS06], PA-I; PA-II when squared).

    Parameters
    ----------
    C : float
        Aggressiveness > 0: the longest step (PA-I), or what a squared slack costs (PA-II).
    squared : bool
        Penalise the squared slack (PA-II).

    Examples
    --------
    >>> from selectron import SelectiveClassifier, updates
    >>> clf = SelectiveClassifier(updates.PassiveAggressive(C=0.5), "always")
    >>> clf.fit([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]], ["yes", "no", "no"]).coef_.round(3).tolist()
    [[-0.6, 0.7]]
    """

    C: float = 1.0
    squared: bool = False
    RANGES: ClassVar = {"C": POSITIVE}

    def numbers(self) -> "PassiveAggressiveRule":
        return PassiveAggressiveRule(float(self.C), bool(self.squared))


class PassiveAggressiveRule(NamedTuple):
    C: float
    squared: bool


unit_of.of(PassiveAggressiveRule)(always_one)


@step.of(PassiveAggressiveRule)
def passive_aggressive_step(
    rule: PassiveAggressiveRule, before: State, x: Row, y: float, margin: float, copies: float
) -> Step:
    """Reach margin one; of many classes, a lead of one over the best wrong class."""
    loss = 1.0 - y * margin
    size = copies * square_norm(x)
    if loss <= 0.0 or size == 0.0:
        return Step(0.0, 0.0)
    size_with_slack = size + 0.5 / rule.C
    along = y * (loss / size_with_slack if rule.squared else min(rule.C, loss / size))
    return grown(before, along, margin, size)


in_file(PassiveAggressiveRule, "C", "squared")
