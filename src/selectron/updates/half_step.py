"""The half-step: least squares in O(d), half of the way at every label."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from selectron.numeric.rows import Row, add_scaled, square_norm
from selectron.protocol import in_file
from selectron.spec import FRACTION, State
from selectron.updates.first_order import (
    FirstOrder,
    Prototypes,
    Step,
    always_one,
    grown,
    move_prototypes,
    step,
    unit_of,
)


@dataclass(frozen=True)
class HalfStep(FirstOrder):
    """Go `rate` of the way from the margin to the label, unless the margin is beyond it.

    Made for rows of about unit length; on longer rows the step is cut so that it never overshoots.

    Parameters
    ----------
    rate : float
        Share of the residual in (0, 1] that a row of unit length removes.

    Examples
    --------
    >>> from selectron import SelectiveClassifier, updates
    >>> clf = SelectiveClassifier(updates.HalfStep(), "always")
    >>> clf.fit([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]], ["yes", "no", "no"]).coef_.round(3).tolist()
    [[-0.55, 0.7]]
    """

    rate: float = 0.5
    RANGES: ClassVar = {"rate": FRACTION}

    def numbers(self) -> "HalfStepRule":
        return HalfStepRule(float(self.rate))


class HalfStepRule(NamedTuple):
    rate: float


unit_of.of(HalfStepRule)(always_one)


@step.of(HalfStepRule)
def half_step_step(
    rule: HalfStepRule, before: State, x: Row, y: float, margin: float, copies: float
) -> Step:
    if y * margin >= 1.0:
        return Step(0.0, 0.0)
    size = square_norm(x)
    along = rule.rate * (y - margin) / max(1.0, rule.rate * size)
    return grown(before, along, margin, size)


@move_prototypes.of(HalfStepRule)
def move_to_targets(rule: HalfStepRule, update: Prototypes, x: Row, label: int, rival: int) -> Step:
    """Go `rate` of the way from each score to its target, unless it is beyond.

    The targets are 1 and 0, so that the prototype of a class never seen stays zero.
    """
    size = square_norm(x)
    rate = rule.rate / max(1.0, rule.rate * size)
    square, moved = update.square_length, 0.0
    for k in range(len(update.scores)):
        now = update.scores[k]
        along = rate * (max(1.0 - now, 0.0) if k == label else min(-now, 0.0))
        if along != 0.0:
            square += along * (2.0 * now + along * size)
            add_scaled(x, along, update.prototypes[k])
            moved = along
    return Step(moved, square)


in_file(HalfStepRule, "rate")
