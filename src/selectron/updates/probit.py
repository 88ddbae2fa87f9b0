"""A Bayesian probit learner by assumed-density filtering, which tunes its own noise."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from selectron.arrays import Matrix, Vector
from selectron.compiler.verbs import helper
from selectron.numeric.elementary import (
    exponential,
    logarithm,
    normal_density,
    normal_distribution,
    sqrt,
)
from selectron.numeric.rows import Row, add_scaled, dot, square_norm
from selectron.numeric.symmetric import downdate, quadratic_form
from selectron.protocol import Forecast, chances, in_file
from selectron.spec import NOT_NEGATIVE, POSITIVE, Range, State, UpdateRule
from selectron.updates.covariance import (
    SLACK,
    Belief,
    Lesson,
    belief,
    least_variance,
    lesson_of,
    most_variance,
    reconsider,
    warm_up_rule,
)
from selectron.updates.low_rank import fresh_low_rank
from selectron.updates.sharpness import UNTAUGHT, Sharpness, chances_of_margins, sharpened

FULL = 0
FIRST_BLUR, LEAST_BLUR, MOST_BLUR = 0.3, 1e-12, 4.0
FLIPS_BEFORE, LABELS_BEFORE, MOST_FLIPS = 1.0, 20.0, 0.4  # a prior of 1 wrong label in 20
CLEAN_LABELS = 40.0  # beside which the flips that labels have shown are told as a chance
DEEPEST = -30.0  # standard deviations on the wrong side that a label is believed to be
ROW_WEIGHT = 0.06  # each row z of a warm-up adds this times z zᵀ to V = I
RIVAL_TRUST, RIVAL_LABELS = 0.75, 50.0  # the rival is right so often; it keeps 50 + 2d labels
REFUTED = 14.0  # log odds: a belief that is true is dropped once in a million labels


@dataclass(frozen=True)
class Probit(UpdateRule):
    """Keep a Gaussian belief (w, V) about the separator, and match moments at every label.

    A label is +1 with probability fl + (1 - 2fl) Φ(w.x/√(r + ν)), r = xᵀVx. Late labels near the
    boundary count for more as the belief narrows, where least squares weighs them like the first
    ones: that brings the number of labels down to the order of d log(1/ε). The blur ν falls while
    labels are consistent, the flip rate fl is estimated as it goes: there is nothing to set.
    A scaling that warms up on rows without labels widens V in the directions in which these rows
    spread: V = I + 0.06 times the sum of their x xᵀ.

    Parameters
    ----------
    rank : int
        0 keeps the whole of V, d x d numbers. Otherwise V is known in the directions of the first
        `rank` labels, and is the identity elsewhere: for wide rows.

    Examples
    --------
    >>> from selectron import SelectiveClassifier, updates
    >>> clf = SelectiveClassifier(updates.Probit(), "always")
    >>> clf.fit([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]], ["yes", "no", "no"]).coef_.round(3).tolist()
    [[-0.539, 0.882]]
    """

    rank: int = FULL
    HAS_SCALE: ClassVar = True
    RANGES: ClassVar = {"rank": Range(0, 10_000)}

    @property
    def by_products(self) -> bool:
        return self.rank != FULL

    def begin(self, d: int, dtype: DTypeLike) -> Belief:
        noise = Noise(FIRST_BLUR, 0.0, 0, UNTAUGHT)
        if self.rank != FULL:
            return Belief(fresh_low_rank(d, int(self.rank), 1), noise, 0.0, 0)
        return belief(ProbitRule(noise, FLAT, Rival(np.zeros(d), 0.0)), d, 1.0)


class Noise(NamedTuple):
    """What is believed of the labels: all there is to the rule without a warm-up."""

    blur: float  # ν: the variance of a label about the separator
    flips: float  # the labels so far that were flipped, by their probability
    n_labels: int
    sharpness: Sharpness


class Moments(NamedTuple):
    """What a label does to a belief."""

    noise: Noise  # which has counted the label
    z: float  # how many standard deviations the row is on the side of its label
    slope: float
    step: float  # how far the weights move along Vx
    share: float  # V falls by this times Vx xᵀV


class Prior(NamedTuple):
    """What rows without labels have done to V = I + ROW_WEIGHT Σ z zᵀ."""

    n_rows: int
    squares: float  # Σ |z|⁴
    overlap: float  # the sum over all pairs of (z.z')²
    most: float  # no unit row has a larger variance


FLAT = Prior(0, 0.0, 0.0, 1.0)


class Rival(NamedTuple):
    """A simple rule of the latest labels, which the belief has to beat."""

    total: Vector  # Σ y x, the earlier labels fading: the rival says the sign of its product
    lead: float  # the log odds of the rival against the belief since the belief last led


class ProbitRule(NamedTuple):
    """The rule where the store has room for the directions of the warm-up."""

    noise: Noise
    prior: Prior
    rival: Rival


@helper
def flip_rate(noise: Noise) -> float:
    """Return the share of labels that are believed to be flipped."""
    return min(MOST_FLIPS, (FLIPS_BEFORE + noise.flips) / (LABELS_BEFORE + noise.n_labels))


@helper
def told_flips(noise: Noise) -> float:
    """Return the share of flips that probabilities tell: labels must have shown them."""
    return min(MOST_FLIPS, noise.flips / (CLEAN_LABELS + noise.n_labels))


@helper
def deviations(noise: Noise, y: float, forecast: Forecast) -> float:
    """Return how many standard deviations the row is on the side of its label."""
    spread = max(forecast.variance, LEAST_BLUR) + noise.blur
    return max(y * forecast.margin / sqrt(spread), DEEPEST)


@lesson_of.of(Noise)
def match_moments(noise: Noise, y: float, forecast: Forecast) -> Lesson:
    """Match the moments of the belief after a label y, and tune the noise by it."""
    found = moments_matched(noise, flip_rate(noise), y, forecast)
    blur = noise.blur
    if noise.n_labels > 0:
        # The expected change is 0 when the labels are as blurred as is believed.
        surprise = min(max(-found.slope * found.z, -1.0), 1.0)
        blur = min(max(blur * exponential(surprise), LEAST_BLUR), MOST_BLUR)
    return Lesson(True, found.noise._replace(blur=blur), found.step, found.share)


@helper
def moments_matched(noise: Noise, flip: float, y: float, forecast: Forecast) -> Moments:
    """Match the moments of the belief after a label y, which is wrong with probability `flip`."""
    spread = max(forecast.variance, LEAST_BLUR) + noise.blur
    z = deviations(noise, y, forecast)
    right = normal_distribution(z)
    evidence = flip + (1.0 - 2.0 * flip) * right
    slope = (1.0 - 2.0 * flip) * normal_density(z) / evidence
    curvature = min(max(slope * (slope + z), 0.0), 1.0)
    flips = noise.flips + flip * (1.0 - right) / evidence
    told = told_flips(noise)
    sharpness = sharpened(noise.sharpness, noise.n_labels, y, forecast.margin, spread, told)
    later = Noise(noise.blur, flips, noise.n_labels + 1, sharpness)
    return Moments(later, z, slope, y * slope / sqrt(spread), curvature / spread)


@lesson_of.of(ProbitRule)
def probit_lesson(rule: ProbitRule, y: float, forecast: Forecast) -> Lesson:
    found = lesson_of(rule.noise, y, forecast)
    return Lesson(True, rule._replace(noise=found.rule), found.step, found.share)


@reconsider.of(ProbitRule)
def compare_with_rival(
    rule: ProbitRule, update: Belief, x: Row, y: float, forecast: Forecast
) -> tuple[Belief, bool]:
    """Let the belief begin again if the rival predicts the labels of late much better.

    So the learner survives a concept that changes, and labels that were noise for a long time. If
    the belief is true, the odds of the rival are a martingale, and hardly ever grow large.
    """
    noise, total = rule.noise, rule.rival.total
    flip = flip_rate(noise)
    evidence = flip + (1.0 - 2.0 * flip) * normal_distribution(deviations(noise, y, forecast))
    side = y * dot(x, total)
    trust = RIVAL_TRUST if side > 0.0 else (1.0 - RIVAL_TRUST if side < 0.0 else 0.5)
    lead = max(rule.rival.lead + logarithm(trust / evidence), 0.0)
    fade = 1.0 - 1.0 / (RIVAL_LABELS + 2.0 * len(total))
    for i in range(len(total)):
        total[i] *= fade
    add_scaled(x, y, total)
    if lead <= REFUTED:
        return update._replace(rule=rule._replace(rival=Rival(total, lead))), False
    return begun_again(update, total), True


@helper
def begun_again(update: Belief, total: Vector) -> Belief:
    """Return the belief without all it had learnt: its length is 0, which query rules can see."""
    V = update.store.A_inv
    update.store.weights[:] = 0.0
    V[:] = 0.0
    for i in range(len(total)):
        V[i, i] = 1.0
    rule = ProbitRule(Noise(FIRST_BLUR, 0.0, 0, UNTAUGHT), FLAT, Rival(total, 0.0))
    return Belief(update.store, rule, 0.0, update.n_updates + 1)


@chances.of(Belief)
def chances_by_noise(update: Belief, margins: Vector) -> Matrix:
    rule = update.rule
    noise = rule if isinstance(rule, Noise) else rule.noise
    return chances_of_margins(noise.sharpness, margins, told_flips(noise))


@most_variance.of(ProbitRule)
def most_of_prior(rule: ProbitRule, square: float) -> float:
    return SLACK * rule.prior.most * square


@least_variance.of(Noise, ProbitRule)
def never_certain(rule: State) -> float:
    return LEAST_BLUR


@warm_up_rule.of(ProbitRule)
def widen_prior(rule: ProbitRule, update: Belief, x: Row) -> ProbitRule:
    """Let V grow by a row, unless labels have shaped it already."""
    if update.n_updates > 0:
        return rule
    V, g = update.store.A_inv, update.store.image
    variance = quadratic_form(x, V, update.store.columns)
    prior = widened(rule.prior, square_norm(x), variance)
    g[:] = 0.0
    add_scaled(x, 1.0, g)
    downdate(V, g, -ROW_WEIGHT)
    # The first blur is to a row's variance, on average, what it is to 1 without a warm-up.
    blur = FIRST_BLUR * (1.0 + ROW_WEIGHT * 2.0 * prior.overlap / prior.n_rows)
    return rule._replace(noise=rule.noise._replace(blur=blur), prior=prior)


@helper
def widened(prior: Prior, square_length: float, variance: float) -> Prior:
    """Return the prior after a row of this variance is added."""
    squares = prior.squares + square_length * square_length
    overlap = prior.overlap + (variance - square_length) / ROW_WEIGHT
    # The largest eigenvalue of Σ z zᵀ is at most the length of the matrix of all products z.z'.
    most = 1.0 + ROW_WEIGHT * sqrt(squares + 2.0 * max(overlap, 0.0))
    return Prior(prior.n_rows + 1, squares, overlap, most)


in_file(Noise, blur=POSITIVE, flips=NOT_NEGATIVE)
in_file(Prior, squares=NOT_NEGATIVE, most=POSITIVE)
in_file(Rival, lead=NOT_NEGATIVE)
