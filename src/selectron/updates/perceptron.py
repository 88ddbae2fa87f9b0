"""The Perceptron [Ng]: on a mistake, add the example."""

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
    fresh_prototypes,
    fresh_separator,
    grown,
    step,
)


@dataclass(frozen=True)
class Perceptron(UpdateRule):
    """Add eta y x to the weights on every mistake that is seen ([Ng]; [CBGZ06], Figure 1).

    Parameters
    ----------
    eta : float
        Step > 0. It scales the weights and nothing else, since they start at zero.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron import SelectiveClassifier
    >>> from selectron.queries import Always
    >>> from selectron.updates import Perceptron
    >>> X = np.array([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]])
    >>> clf = SelectiveClassifier(Perceptron(), Always()).fit(X, ["yes", "no", "no"])
    >>> clf.coef_.round(3).tolist()
    [[-0.2, 1.4]]
    """

    eta: float = 1.0
    RANGES: ClassVar = {"eta": POSITIVE}

    @property
    def by_products(self) -> bool:
        return True

    def begin(self, d: int, dtype: DTypeLike) -> Separator:
        return fresh_separator(PerceptronRule(float(self.eta)), d, dtype)

    def many(self, d: int, dtype: DTypeLike, n_classes: int) -> Prototypes:
        return fresh_prototypes(PerceptronRule(float(self.eta)), d, dtype, n_classes)


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
