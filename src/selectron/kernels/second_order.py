"""Ridge regression and the second-order Perceptron in dual form ([CBGZ06], section 2)."""

from typing import NamedTuple

from selectron.compiler.verbs import helper
from selectron.kernels.block import BlockRow
from selectron.kernels.regression import Regression, enter, leftover, length, look, product
from selectron.protocol import Forecast, glance, learn, predict
from selectron.updates.covariance import SLACK, positive_root


class RidgeDual(NamedTuple):
    regression: Regression  # its targets are signs
    a: float
    norm: float
    n_updates: int


class SecondOrderDual(NamedTuple):
    regression: Regression
    a: float
    norm: float
    n_updates: int


@helper
def signed(regression: Regression, x: BlockRow) -> float:
    """Return w·x; NaN if the row is not finite."""
    look(regression, x)
    return product(regression, 0, x) + 0.0 * x.square


@glance.of(RidgeDual)
def ridge_glance(update: RidgeDual, x: BlockRow) -> Forecast:
    most = SLACK * x.square / update.a
    return Forecast(signed(update.regression, x), positive_root(most), update.norm, most, False)


@predict.of(RidgeDual)
def ridge_predict(update: RidgeDual, x: BlockRow, seen: Forecast) -> Forecast:
    variance = leftover(update.regression, x) / update.a
    return Forecast(seen.margin, positive_root(variance), update.norm, variance, True)


@learn.of(RidgeDual)
def ridge_learn(update: RidgeDual, x: BlockRow, y: float, forecast: Forecast) -> RidgeDual:
    update.regression.aims[0] = y
    regression = enter(update.regression, x, update.a)
    norm = length(regression, update.a)
    return RidgeDual(regression, update.a, norm, update.n_updates + 1)


@glance.of(SecondOrderDual)
def second_order_glance(update: SecondOrderDual, x: BlockRow) -> Forecast:
    """By Sherman-Morrison the margin is w.x / (1 + r), with 0 <= r <= k(x, x)/a."""
    most = SLACK * x.square / update.a
    margin = signed(update.regression, x) / (1.0 + most)
    return Forecast(margin, positive_root(most), update.norm, most, False)


@predict.of(SecondOrderDual)
def second_order_predict(update: SecondOrderDual, x: BlockRow, seen: Forecast) -> Forecast:
    variance = leftover(update.regression, x) / update.a
    margin = signed(update.regression, x) / (1.0 + variance)
    return Forecast(margin, positive_root(variance), update.norm, variance, True)


@learn.of(SecondOrderDual)
def second_order_learn(
    update: SecondOrderDual, x: BlockRow, y: float, forecast: Forecast
) -> SecondOrderDual:
    if y * forecast.margin > 0.0:
        return update
    update.regression.aims[0] = y
    regression = enter(update.regression, x, update.a)
    norm = length(regression, update.a)
    return SecondOrderDual(regression, update.a, norm, update.n_updates + 1)
