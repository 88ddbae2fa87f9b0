"""The Perceptron [Ng]: on a mistake, add the example."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from selectron.numeric.rows import Row, square_norm
from selectron.protocol import in_file
from selectron.spec import POSITIVE, State
from selectron.updates.first_order import FirstOrder, Step, grown, is_mistake, step


@dataclass(frozen=True)
class Perceptron(FirstOrder):
    """Add eta y x to the weights on every mistake that is seen ([Ng]; [CBGZ06], Figure 1).

    Parameters
    ----------
    eta : float
        Step > 0. It scales the weights and nothing else, since they start at zero.
    literal_ties : bool
        [CBGZ06] predicts -1 where the margin is 0, so that a tie is a mistake if y = +1 alone; of
        many classes, if the label is not the first of those that tie. By default every tie is one.

    Examples
    --------
    >>> from selectron import SelectiveClassifier, updates
    >>> clf = SelectiveClassifier(updates.Perceptron(), "always")
    >>> clf.fit([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]], ["yes", "no", "no"]).coef_.round(3).tolist()
    [[-0.2, 1.4]]
    """

    eta: float = 1.0
    literal_ties: bool = False
    RANGES: ClassVar = {"eta": POSITIVE}

    def numbers(self) -> "PerceptronRule":
        return PerceptronRule(float(self.eta), bool(self.literal_ties))


class PerceptronRule(NamedTuple):
    eta: float
    literal_ties: bool


@step.of(PerceptronRule)
def perceptron_step(
    rule: PerceptronRule, before: State, x: Row, y: float, margin: float, copies: float
) -> Step:
    """Move on a mistake; of many classes follow [SS05], equation (18)."""
    if not is_mistake(y, margin, rule.literal_ties):
        return Step(0.0, 0.0)
    return grown(before, rule.eta * y, margin, copies * square_norm(x))


in_file(PerceptronRule, "eta", "literal_ties")
