"""The Perceptron [Ng]: on a mistake, add the example."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from selectron.numeric.rows import Row, square_norm
from selectron.protocol import State, in_file
from selectron.spec import POSITIVE
from selectron.updates.first_order import (
    FirstOrder,
    Step,
    grown,
    step,
)


@dataclass(frozen=True)
class Perceptron(FirstOrder):
    """Add eta y x to the weights on every mistake that is seen ([Ng]; [CBGZ06], Figure 1).

    Parameters
    ----------
    eta : float
        Step > 0. It scales the weights and nothing else, since they start at zero.

    Examples
    --------
    >>> from selectron import SelectiveClassifier, updates
    >>> clf = SelectiveClassifier(updates.Perceptron(), "always")
    >>> clf.fit([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]], ["yes", "no", "no"]).coef_.round(3).tolist()
    [[-0.2, 1.4]]
    """

    eta: float = 1.0
    RANGES: ClassVar = {"eta": POSITIVE}

    def numbers(self) -> "PerceptronRule":
        return PerceptronRule(float(self.eta))


class PerceptronRule(NamedTuple):
    eta: float


@step.of(PerceptronRule)
def perceptron_step(
    rule: PerceptronRule, before: State, x: Row, y: float, margin: float, copies: float
) -> Step:
    """Move on a mistake; of many classes follow [SS05], equation (18). A tie is a mistake."""
    if y * margin > 0.0:
        return Step(0.0, 0.0)
    return grown(before, rule.eta * y, margin, copies * square_norm(x))


in_file(PerceptronRule, "eta")
