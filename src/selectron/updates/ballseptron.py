"""Ballseptron [SS05]: a Perceptron that also learns from right answers that were too close."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from selectron.arrays import Matrix, Vector
from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import Row, add_scaled, dot, square_norm
from selectron.numeric.sums import lane_dot
from selectron.protocol import (
    Forecast,
    ManyForecast,
    already_exact,
    flaw,
    glance,
    hypothesis,
    in_file,
    learn,
    out_of_range,
    predict,
)
from selectron.spec import NOT_NEGATIVE, UpdateRule
from selectron.updates.first_order import glance_by_prototypes, prototypes_of_many, rival_of

SMALLEST_SCALE = 1e-100


@dataclass(frozen=True)
class Ballseptron(UpdateRule):
    """Add y x on a mistake; within distance r, add the ball's worst point ([SS05], Figure 2).

    Parameters
    ----------
    r : float
        Radius >= 0 of the ball around every example that shares its label. 0 is the Perceptron;
        the bounds want r < (√2 - 1) γ.
    mistakes_too : bool
        On a mistake, too, add the worst point of the ball instead of the row. The paper proposes
        this in section 6; it shrinks the hypothesis with every update. A hypothesis of zero gives
        the ball no direction, so the row itself is added. `bounds.ss05.d1_mistakes_too` and
        `d2_mistakes_too` bound the mistakes.

    Examples
    --------
    >>> from selectron import SelectiveClassifier, updates
    >>> clf = SelectiveClassifier(updates.Ballseptron(r=0.3), "always")
    >>> clf.fit([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]], ["yes", "no", "no"]).coef_.round(3).tolist()
    [[-1.158, 1.103]]
    """

    r: float = 0.1
    mistakes_too: bool = False
    RANGES: ClassVar = {"r": NOT_NEGATIVE}

    by_products = True

    def begin(self, d: int, dtype: DTypeLike) -> "BallseptronState":
        return BallseptronState(np.zeros(d, dtype), 1.0, self.numbers(), 0.0, 0.0, 0, 0)

    def many(self, d: int, dtype: DTypeLike, n_classes: int) -> "ManyBallseptronState":
        prototypes, between = np.zeros((n_classes, d), dtype), np.zeros(d)
        scores, rule = np.zeros(n_classes), self.numbers()
        return ManyBallseptronState(prototypes, scores, between, rule, 0.0, 0.0, 0, 0)

    def numbers(self) -> "BallseptronRule":
        return BallseptronRule(float(self.r), bool(self.mistakes_too))


class BallseptronRule(NamedTuple):
    r: float
    mistakes_too: bool


class BallseptronState(NamedTuple):
    weights: Vector
    scale: float  # the hypothesis is scale * weights: shrinking it costs nothing
    rule: BallseptronRule
    square_length: float
    norm: float
    n_updates: int
    n_margin_errors: int


@glance.of(BallseptronState)
def ballseptron_glance(update: BallseptronState, x: Row) -> Forecast:
    norm = update.norm
    margin = update.scale * dot(x, update.weights)
    return Forecast(margin, norm if norm > 0.0 else 1.0, norm, 0.0, True)


predict.of(BallseptronState)(already_exact)


@learn.of(BallseptronState)
def ballseptron_learn(
    update: BallseptronState, x: Row, y: float, forecast: Forecast
) -> BallseptronState:
    signed = y * forecast.margin
    norm, rule = forecast.norm, update.rule
    if signed > 0.0 and signed > rule.r * norm:
        return update
    shrink = 1.0
    if signed > 0.0 or (rule.mistakes_too and norm > 0.0):
        shrink = 1.0 - rule.r / norm  # x̂ = x - y r w/|w|, so w + y x̂ = (1 - r/|w|) w + y x
    scale = update.scale * shrink
    if abs(scale) < SMALLEST_SCALE:
        for i in range(len(update.weights)):
            update.weights[i] *= scale
        scale = 1.0
    add_scaled(x, y / scale, update.weights)
    kept = shrink * shrink * update.square_length
    square_length = max(kept + 2.0 * shrink * signed + square_norm(x), 0.0)
    return update._replace(
        scale=scale,
        square_length=square_length,
        norm=sqrt(square_length),
        n_updates=update.n_updates + 1,
        n_margin_errors=update.n_margin_errors + (1 if signed > 0.0 else 0),
    )


@hypothesis.of(BallseptronState)
def ballseptron_hypothesis(update: BallseptronState) -> Vector:
    return update.scale * update.weights


class ManyBallseptronState(NamedTuple):
    prototypes: Matrix  # (K, d)
    scores: Vector
    between: Vector  # the label's prototype minus that of the best other class
    rule: BallseptronRule
    square_length: float
    norm: float
    n_updates: int
    n_margin_errors: int


glance.of(ManyBallseptronState)(glance_by_prototypes)
predict.of(ManyBallseptronState)(already_exact)
hypothesis.of(ManyBallseptronState)(prototypes_of_many)


@learn.of(ManyBallseptronState)
def many_ballseptron_learn(
    update: ManyBallseptronState, x: Row, y: float, forecast: ManyForecast
) -> ManyBallseptronState:
    """Follow [SS05], equations (18) and (19): within the ball of radius r, its worst point."""
    label = int(y)
    rival = rival_of(label, forecast)
    r = update.rule.r
    right, wrong, between = update.prototypes[label], update.prototypes[rival], update.between
    ahead = update.scores[label] - update.scores[rival]
    is_right = ahead > 0.0
    size = square_norm(x)
    shift = 0.0  # x̂ = x - shift · between
    if is_right or update.rule.mistakes_too:
        for i in range(len(between)):
            between[i] = np.float64(right[i]) - np.float64(wrong[i])
        distance = sqrt(np.float64(lane_dot(between, between)))
        if is_right and ahead > r * distance:
            return update
        if distance > 0.0:
            shift = r / distance
            size += r * r - 2.0 * shift * ahead
            ahead -= r * distance
    add_scaled(x, 1.0, right)
    add_scaled(x, -1.0, wrong)
    if shift > 0.0:
        step = right.dtype.type(shift)
        for i in range(len(between)):
            right[i] -= step * between[i]
            wrong[i] += step * between[i]
    grown = max(update.square_length + 2.0 * (ahead + size), 0.0)
    return update._replace(
        square_length=grown,
        norm=sqrt(grown),
        n_updates=update.n_updates + 1,
        n_margin_errors=update.n_margin_errors + (1 if is_right else 0),
    )


in_file(BallseptronRule, "r", "mistakes_too")
in_file(ManyBallseptronState, square_length=NOT_NEGATIVE, norm=NOT_NEGATIVE)


@flaw.of(BallseptronState)
def vanished(update: BallseptronState) -> str:
    wrong = out_of_range(update, square_length=NOT_NEGATIVE, norm=NOT_NEGATIVE)
    return wrong or ("the scale is 0" if update.scale == 0.0 else "")
