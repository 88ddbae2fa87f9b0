"""The p-norm Perceptron: the additive family of [CBGZ06], section 3."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from selectron.arrays import Vector
from selectron.compiler.verbs import helper
from selectron.numeric.elementary import exponential, logarithm, sqrt
from selectron.numeric.rows import Row, dot, entry_index
from selectron.protocol import Forecast, already_exact, glance, hypothesis, in_file, learn, predict
from selectron.spec import NOT_NEGATIVE, Range, UpdateRule
from selectron.updates.first_order import is_mistake


@dataclass(frozen=True)
class PNorm(UpdateRule):
    """Add y x to θ on a mistake; predict with w = ∇½‖θ‖ₚ² ([CBGZ06], section 3).

    Parameters
    ----------
    p : float
        >= 2. p = 2 is the Perceptron to the bit; p near 2 ln d favours few relevant features.
    literal_ties : bool
        [CBGZ06] predicts -1 where the margin is 0, so that a tie is a mistake if y = +1 alone. By
        default every tie is one.

    Examples
    --------
    >>> from selectron import SelectiveClassifier, updates
    >>> clf = SelectiveClassifier(updates.PNorm(p=4.0), "always")
    >>> clf.fit([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]], ["yes", "no", "no"]).coef_.round(3).tolist()
    [[-0.097, 0.776]]
    """

    p: float = 2.0
    literal_ties: bool = False
    RANGES: ClassVar = {"p": Range(2.0, float("inf"), high_open=True)}

    def begin(self, d: int, dtype: DTypeLike) -> "PNormState":
        knobs = float(self.p), bool(self.literal_ties)
        return PNormState(np.zeros(d), np.zeros(d), *knobs, 0.0, 0.0, 0)


class PNormState(NamedTuple):
    theta: Vector
    powers: Vector  # sgn(θ_i)|θ_i|^(p-1): w up to a common factor
    p: float
    literal_ties: bool
    total: float  # Σ |θ_i|^p
    peak: float  # its largest value since it was last summed anew
    n_updates: int


@helper
def power(base: float, exponent: float) -> float:
    return exponential(exponent * logarithm(base)) if base > 0.0 else 0.0


@glance.of(PNormState)
def pnorm_glance(update: PNormState, x: Row) -> Forecast:
    margin = dot(x, update.powers)
    if update.p == 2.0:
        norm = sqrt(update.total)
    else:
        # w_i = sgn(θ_i)|θ_i|^(p-1) / ‖θ‖^(p-2); its dual norm ‖w‖_q is ‖θ‖_p.
        margin *= power(update.total, (2.0 - update.p) / update.p) if update.total > 0.0 else 0.0
        norm = power(update.total, 1.0 / update.p)
    return Forecast(margin, norm if norm > 0.0 else 1.0, norm, 0.0, True)


predict.of(PNormState)(already_exact)


@helper
def shift(x: Row, y: float, theta: Vector, powers: Vector, p: float) -> float:
    """Add y x to θ; return by how much Σ |θ_i|^p grew."""
    grown = 0.0
    for k in range(len(x.values)):
        i = entry_index(x, k)
        before = abs(theta[i] * powers[i])
        theta[i] += y * x.values[k]
        size = abs(theta[i])
        if p == 2.0:
            powers[i] = theta[i]
        else:
            powers[i] = power(size, p - 1.0) if theta[i] > 0.0 else -power(size, p - 1.0)
        grown += abs(theta[i] * powers[i]) - before
    return grown


@learn.of(PNormState)
def pnorm_learn(update: PNormState, x: Row, y: float, forecast: Forecast) -> PNormState:
    if not is_mistake(y, forecast.margin, update.literal_ties):
        return update
    total = update.total + shift(x, y, update.theta, update.powers, update.p)
    peak = max(update.peak, total)
    if total < 0.5 * peak:  # differences of large numbers: sum anew before digits are lost
        total = 0.0
        for i in range(len(update.theta)):
            total += abs(update.theta[i] * update.powers[i])
        peak = total
    return update._replace(total=total, peak=peak, n_updates=update.n_updates + 1)


@hypothesis.of(PNormState)
def pnorm_hypothesis(update: PNormState) -> Vector:
    if update.p == 2.0 or update.total == 0.0:
        return update.powers
    return update.powers * power(update.total, (2.0 - update.p) / update.p)


in_file(PNormState, "p", "literal_ties", total=NOT_NEGATIVE)
