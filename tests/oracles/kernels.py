"""Rules in dual form as the papers print them: lists of rows, whole Gram matrices, nothing kept."""

from math import sqrt

import numpy as np

from tests.oracles.learners import forecast_of
from tests.oracles.many_learners import Forecast, ranked


def linear(x, s):
    return float(x @ s)


def poly(degree, gamma, coef0):
    return lambda x, s: float((gamma * (x @ s) + coef0) ** degree)


def rbf(gamma):
    return lambda x, s: float(np.exp(-gamma * ((x - s) @ (x - s))))


class Dual:
    """w = Σ alpha_i k(s_i, ·), at most `budget` of them."""

    def __init__(self, kernel, budget=None, removal="random", coins=()):
        self.kernel = kernel
        self.budget, self.removal, self.coins = budget, removal, coins
        self.rows, self.alphas, self.entered = [], [], []
        self.n_entered = self.n_updates = 0

    def values(self, x):
        return np.array([self.kernel(s, x) for s in self.rows])

    def gram(self):
        return np.array([[self.kernel(s, t) for t in self.rows] for s in self.rows])

    def product(self, x):
        """One number, or one a class."""
        return sum((a * k for a, k in zip(self.alphas, self.values(x), strict=True)), 0.0)

    def norm(self, direction=1.0):
        a = np.array([np.dot(alpha, direction) for alpha in self.alphas])
        return float(np.sqrt(max(a @ self.gram() @ a, 0.0))) if len(a) else 0.0

    def add(self, x, alpha):
        full = self.budget is not None and len(self.rows) == self.budget
        if self.budget is not None and self.removal == "projection" and self.rows:
            values = self.values(x)
            mixture = np.linalg.solve(self.gram(), values)
            if full or self.kernel(x, x) - values @ mixture <= 0.01 * self.kernel(x, x):
                for i, share in enumerate(mixture):
                    self.alphas[i] = self.alphas[i] + alpha * share
                return
        if full:
            slot = self.leaving()
            self.rows[slot], self.alphas[slot], self.entered[slot] = x, alpha, self.n_entered
        else:
            self.rows.append(x)
            self.alphas.append(alpha)
            self.entered.append(self.n_entered)
        self.n_entered += 1

    def leaving(self):
        if self.removal == "random":
            return int(self.coins[self.n_entered] * len(self.rows))
        sizes = [float(np.sum(np.abs(alpha))) for alpha in self.alphas]
        return min(range(len(sizes)), key=lambda j: (sizes[j], self.entered[j]))


class DualBallseptron(Dual):
    """[SS05] Figure 2; the Perceptron at r = 0; section 6: the worst point on mistakes too."""

    def __init__(self, kernel, r=0.0, eta=1.0, mistakes_too=False, literal_ties=False, **memory):
        super().__init__(kernel, **memory)
        self.r, self.eta = r, eta
        self.mistakes_too, self.literal_ties = mistakes_too, literal_ties

    def forecast(self, x):
        norm = self.norm()
        return forecast_of(self.product(x), norm, norm)

    def learn(self, x, y):
        margin, norm = self.product(x), self.norm()
        if self.literal_ties and margin == 0 and y < 0:
            return
        if y * margin > 0 and y * margin > self.r * norm:
            return
        if y * margin > 0 or (self.mistakes_too and norm > 0):
            self.alphas = [(1 - self.r / norm) * alpha for alpha in self.alphas]
        self.add(x, self.eta * y)
        self.n_updates += 1


class DualRegression(Dual):
    """[CBGZ06] section 2: w solves a ridge regression over the rows kept."""

    def __init__(self, kernel, a=1.0, on_mistakes=False, **memory):
        super().__init__(kernel, **memory)
        self.a, self.on_mistakes = a, on_mistakes

    def forecast(self, x):
        variance, margin, norm = self.kernel(x, x) / self.a, 0.0, 0.0
        if self.rows:
            values, gram = self.values(x), self.gram()
            inverse = np.linalg.inv(self.a * np.eye(len(gram)) + gram)
            weights = inverse @ np.array(self.alphas)
            margin, norm = values @ weights, np.sqrt(max(weights @ gram @ weights, 0.0))
            variance -= values @ inverse @ values / self.a
        if self.on_mistakes:
            margin /= 1 + variance
        return forecast_of(margin, np.sqrt(variance), norm, variance)

    def weights(self):
        gram = self.gram()
        return np.linalg.solve(self.a * np.eye(len(gram)) + gram, np.array(self.alphas))

    def leaving(self):
        if self.removal == "random":
            return super().leaving()
        sizes = np.abs(self.weights())
        return min(range(len(sizes)), key=lambda j: (sizes[j], self.entered[j]))

    def learn(self, x, y):
        if not self.on_mistakes or y * self.forecast(x).margin <= 0:
            self.add(x, y)  # here an alpha is a label
            self.n_updates += 1


