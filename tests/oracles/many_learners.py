"""Update rules of many classes as the papers print them: a prototype a class, explicit inverses.

A learner forecasts a row, learns the number of a class deciding by itself whether to update, and
has `weights`, a prototype a row.
"""

from typing import NamedTuple

import numpy as np


class Forecast(NamedTuple):
    margin: float
    unit: float
    norm: float
    variance: float
    best: int
    second: int


def ranked(scores):
    """Class numbers by falling score; of equal scores the lowest number first."""
    return sorted(range(len(scores)), key=lambda k: (-scores[k], k))


class Learner:
    def __init__(self, d, n_classes):
        self.weights = np.zeros((n_classes, d))
        self.n_updates = 0

    def scores(self, x):
        return self.weights @ x

    def unit(self, x):
        return np.linalg.norm(self.weights)

    def variance(self, x):
        return 0.0

    def forecast(self, x):
        scores = self.scores(x)
        best, second = ranked(scores)[:2]
        lead = float(scores[best] - scores[second])
        norm = float(np.linalg.norm(self.weights))
        return Forecast(lead, float(self.unit(x)) or 1.0, norm, self.variance(x), best, second)

    def rival(self, x, label):
        return next(k for k in ranked(self.scores(x)) if k != label)

    def is_wrong(self, x, label, literal_ties):
        """A class that ties is wrong, or by its number: the first of equal classes is predicted."""
        scores = self.scores(x)
        if literal_ties:
            return ranked(scores)[0] != label
        return scores[label] <= scores[self.rival(x, label)]

    def move(self, label, rival, x):
        self.weights[label] += x
        self.weights[rival] -= x
        self.n_updates += 1


class Perceptron(Learner):
    """[SS05] equation (18), with ties as mistakes or as printed."""

    def __init__(self, d, n_classes, eta=1.0, literal_ties=False):
        super().__init__(d, n_classes)
        self.eta, self.literal_ties = eta, literal_ties

    def learn(self, x, label):
        if self.is_wrong(x, label, self.literal_ties):
            self.move(label, self.rival(x, label), self.eta * x)


class Ballseptron(Learner):
    """[SS05] section 4: the worst point of the ball about the row; section 6: on mistakes too."""

    def __init__(self, d, n_classes, r=0.1, mistakes_too=False):
        super().__init__(d, n_classes)
        self.r, self.mistakes_too = r, mistakes_too

    def learn(self, x, label):
        scores, rival = self.scores(x), self.rival(x, label)
        between = self.weights[rival] - self.weights[label]
        distance = np.linalg.norm(between)
        if scores[label] <= scores[rival]:
            away = self.mistakes_too and distance > 0
            self.move(label, rival, x + self.r * between / distance if away else x)
            return
        worst = x + self.r * between / distance
        if self.weights[label] @ worst <= self.weights[rival] @ worst:
            self.move(label, rival, worst)


class PassiveAggressive(Learner):
    """[CDKSS06]: the closest prototypes whose lead on the row is one."""

    def __init__(self, d, n_classes, C=1.0, squared=False):
        super().__init__(d, n_classes)
        self.C, self.squared = C, squared

    def unit(self, x):
        return 1.0

    def learn(self, x, label):
        scores, rival = self.scores(x), self.rival(x, label)
        loss = max(0.0, 1.0 - (scores[label] - scores[rival]))
        size = 2.0 * (x @ x)
        if loss > 0.0 and size > 0.0:
            step = loss / (size + 1.0 / (2.0 * self.C)) if self.squared else loss / size
            self.move(label, rival, (step if self.squared else min(self.C, step)) * x)


class HalfStep(Learner):
    def __init__(self, d, n_classes, rate=0.5):
        super().__init__(d, n_classes)
        self.rate = rate

    def unit(self, x):
        return 1.0

    def learn(self, x, label):
        scores = self.scores(x)
        wanted = np.minimum(scores, 0.0)
        wanted[label] = max(scores[label], 1.0)
        if (wanted != scores).any() and (x != 0).any():
            rate = self.rate / max(1.0, self.rate * (x @ x))
            self.weights += rate * np.outer(wanted - scores, x)
        self.n_updates += bool((wanted != scores).any())


class Reflection(Learner):
    """[DKM09] Figure 2 on all prototypes as one vector; the row stands in two places."""

    def __init__(self, d, n_classes, alpha=2.0):
        super().__init__(d, n_classes)
        self.alpha = alpha

    def scores(self, x):
        return self.weights @ (x / np.linalg.norm(x))

    def learn(self, x, label):
        rival = self.rival(x, label)
        stacked = np.zeros_like(self.weights)
        stacked[label], stacked[rival] = x, -x
        stacked /= np.linalg.norm(stacked)
        along = (self.weights * stacked).sum()
        if self.n_updates == 0:
            self.weights = stacked
            self.n_updates = 1
        elif along < 0.0:
            self.weights = self.weights - self.alpha * along * stacked
            self.n_updates += 1


