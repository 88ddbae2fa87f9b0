"""Update rules as the papers print them: float64, explicit inverses, nothing kept up to date.

A learner forecasts a row, learns a label y in {-1, +1} deciding by itself whether to update, and
has `weights`, the hypothesis it predicts with.
"""

from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from tests.oracles import many_learners


class Forecast(NamedTuple):
    margin: float
    unit: float  # what a margin is measured in by the thresholds that scale themselves
    norm: float  # length of the hypothesis
    variance: float  # xᵀA⁻¹x for the second-order rules, else 0


def forecast_of(margin, unit, norm, variance=0.0):
    return Forecast(float(margin), float(unit) or 1.0, float(norm), float(variance))


def length(x):
    return float(np.sqrt(x @ x))


class Learner:
    def __init__(self, d):
        self.weights = np.zeros(d)
        self.n_updates = 0
        self.literal_ties = False

    def forecast(self, x):
        norm = length(self.weights)
        return forecast_of(self.weights @ x, norm, norm)

    def margin(self, x):
        return self.forecast(x).margin

    def is_wrong(self, x, y):
        """[CBGZ06], footnote 1: SGN(0) = -1. Otherwise a tie is wrong whatever the label."""
        margin = self.margin(x)
        return (1 if margin > 0 else -1) != y if self.literal_ties else y * margin <= 0


class Perceptron(Learner):
    def __init__(self, d, eta=1.0, literal_ties=False):
        super().__init__(d)
        self.eta, self.literal_ties = eta, literal_ties

    def learn(self, x, y):
        if self.is_wrong(x, y):
            self.weights = self.weights + self.eta * y * x
            self.n_updates += 1


class Reflection(Learner):
    """[DKM09] Figure 2, and the relaxation family for alpha < 2; rows are scaled to length 1."""

    def __init__(self, d, alpha=2.0):
        super().__init__(d)
        self.alpha = alpha
        self.started = False

    def forecast(self, x):
        norm = length(self.weights)
        return forecast_of(self.weights @ self.direction(x), norm, norm)

    def learn(self, x, y):
        x_hat = self.direction(x)
        if not self.started:
            self.weights, self.started = y * x_hat, True
        elif y * (self.weights @ x_hat) < 0:
            self.weights = self.weights - self.alpha * (self.weights @ x_hat) * x_hat
        else:
            return
        self.n_updates += 1

    @staticmethod
    def direction(x):
        return x / (length(x) or 1.0)


class Ballseptron(Learner):
    """[SS05] Figure 2; section 6 has the ball's worst point on mistakes too."""

    def __init__(self, d, r, mistakes_too=False):
        super().__init__(d)
        self.r, self.mistakes_too = r, mistakes_too
        self.n_margin_errors = 0

    def learn(self, x, y):
        margin, norm = self.margin(x), length(self.weights)
        if y * margin <= 0:
            if self.mistakes_too and norm > 0:
                x = x - y * self.r * self.weights / norm
            self.weights = self.weights + y * x
        elif y * margin / norm <= self.r:
            worst_in_ball = x - y * self.r * self.weights / norm
            self.weights = self.weights + y * worst_in_ball
            self.n_margin_errors += 1
        else:
            return
        self.n_updates += 1


class SecondOrder(Learner):
    """[CBGZ06] Figure 3, with A_0 = a I."""

    def __init__(self, d, a=1.0, literal_ties=False):
        super().__init__(d)
        self.literal_ties = literal_ties
        self.A = a * np.eye(d)
        self.v = np.zeros(d)

    def forecast(self, x):
        margin = self.v @ np.linalg.inv(self.A + np.outer(x, x)) @ x
        variance = x @ np.linalg.inv(self.A) @ x
        return forecast_of(margin, np.sqrt(variance), length(self.weights), variance)

    def learn(self, x, y):
        if self.is_wrong(x, y):
            self.v = self.v + y * x
            self.A = self.A + np.outer(x, x)
            self.weights = np.linalg.solve(self.A, self.v)
            self.n_updates += 1


