"""AROW [CKD09]: adaptive regularisation of weights, with the full covariance."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from numpy.typing import DTypeLike

from selectron.protocol import Forecast, in_file
from selectron.spec import POSITIVE, UpdateRule
from selectron.updates.covariance import Belief, Lesson, belief, lesson_of


@dataclass(frozen=True)
class Arow(UpdateRule):
    """Reach for margin one, by less along directions already known ([CKD09], Figure 1).

    Parameters
    ----------
    r : float
        > 0: the larger, the smaller the steps and the slower the variance falls.

    Examples
    --------
    >>> from selectron import SelectiveClassifier, updates
    >>> clf = SelectiveClassifier(updates.Arow(r=2.0), "always")
    >>> clf.fit([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]], ["yes", "no", "no"]).coef_.round(3).tolist()
    [[-0.3, 0.467]]
    """

    r: float = 1.0
    RANGES: ClassVar = {"r": POSITIVE}

    def begin(self, d: int, dtype: DTypeLike) -> Belief:
        return belief(ArowRule(float(self.r)), d, 1.0)


class ArowRule(NamedTuple):
    r: float


@lesson_of.of(ArowRule)
def arow_lesson(rule: ArowRule, y: float, forecast: Forecast) -> Lesson:
    loss = 1.0 - y * forecast.margin
    share = 1.0 / (forecast.variance + rule.r)
    return Lesson(not loss <= 0.0, rule, y * loss * share, share)


in_file(ArowRule, "r")
