"""A Bayesian probit learner of sparse rows that keeps the rows it was taught."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from selectron.arrays import Matrix, Vector
from selectron.compiler.verbs import helper
from selectron.numeric.elementary import exponential, sqrt
from selectron.protocol import Forecast, chances, in_file
from selectron.spec import NOT_NEGATIVE, POSITIVE, Range, UpdateRule
from selectron.updates.class_ridge import KnownClasses
from selectron.updates.covariance import (
    Belief,
    ClassBelief,
    Lesson,
    lead_of,
    least_variance,
    lesson_of,
    target_of,
    weight_of_label,
)
from selectron.updates.first_order import Lead
from selectron.updates.kept_rows import no_rows_kept
from selectron.updates.probit import LEAST_BLUR, MOST_FLIPS, Noise, moments_matched
from selectron.updates.sharpness import UNTAUGHT, chances_of_scores

FIRST_SHARPNESS, SHARPEST = 4.0, 50.0  # of the softmax of many classes
FLIPS_BEFORE, LABELS_BEFORE = 0.4, 20.0  # a prior of 1 wrong label in 50


@dataclass(frozen=True)
class DualProbit(UpdateRule):
    """Keep a Gaussian belief (w, V) about the separator, exact in the rows that were taught.

    The belief is that of `Probit`, with V in dual form: it takes m rows and m x m numbers instead
    of d x d. So it is exact for rows of any width, as long as there is room. The blur ν stays as
    it is given: while most words are still unseen, labels say little of it.

    More than two classes are learnt by the targets of `ClassRidge`, with the same blur.

    Parameters
    ----------
    room : int
        Rows that are kept at most; later labels move the weights alone.
    blur : float
        ν, the variance of a label about the separator. A row of length 1 has variance 1 at first.

    Examples
    --------
    >>> from selectron import SelectiveClassifier, updates
    >>> clf = SelectiveClassifier(updates.DualProbit(), "always")
    >>> clf.fit([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]], ["yes", "no", "no"]).coef_.round(3).tolist()
    [[-0.556, 1.057]]
    """

    room: int = 1024
    blur: float = 0.03
    HAS_SCALE: ClassVar = True
    RANGES: ClassVar = {"room": Range(1, 10_000), "blur": POSITIVE}

    def begin(self, d: int, dtype: DTypeLike) -> Belief:
        noise = Noise(float(self.blur), 0.0, 0, UNTAUGHT)
        return Belief(no_rows_kept(d, int(self.room), 1), SteadyNoise(noise), 0.0, 0)

    def many(self, d: int, dtype: DTypeLike, n_classes: int) -> ClassBelief:
        known, sharpness = KnownClasses(np.zeros(n_classes)), np.array([FIRST_SHARPNESS, 0.0])
        rule = BlurredClasses(known, float(self.blur), sharpness)
        store = no_rows_kept(d, int(self.room), n_classes)
        return ClassBelief(store, rule, np.zeros(n_classes), 0.0, 0)


class SteadyNoise(NamedTuple):
    """The rule: noise whose blur stays as it was given."""

    noise: Noise


@helper
def flips_among(noise: Noise) -> float:
    """Return the share of labels that are believed to be flipped."""
    return min(MOST_FLIPS, (FLIPS_BEFORE + noise.flips) / (LABELS_BEFORE + noise.n_labels))


@lesson_of.of(SteadyNoise)
def steady_lesson(rule: SteadyNoise, y: float, forecast: Forecast) -> Lesson:
    found = moments_matched(rule.noise, flips_among(rule.noise), y, forecast)
    return Lesson(True, SteadyNoise(found.noise), found.step, found.share)


@least_variance.of(SteadyNoise)
def never_certain(rule: SteadyNoise) -> float:
    return LEAST_BLUR


class BlurredClasses(NamedTuple):
    """The rule of many classes: the targets of `ClassRidge`, each label about them by the blur."""

    known: KnownClasses
    blur: float
    sharpness: Vector  # of the softmax of scores, and the sum of squares of its steps


@lead_of.of(BlurredClasses)
def lead_of_blurred(rule: BlurredClasses, scores: Vector) -> Lead:
    found: Lead = lead_of(rule.known, scores)
    return found


@helper
def sharpen(sharpness: Vector, known: KnownClasses, label: int, scores: Vector) -> None:
    """Move the sharpness by a label: up if its class scored more than the softmax expected."""
    total, mean = 0.0, 0.0
    top = scores[0]
    for k in range(len(scores)):
        top = max(top, scores[k])
    for k in range(len(scores)):
        if known.counts[k] > 0.0:
            power = exponential(sharpness[0] * (scores[k] - top))
            total += power
            mean += power * scores[k]
    if known.counts[label] > 0.0 and total > 0.0:
        slope = sharpness[0] * (scores[label] - mean / total)
        sharpness[1] += slope * slope
        step = min(max(slope / sqrt(1.0 + sharpness[1]), -1.0), 1.0)
        sharpness[0] = min(max(sharpness[0] * exponential(step), 1.0), SHARPEST)


@chances.of(ClassBelief)
def chances_by_softmax(update: ClassBelief, scores: Matrix) -> Matrix:
    return chances_of_scores(scores, float(update.rule.sharpness[0]))


@weight_of_label.of(BlurredClasses)
def weight_without_blur(rule: BlurredClasses, label: int, rival: int, scores: Vector) -> float:
    sharpen(rule.sharpness, rule.known, label, scores)
    return np.float64(weight_of_label(rule.known, label, rival, scores)) / rule.blur


@target_of.of(BlurredClasses)
def target_of_known(rule: BlurredClasses, k: int, label: int, rival: int, score: float) -> float:
    return np.float64(target_of(rule.known, k, label, rival, score))


in_file(BlurredClasses, "blur", sharpness=NOT_NEGATIVE)
