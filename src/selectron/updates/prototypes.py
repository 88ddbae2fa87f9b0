"""What the rules for many classes share: a prototype a class, and who leads [SS05].

[SS05], section 4: the predicted class is the one whose prototype has the largest product with the
row. The state of such a rule has a field `scores` with the products of the row at hand.
"""

from math import isfinite, nan
from typing import NamedTuple

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.compiler.verbs import helper
from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import Row, dot
from selectron.numeric.sums import lane_dot
from selectron.protocol import ManyForecast


class Lead(NamedTuple):
    """The class of the largest score, the one after it, and how far it is behind."""

    margin: float
    best: int
    second: int


@helper
def lead(scores: Vector) -> Lead:
    """Find the two largest scores; of equal ones the lowest class comes first."""
    best, second, broken = 0, 1, 0
    for k in range(len(scores)):
        broken += not isfinite(scores[k])
    if scores[1] > scores[0]:
        best, second = 1, 0
    for k in range(2, len(scores)):
        if scores[k] > scores[best]:
            best, second = k, best
        elif scores[k] > scores[second]:
            second = k
    # A score that is not finite must reach the margin, where the pass looks for it.
    return Lead(scores[best] - scores[second] if broken == 0 else nan, best, second)


@helper
def score(x: Row, prototypes: Matrix, scores: Vector) -> Lead:
    """Write the product of the row with every prototype."""
    for k in range(len(scores)):
        scores[k] = dot(x, prototypes[k])
    return lead(scores)


@helper
def rival_of(label: int, forecast: ManyForecast) -> int:
    """Return the best of the other classes."""
    return forecast.second if forecast.best == label else forecast.best


@helper
def frobenius(prototypes: Matrix) -> float:
    """Return the length of all prototypes as one vector."""
    total = 0.0
    for k in range(len(prototypes)):
        total += np.float64(lane_dot(prototypes[k], prototypes[k]))
    return sqrt(total)