class Winnow(Learner):
    """[CBGZ06] section 3; balanced: every feature also with its sign changed."""

    def __init__(self, d, eta, balanced=False, literal_ties=False):
        super().__init__(d)
        self.eta, self.balanced, self.literal_ties = eta, balanced, literal_ties
        n_weights = 2 * d if balanced else d
        self.simplex = np.full(n_weights, 1 / n_weights)
        self.weights = self.hypothesis()

    def hypothesis(self):
        if not self.balanced:
            return self.simplex.copy()
        plus, minus = np.split(self.simplex, 2)
        return plus - minus

    def forecast(self, x):
        return forecast_of(self.weights @ x, 1.0, 1.0)  # the simplex's own norm is 1

    def learn(self, x, y):
        if self.is_wrong(x, y):
            features = np.concatenate([x, -x]) if self.balanced else x
            grown = self.simplex * np.exp(self.eta * y * features)
            self.simplex = grown / grown.sum()
            self.weights = self.hypothesis()
            self.n_updates += 1


class PNorm(Learner):
    def __init__(self, d, p, literal_ties=False):
        super().__init__(d)
        self.p, self.literal_ties = p, literal_ties
        self.theta = np.zeros(d)

    def forecast(self, x):
        norm = np.sum(np.abs(self.theta) ** self.p) ** (1 / self.p)  # = the dual norm of w
        return forecast_of(self.weights @ x, norm, norm)

    def learn(self, x, y):
        if self.is_wrong(x, y):
            self.theta = self.theta + y * x
            powers = np.sign(self.theta) * np.abs(self.theta) ** (self.p - 1)
            norm = np.sum(np.abs(self.theta) ** self.p) ** (1 / self.p)
            self.weights = powers / norm ** (self.p - 2) if norm > 0 else np.zeros_like(x)
            self.n_updates += 1


class PassiveAggressive(Learner):
    """PA-I, and PA-II with squared=True."""

    def __init__(self, d, C=1.0, squared=False):
        super().__init__(d)
        self.C, self.squared = C, squared

    def forecast(self, x):
        return forecast_of(self.weights @ x, 1.0, length(self.weights))

    def learn(self, x, y):
        loss, square = max(0.0, 1 - y * self.margin(x)), float(x @ x)
        if loss > 0 and square > 0:
            tau = loss / (square + 1 / (2 * self.C)) if self.squared else min(self.C, loss / square)
            self.weights = self.weights + tau * y * x
            self.n_updates += 1


class Arow(Learner):
    def __init__(self, d, r):
        super().__init__(d)
        self.r = r
        self.S = np.eye(d)

    def forecast(self, x):
        variance = x @ self.S @ x
        return forecast_of(self.weights @ x, np.sqrt(variance), length(self.weights), variance)

    def learn(self, x, y):
        margin, variance = self.weights @ x, x @ self.S @ x
        if y * margin < 1:
            beta = 1 / (variance + self.r)
            self.weights = self.weights + max(0.0, 1 - y * margin) * beta * y * self.S @ x
            self.S = self.S - beta * np.outer(self.S @ x, self.S @ x)
            self.n_updates += 1


class Ridge(Learner):
    """Least squares on every label: w = A⁻¹ Σ y x."""

    def __init__(self, d, a=1.0):
        super().__init__(d)
        self.A = a * np.eye(d)
        self.v = np.zeros(d)

    def forecast(self, x):
        variance = x @ np.linalg.inv(self.A) @ x
        return forecast_of(self.weights @ x, np.sqrt(variance), length(self.weights), variance)

    def learn(self, x, y):
        self.A = self.A + np.outer(x, x)
        self.v = self.v + y * x
        self.weights = np.linalg.solve(self.A, self.v)
        self.n_updates += 1


class HalfStep(Learner):
    """Go a part of the way, half by default, to the weights that give the row its label."""

    def __init__(self, d, rate=0.5):
        super().__init__(d)
        self.rate = rate

    def forecast(self, x):
        return forecast_of(self.weights @ x, 1.0, length(self.weights))

    def learn(self, x, y):
        margin = self.margin(x)
        if y * margin < 1:
            rate = self.rate / max(1.0, self.rate * float(x @ x))  # never past the label
            self.weights = self.weights + rate * (y - margin) * x
            self.n_updates += 1


