"""Passive-Aggressive [CDKSS06]: the smallest step that gets the margin right."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from numpy.typing import DTypeLike

from selectron.numeric.rows import Row, square_norm
from selectron.protocol import State
from selectron.spec import POSITIVE, UpdateRule
from selectron.updates.first_order import (
    Prototypes,
    Separator,
    Step,
    always_one,
    fresh_prototypes,
    fresh_separator,
    grown,
    step,
    unit_of,
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

    def begin(self, d: int, dtype: DTypeLike) -> Separator:
        return fresh_separator(self._rule, d, dtype)

    def many(self, d: int, dtype: DTypeLike, n_classes: int) -> Prototypes:
        return fresh_prototypes(self._rule, d, dtype, n_classes)

    @property
    def _rule(self) -> "PassiveAggressiveRule":
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
