"""Perceptron and Ballseptron of many classes: one prototype a class ([SS05], section 4).

The class of the largest score is predicted, the first of several. The margin is what it is ahead of
the second; a label is the number of its class.
"""

from typing import NamedTuple

from selectron.arrays import Matrix, Vector
from selectron.compiler.verbs import helper
from selectron.kernels.block import BlockRow
from selectron.kernels.prototypes import Prototypes, move, score
from selectron.numeric.elementary import sqrt
from selectron.protocol import ManyForecast, already_exact, glance, learn, predict


class ManyClasses(NamedTuple):
    prototypes: Prototypes
    scores: Vector  # those of the prototypes, where the loop looks for them
    eta: float
    r: float
    n_updates: int
    n_margin_errors: int


@helper
def leader(scores: Vector, but: int) -> int:
    """Return the class of the largest score, the first of several; `but` is left out."""
    best = -1
    for c in range(len(scores)):
        if c != but and (best < 0 or scores[c] > scores[best]):
            best = c
    return best


@helper
def distance(products: Matrix, a: int, b: int) -> float:
    """Return |w_a - w_b|."""
    return sqrt(max(products[a, a] + products[b, b] - 2.0 * products[a, b], 0.0))


@glance.of(ManyClasses)
def many_classes_glance(update: ManyClasses, x: BlockRow) -> ManyForecast:
    prototypes = update.prototypes
    score(prototypes, x)
    first = leader(prototypes.scores, -1)
    second = leader(prototypes.scores, first)
    margin = prototypes.scores[first] - prototypes.scores[second] + 0.0 * x.square
    apart = distance(prototypes.products, first, second)
    return ManyForecast(margin, apart if apart > 0.0 else 1.0, apart, 0.0, True, first, second)


predict.of(ManyClasses)(already_exact)


@learn.of(ManyClasses)
def many_classes_learn(
    update: ManyClasses, x: BlockRow, label: float, forecast: ManyForecast
) -> ManyClasses:
    prototypes, right = update.prototypes, int(label)
    scores = prototypes.scores
    rival = leader(scores, right)
    ahead = scores[right] - scores[rival]
    apart = distance(prototypes.products, right, rival)
    if ahead > 0.0 and ahead > update.r * apart:
        return update
    margin_errors = update.n_margin_errors
    # Equal scores give the ball no direction: the row itself is added, as on a mistake.
    if ahead > 0.0:
        blend(prototypes, right, rival, update.r / apart)
        margin_errors += 1
    for c in range(len(prototypes.steps)):
        prototypes.steps[c] = 0.0
    prototypes.steps[right], prototypes.steps[rival] = update.eta, -update.eta
    prototypes = move(prototypes, x)
    n_updates = update.n_updates + 1
    return ManyClasses(prototypes, scores, update.eta, update.r, n_updates, margin_errors)


@helper
def blend(prototypes: Prototypes, a: int, b: int, share: float) -> None:
    """Move w_a and w_b towards each other by a share of what lies between them.

    With x̂ = x + r (w_b - w_a)/|w_b - w_a|, w_a gains and w_b loses the second term.
    """
    m = prototypes.support.n_support
    coefficients, products, scores = (
        prototypes.coefficients,
        prototypes.products,
        prototypes.scores,
    )
    mix(coefficients[a, :m], coefficients[b, :m], share)
    mix(scores[a : a + 1], scores[b : b + 1], share)
    mix(products[a], products[b], share)
    mix(products[:, a], products[:, b], share)


@helper
def mix(left: Vector, right: Vector, share: float) -> None:
    kept = 1.0 - share
    for k in range(len(left)):
        was = left[k]
        left[k] = kept * was + share * right[k]
        right[k] = kept * right[k] + share * was
