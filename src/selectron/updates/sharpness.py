"""How probable a class is at a margin: the scale that answers teach, label by label.

The margins of a rule say which class is likelier. How much likelier a margin makes it is learnt
here, from each label and the margin that its row had before: no label is judged by what it taught
itself. The weights and the questions do not depend on it.
"""

from typing import NamedTuple

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.compiler.verbs import helper
from selectron.numeric.elementary import exponential, normal_density, normal_distribution, sqrt
from selectron.protocol import in_file
from selectron.spec import NOT_NEGATIVE, POSITIVE

LEAST_SLOPE = 0.05  # above 0: a larger margin is never less probable
LATEST = 0.01  # the spread is that of about the latest hundred labels
DEEPEST = -30.0  # standard deviations on the wrong side that a label is believed to be
LEAST_CHANCE = 1e-12
LARGEST_MARGIN = 1e100  # its square must not overflow
BLUNTEST, SHARPEST = 1.0, 20.0  # of a softmax


class Sharpness(NamedTuple):
    """A Gaussian belief about a: a label is +1 with probability Φ(a margin/√spread)."""

    spread: float  # the mean of variance + blur at recent labels: the square of a unit
    slope: float
    variance: float  # of the slope


UNTAUGHT = Sharpness(0.0, 1.0, 16.0)


@helper
def sharpened(
    sharpness: Sharpness, n_labels: int, y: float, margin: float, spread: float, flip: float
) -> Sharpness:
    """Match the moments of the belief after a label y, which is wrong with probability `flip`."""
    share = max(LATEST, 2.0 / (n_labels + 2.0))
    mean_spread = sharpness.spread + (spread - sharpness.spread) * share
    slope, variance = sharpness.slope, sharpness.variance
    if n_labels > 0:
        x = margin / sqrt(mean_spread)
        total = 1.0 + x * x * variance
        z = max(y * slope * x / sqrt(total), DEEPEST)
        chance = max(flip + (1.0 - 2.0 * flip) * normal_distribution(z), LEAST_CHANCE)
        step = (1.0 - 2.0 * flip) * normal_density(z) / chance
        curvature = min(max(step * (step + z), 0.0), 1.0)
        slope = max(slope + variance * x * y * step / sqrt(total), LEAST_SLOPE)
        variance -= variance * x * variance * x * curvature / total
    return Sharpness(mean_spread, slope, max(variance, 0.0))


def chances_of_margins(sharpness: Sharpness, margins: Vector, flip: float) -> Matrix:
    """Return the probabilities of the negative and of the positive class."""
    from scipy.special import ndtr  # noqa: PLC0415 - who wants no probabilities need not wait

    tamed = np.clip(margins, -LARGEST_MARGIN, LARGEST_MARGIN)
    x = tamed / np.sqrt(sharpness.spread or 1.0)  # 0 before the first label
    z = sharpness.slope * x / np.sqrt(1.0 + x * x * sharpness.variance)
    found = np.empty((len(z), 2))
    positive = np.multiply(ndtr(z), 1.0 - 2.0 * flip, out=found[:, 1])
    positive += flip
    np.subtract(1.0, positive, out=found[:, 0])
    return found


def chances_of_scores(scores: Matrix, sharpness: float) -> Matrix:
    """Return the probability of each class: the softmax of its scores."""
    powers = np.exp(sharpness * (scores - scores.max(axis=1, keepdims=True)))
    shares: Matrix = powers / powers.sum(axis=1, keepdims=True)
    return shares


class Softmax(NamedTuple):
    """A Gaussian belief about how sharp the softmax of many scores is."""

    sharpness: float
    variance: float


UNTAUGHT_SOFTMAX = Softmax(7.0, 4.0)


@helper
def sharpened_among(softmax: Softmax, counts: Vector, scores: Vector, label: int) -> Softmax:
    """Go a step of Newton's by a label and the scores that its row had before.

    `counts` are the labels before it: a class without any does not compete, and the label of such a
    class says nothing.
    """
    if counts[label] == 0.0:
        return softmax
    sharpness, variance = softmax
    top = scores[label]
    for k in range(len(scores)):
        if counts[k] > 0.0:
            top = max(top, scores[k])
    total, mean, square = 0.0, 0.0, 0.0
    for k in range(len(scores)):
        if counts[k] > 0.0:
            below = scores[k] - top
            power = exponential(sharpness * below)
            total += power
            mean += power * below
            square += power * below * below
    mean /= total
    curvature = max(square / total - mean * mean, 0.0)
    variance /= 1.0 + variance * curvature
    sharpness += variance * (scores[label] - top - mean)
    return Softmax(min(max(sharpness, BLUNTEST), SHARPEST), variance)


in_file(Sharpness, spread=NOT_NEGATIVE, slope=POSITIVE, variance=NOT_NEGATIVE)
in_file(Softmax, sharpness=POSITIVE, variance=NOT_NEGATIVE)
