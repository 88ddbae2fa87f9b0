"""A slow twin of the whole tracker, from its definition: learners, vote, odds, weights.

Plain Python numbers; dot products add up in eight lanes and a tree, as the library says it does, so
that margins can be compared to the bit. Learn-α is equations 2.7 and 2.8 of [Mon06], O(m n²).
"""

from math import exp

import numpy as np


def dot(x, w):
    lanes = [0.0] * 8
    for i, (a, b) in enumerate(zip(x, w, strict=True)):
        lanes[i % 8] += a * b
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = [lanes[i] + lanes[i + half] for i in range(half)]
    return lanes[0]


class RidgeTwin:
    """Recursive least squares: one triangle of A is computed, the other is its mirror."""

    def __init__(self, d, f, a=1.0, reset_every=None):
        self.d, self.f, self.a, self.reset_every, self.age = d, f, a, reset_every, 0
        self.start()

    def start(self):
        self.w = [0.0] * self.d
        self.A = [[1.0 / self.a if i == j else 0.0 for j in range(self.d)] for i in range(self.d)]

    def margin(self, x):
        return dot(x, self.w)

    def learn(self, x, y):
        if self.reset_every is not None and self.age == self.reset_every:
            self.start()
            self.age = 0
        self.age += 1
        d, A = self.d, self.A
        g = [0.0] * d
        for i in range(d):
            g = [g[j] + x[i] * A[i][j] for j in range(d)]
        share = 1.0 / (self.f + max(dot(x, g), 0.0))
        step = (y - dot(x, self.w)) * share
        self.w = [w + step * gi for w, gi in zip(self.w, g, strict=True)]
        for i in range(d):
            for j in range(i + 1):
                A[i][j] = (A[i][j] - (g[i] * g[j]) * share) * (1.0 / self.f)
                A[j][i] = A[i][j]
        trace = 0.0
        for i in range(d):
            trace += A[i][i]
        if trace > d / self.a:
            self.A = [[entry * ((d / self.a) / trace) for entry in row] for row in A]


class PerceptronTwin:
    def __init__(self, d):
        self.w = [0.0] * d

    def margin(self, x):
        return dot(x, self.w)

    def learn(self, x, y):
        if y * self.margin(x) <= 0:
            self.w = [w + y * a for w, a in zip(self.w, x, strict=True)]


class FirstOrderTwin(PerceptronTwin):
    def learn(self, x, y):
        p = self.margin(x)
        if y * p < 1:
            self.w = [w + 0.5 * (y - p) * a for w, a in zip(self.w, x, strict=True)]


class LearnAlphaTwin:
    def __init__(self, n, alphas, eta):
        self.eta = eta
        self.p = np.full((len(alphas), n), 1 / n)
        self.top = np.full(len(alphas), 1 / len(alphas))
        self.moves = np.array(
            [np.where(np.eye(n, dtype=bool), 1 - a, a / (n - 1) if n > 1 else 0) for a in alphas]
        )

    @property
    def weights(self):
        return self.top @ self.p

    def update(self, losses):
        likelihood = np.exp(-self.eta * np.asarray(losses))
        evidence = (self.p * likelihood).sum(axis=1)
        self.top = self.top * evidence / (self.top @ evidence)
        self.p = np.einsum("mj,mji->mi", self.p * likelihood, self.moves)
        self.p /= self.p.sum(axis=1, keepdims=True)


class AlwaysTwin:
    def odds(self, s):
        return 1.0

    def after(self, s, asked, y):
        pass


class ByMarginTwin:
    def __init__(self, rate=0.1):
        self.q, self.rate = 1.0, rate

    def odds(self, s):
        return max(0.025, self.q / (self.q + abs(s)))

    def after(self, s, asked, y):
        self.q *= exp(0.02 * (self.rate - asked))


class ByMistakesTwin:
    def __init__(self):
        self.q = 1.0

    def odds(self, s):
        return max(0.02, self.q / (self.q + abs(s)))

    def after(self, s, asked, y):
        if asked:
            self.q = max(0.01, self.q * exp(0.3 if (s > 0) != (y > 0) else -0.1))


def default_twins(d):
    return [
        RidgeTwin(d, 1.0 - 1.0 / (5.0 * d)),
        RidgeTwin(d, 1.0 - 1.0 / (50.0 * d)),
        RidgeTwin(d, 1.0),
        PerceptronTwin(d),
        FirstOrderTwin(d),
        RidgeTwin(d, 1.0, reset_every=400),
    ]


def track(learners, experts, query, X, y, coins):
    """Return the vote, whether it asked, every learner's margin and weight, round by round."""
    votes, asked, margins, weights = [], [], [], []
    for x, label, coin in zip(X.tolist(), y.tolist(), coins, strict=True):
        p = [learner.margin(x) for learner in learners]
        v = experts.weights
        s = sum(vk * min(max(pk, -1.0), 1.0) for vk, pk in zip(v, p, strict=True))
        odds = query.odds(s)
        votes.append(s)
        asked.append(coin < odds)
        margins.append(p)
        weights.append(v)
        query.after(s, asked[-1], label)
        if asked[-1]:
            experts.update([((pk > 0) != (label > 0)) / odds for pk in p])
            for learner in learners:
                learner.learn(x, label)
    return np.array(votes), np.array(asked), np.array(margins), np.array(weights)