class ClassRidge(Learner):
    """A prototype a class, least squares on 0/1 targets, one-sided, rare classes weigh more."""

    def __init__(self, d, rank=0):
        super().__init__(d)
        self.rows = np.zeros((2, d))
        self.A_inv = np.eye(d)
        self.rank = rank or np.inf
        self.named = []

    def forecast(self, x):
        variance = x @ self.A_inv @ x
        return forecast_of(self.weights @ x, np.sqrt(variance), length(self.weights), variance)

    def learn(self, x, y):
        label = int(y > 0)
        target = np.array([1 - label, label])
        residuals = np.where(
            target, np.maximum(1 - self.rows @ x, 0), -np.maximum(self.rows @ x, 0)
        )
        self.named.append(label)
        usual = len(self.named) / len(set(self.named))
        weight = np.clip(usual / self.named.count(label), 1, 4)
        g = self.A_inv @ x
        share = weight / (1 + weight * (x @ g))
        self.rows = self.rows + share * np.outer(residuals, g)
        if self.n_updates < self.rank:
            self.A_inv = self.A_inv - share * np.outer(g, g)
        self.weights = self.rows[1] - self.rows[0]
        self.n_updates += 1


class Rehearsal(Learner):
    """Two classes as two of many."""

    def __init__(self, d, memory, visits):
        super().__init__(d)
        self.many = many_learners.Rehearsal(d, 2, memory, visits)

    def forecast(self, x):
        variance = self.many.variance(x)
        return forecast_of(self.weights @ x, np.sqrt(variance), length(self.weights), variance)

    def learn(self, x, y):
        self.many.learn(x, int(y > 0))
        self.weights = self.many.weights[1] - self.many.weights[0]
        self.n_updates += 1


class Probit(Learner):
    """A Gaussian belief about the separator, moments matched at every label.

    The whole belief, not that of low rank, begins again when a rival predicts much better: the sign
    of x.(the sum of y x over the latest labels), believed to be right three times in four.
    """

    def __init__(self, d, rank=0):
        super().__init__(d)
        self.rank = rank or np.inf
        self.rival, self.lead = np.zeros(d), 0.0
        self.begin()

    def begin(self):
        self.weights = np.zeros(len(self.rival))
        self.V = np.eye(len(self.rival))
        self.nu, self.Om, self.n = 0.3, 0.0, 0

    @property
    def flip_rate(self):
        return min(0.4, (1 + self.Om) / (20 + self.n))

    def refuted(self, x, y, Z):
        trust = 0.5 + 0.25 * np.sign(y * (self.rival @ x))
        self.lead = max(self.lead + np.log(trust / Z), 0.0)
        self.rival = self.rival * (1 - 1 / (50 + 2 * len(x))) + y * x
        return self.lead > 14

    def forecast(self, x):
        r = max(x @ self.V @ x, 1e-12)
        return forecast_of(self.weights @ x, np.sqrt(r), length(self.weights), r)

    def learn(self, x, y):
        p, _, _, r = self.forecast(x)
        fl, S = self.flip_rate, r + self.nu
        zeta = max(-30.0, y * p / np.sqrt(S))
        F = norm.cdf(zeta)
        Z = fl + (1 - 2 * fl) * F
        if self.rank == np.inf and self.refuted(x, y, Z):
            self.begin()
            self.lead = 0.0
            self.n_updates += 1
            return
        a = (1 - 2 * fl) * norm.pdf(zeta) / Z
        h = np.clip(a * (a + zeta), 0, 1) / S
        g = self.V @ x
        self.weights = self.weights + y * a / np.sqrt(S) * g
        if self.n_updates < self.rank:
            self.V = self.V - h * np.outer(g, g)
        if self.n > 0:
            self.nu = float(np.clip(self.nu * np.exp(np.clip(-a * zeta, -1, 1)), 1e-12, 4))
        self.Om += fl * (1 - F) / Z
        self.n += 1
        self.n_updates += 1


class DualProbit(Probit):
    """The same belief with a blur that stays, in the whole of V; later rows move w alone."""

    def __init__(self, d, room=1024, blur=0.03):
        super().__init__(d, rank=room)
        self.nu = blur

    @property
    def flip_rate(self):
        return min(0.4, (0.4 + self.Om) / (20 + self.n))

    def learn(self, x, y):
        blur = self.nu
        super().learn(x, y)
        self.nu = blur