class _SecondOrder(Learner):
    def __init__(self, d, n_classes, a=1.0):
        super().__init__(d, n_classes)
        self.A = a * np.eye(d)
        self.V = np.zeros((n_classes, d))

    def variance(self, x):
        return float(x @ np.linalg.inv(self.A) @ x)

    def unit(self, x):
        return np.sqrt(self.variance(x))

    def take(self, x):
        self.A = self.A + np.outer(x, x)
        self.weights = self.V @ np.linalg.inv(self.A)
        self.n_updates += 1


class SecondOrder(_SecondOrder):
    """[CBGZ06] Figure 3 with one A for all prototypes."""

    def __init__(self, d, n_classes, a=1.0, literal_ties=False):
        super().__init__(d, n_classes, a)
        self.literal_ties = literal_ties

    def scores(self, x):
        return self.V @ np.linalg.inv(self.A + np.outer(x, x)) @ x

    def learn(self, x, label):
        rival = self.rival(x, label)
        if self.is_wrong(x, label, self.literal_ties):
            self.V[label] += x
            self.V[rival] -= x
            self.take(x)


class Ridge(_SecondOrder):
    """Least squares on targets 1 for the label and 0 for the other classes."""

    def learn(self, x, label):
        self.V[label] += x
        self.take(x)


class ClassRidge(Learner):
    """Weighted least squares on 0/1 targets, one-sided; only classes that a label named compete.

    With a rank A⁻¹ takes the directions of the first labels only.
    """

    blur = 1.0

    def __init__(self, d, n_classes, rank=0):
        super().__init__(d, n_classes)
        self.A_inv = np.eye(d)
        self.rank = rank or np.inf
        self.named = []

    def scores(self, x):
        scores = self.weights @ x
        if self.named:
            others = [k for k in range(len(scores)) if k not in self.named]
            scores[others] = scores[self.named].min() - 1
        return scores

    def variance(self, x):
        return float(x @ self.A_inv @ x)

    def unit(self, x):
        return np.sqrt(self.variance(x))

    def learn(self, x, label):
        residuals = np.minimum(-(self.weights @ x), 0.0)
        residuals[label] = max(1 - self.weights[label] @ x, 0.0)
        self.named.append(label)
        usual = len(self.named) / len(set(self.named))
        weight = np.clip(usual / self.named.count(label), 1, 4) / self.blur
        g = self.A_inv @ x
        share = weight / (1 + weight * (x @ g))
        self.weights = self.weights + share * np.outer(residuals, g)
        if self.n_updates < self.rank:
            self.A_inv = self.A_inv - share * np.outer(g, g)
        self.n_updates += 1


class DualProbit(ClassRidge):
    """The same, each label about its targets by a blur of less than one."""

    def __init__(self, d, n_classes, room, blur):
        super().__init__(d, n_classes, rank=room)
        self.blur = blur


class Rehearsal(ClassRidge):
    """Prototypes that lead by one, squared hinges, by going over the latest labels again.

    A row's duals are kept; the prototypes are their sums, and old rows that were written over.
    """

    def __init__(self, d, n_classes, memory, visits):
        super().__init__(d, n_classes)
        self.memory, self.visits = memory, visits
        self.rows, self.labels, self.duals = [], [], []
        self.n_written = self.turn = 0

    def weight(self, label):
        usual = len(self.named) / len(set(self.named))
        return np.clip(usual / self.named.count(label), 1, 4)

    def revisit(self, place):
        x, label, duals = self.rows[place], self.labels[place], self.duals[place]
        w = self.weight(label)
        for k in sorted(set(self.named) - {label}):
            lead = (self.weights[label] - self.weights[k]) @ x
            curvature = 2 * x @ x + 1 / w
            best = max(duals[k] + (1 - lead - duals[k] / w) / curvature, 0.0)
            self.weights[k] -= (best - duals[k]) * x
            self.weights[label] += (best - duals[k]) * x
            duals[k] = best

    def learn(self, x, label):
        self.named.append(label)
        w, g = self.weight(label), self.A_inv @ x
        self.A_inv = self.A_inv - w / (1 + w * (x @ g)) * np.outer(g, g)
        place = self.n_written % self.memory
        fresh = x.copy(), label, np.zeros(len(self.weights))
        for kept, new in zip((self.rows, self.labels, self.duals), fresh, strict=True):
            kept[place : place + 1] = [new]
        self.n_written += 1
        self.revisit(place)
        for _ in range(self.visits):
            self.turn = (self.turn + 1) % len(self.rows)
            self.revisit(self.turn)
        self.revisit(place)
        self.n_updates += 1