class DualPrototypes(Dual):
    """[SS05] section 4: one prototype a class, a label is the number of its class."""

    def __init__(self, kernel, n_classes, r=0.0, mistakes_too=False, **memory):
        super().__init__(kernel, **memory)
        self.n_classes, self.r, self.mistakes_too = n_classes, r, mistakes_too
        self.n_margin_errors = 0

    def scores(self, x):
        return self.product(x) + np.zeros(self.n_classes)

    def predict(self, x):
        return int(np.argmax(self.scores(x)))

    def forecast(self, x):
        scores = self.scores(x)
        first = int(np.argmax(scores))
        second = int(np.argmax(np.where(np.arange(self.n_classes) == first, -np.inf, scores)))
        apart = self.norm(self.unit(first) - self.unit(second))
        return forecast_of(scores[first] - scores[second], apart, apart)

    def unit(self, c):
        return np.eye(self.n_classes)[c]

    def learn(self, x, label):
        scores = self.scores(x)
        rival = int(np.argmax(np.where(np.arange(self.n_classes) == label, -np.inf, scores)))
        between = self.unit(label) - self.unit(rival)
        ahead = scores[label] - scores[rival]
        apart = self.norm(between)
        if ahead > 0 and ahead > self.r * apart:
            return
        if ahead > 0 or (self.mistakes_too and apart > 0):
            moves = [np.dot(alpha, between) * self.r / apart for alpha in self.alphas]
            self.alphas = [a - m * between for a, m in zip(self.alphas, moves, strict=True)]
        self.n_margin_errors += bool(ahead > 0)
        self.add(x, between)
        self.n_updates += 1


class DualClassRegression(Dual):
    """The ridge regression of every class over the rows kept, solved anew for every row."""

    def __init__(self, kernel, n_classes, a=1.0, on_mistakes=False, **memory):
        super().__init__(kernel, **memory)
        self.n_classes, self.a, self.on_mistakes = n_classes, a, on_mistakes

    def weights(self):
        """One column a class; here an alpha is a row's targets."""
        if not self.rows:
            return np.zeros((0, self.n_classes))
        gram = self.gram()
        return np.linalg.solve(self.a * np.eye(len(gram)) + gram, np.array(self.alphas))

    def scores(self, x):
        return self.values(x) @ self.weights() if self.rows else np.zeros(self.n_classes)

    def forecast(self, x):
        variance, norm = self.kernel(x, x) / self.a, 0.0
        if self.rows:
            gram, weights, values = self.gram(), self.weights(), self.values(x)
            norm = sqrt(sum(max(w @ gram @ w, 0.0) for w in weights.T))
            solved = np.linalg.solve(self.a * np.eye(len(gram)) + gram, values)
            variance -= values @ solved / self.a
        scores = self.scores(x)
        best, second = ranked(scores)[:2]
        lead = scores[best] - scores[second]
        lead = lead / (1 + variance) if self.on_mistakes else lead
        return Forecast(float(lead), sqrt(variance) or 1.0, norm, float(variance), best, second)

    def leaving(self):
        if self.removal == "random":
            return super().leaving()
        sizes = np.abs(self.weights()).sum(axis=1)
        return min(range(len(sizes)), key=lambda j: (sizes[j], self.entered[j]))

    def learn(self, x, label):
        targets, scores = np.eye(self.n_classes)[label], self.scores(x)
        if self.on_mistakes:
            rival = next(k for k in ranked(scores) if k != label)
            if scores[label] > scores[rival]:
                return
            targets = targets - np.eye(self.n_classes)[rival]
        self.add(x, targets)
        self.n_updates += 1
