"""Perceptron and Ballseptron of two classes in dual form ([SS05], end of section 2)."""

from typing import NamedTuple

from selectron.kernels.block import BlockRow
from selectron.kernels.prototypes import Prototypes, move, score
from selectron.numeric.elementary import sqrt
from selectron.protocol import Forecast, already_exact, glance, learn, predict


class TwoClasses(NamedTuple):
    prototypes: Prototypes  # one: its sign is the prediction
    eta: float
    r: float
    norm: float
    n_updates: int
    n_margin_errors: int


@glance.of(TwoClasses)
def two_classes_glance(update: TwoClasses, x: BlockRow) -> Forecast:
    score(update.prototypes, x)
    margin = update.prototypes.scores[0] + 0.0 * x.square
    return Forecast(margin, update.norm if update.norm > 0.0 else 1.0, update.norm, 0.0, True)


predict.of(TwoClasses)(already_exact)


@learn.of(TwoClasses)
def two_classes_learn(update: TwoClasses, x: BlockRow, y: float, forecast: Forecast) -> TwoClasses:
    signed = y * forecast.margin
    if signed > 0.0 and signed > update.r * update.norm:
        return update
    prototypes, margin_errors = update.prototypes, update.n_margin_errors
    if signed > 0.0:  # a margin error: x̂ = x - y r w/|w|, so w + y x̂ = (1 - r/|w|) w + y x
        shrink = 1.0 - update.r / update.norm
        for j in range(prototypes.support.n_support):
            prototypes.coefficients[0, j] *= shrink
        prototypes.products[0, 0] *= shrink * shrink
        prototypes.scores[0] *= shrink
        margin_errors += 1
    prototypes.steps[0] = update.eta * y
    prototypes = move(prototypes, x)
    norm = sqrt(max(prototypes.products[0, 0], 0.0))
    return TwoClasses(prototypes, update.eta, update.r, norm, update.n_updates + 1, margin_errors)
