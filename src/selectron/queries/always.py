"""Ask for every label, or for a fixed share: the controls that every saving is measured against."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from selectron.numeric.rows import Row
from selectron.protocol import (
    Forecast,
    advance,
    ask_probability,
    observe,
    unmoved_by_choice,
    unmoved_by_label,
)
from selectron.spec import FRACTION, QueryRule


@dataclass(frozen=True)
class Always(QueryRule):
    """Ask for every label.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron import SelectiveClassifier
    >>> from selectron.queries import Always
    >>> from selectron.updates import Perceptron
    >>> X = np.array([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]])
    >>> clf = SelectiveClassifier(Perceptron(), Always(), random_state=0)
    >>> clf.fit(X, ["yes", "no", "no"]).ask(X).probabilities.round(2).tolist()
    [1.0, 1.0, 1.0]
    """

    def begin(self, d: int) -> "UniformState":
        return UniformState(1.0)


@dataclass(frozen=True)
class Uniform(QueryRule):
    """Ask for a share of the labels, whatever the margin.

    Parameters
    ----------
    rate : float
        Probability of asking, in (0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from selectron import SelectiveClassifier
    >>> from selectron.queries import Uniform
    >>> from selectron.updates import Perceptron
    >>> X = np.array([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]])
    >>> clf = SelectiveClassifier(Perceptron(), Uniform(rate=0.25), random_state=0)
    >>> clf.fit(X, ["yes", "no", "no"]).ask(X).probabilities.round(2).tolist()
    [0.25, 0.25, 0.25]
    """

    rate: float = 0.1
    RANGES: ClassVar = {"rate": FRACTION}

    def begin(self, d: int) -> "UniformState":
        return UniformState(float(self.rate))


class UniformState(NamedTuple):
    rate: float


@ask_probability.of(UniformState)
def uniform_probability(query: UniformState, x: Row, forecast: Forecast) -> float:
    return query.rate


advance.of(UniformState)(unmoved_by_choice)
observe.of(UniformState)(unmoved_by_label)
