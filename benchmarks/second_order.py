"""Lazy passes against computing the variance for every row, with the same questions."""

import numpy as np
from numba import njit

from benchmarks.data import mnist
from benchmarks.paired import Row, ratio, times
from selectron import SelectiveClassifier
from selectron.evaluate import progressive
from selectron.numeric.coins import coins
from selectron.queries import Margin
from selectron.updates import SecondOrder

N, B = 4000, 0.1
N_DEFAULT = 20_000  # it asks most at the start: 593 of the first 4,000 rows, 1,218 of these


@njit
def eager_pass(X, y, tossed, b):
    """The same algorithm, with A⁻¹x by BLAS in every round."""
    d = X.shape[1]
    A_inv, w = np.eye(d), np.zeros(d)
    n_asked = n_updates = 0
    for t in range(len(X)):
        x = X[t]
        g = A_inv @ x
        r = x @ g
        margin = (w @ x) / (1.0 + r)
        if tossed[t] < b / (b + abs(margin)):
            n_asked += 1
            if y[t] * margin <= 0:
                n_updates += 1
                w += g * (y[t] / (1.0 + r) - margin)
                for i in range(d):
                    for j in range(d):
                        A_inv[i, j] -= g[i] * g[j] / (1.0 + r)
    return n_asked, n_updates


def rows():
    stream = mnist()
    X, y = stream.X[:N], stream.y[:N]
    signs = np.where(y, 1.0, -1.0)
    tossed = coins(0, 0, N)
    learner = SelectiveClassifier(SecondOrder(), Margin(b=B), random_state=0)
    taken = times(
        {"eager": lambda: eager_pass(X, signs, tossed, B), "lazy": lambda: learner.fit(X, y)}
    )
    if (learner.n_asked_, learner.n_updates_) != eager_pass(X, signs, tossed, B):
        raise AssertionError("the lazy and the eager pass asked different questions")
    return [
        Row("10 second order d=784, lazy / eager", ratio(taken["lazy"], taken["eager"]), 0.25),
        default_learner(stream.X[:N_DEFAULT], stream.y[:N_DEFAULT]),
    ]


def default_learner(X, y):
    """Return how long the default takes against making every forecast exact."""
    learner = SelectiveClassifier(random_state=0)
    traces = []
    every = lambda: traces.append(progressive(learner, X, y, seed=0))  # noqa: E731
    taken = times({"every": every, "lazy": lambda: learner.fit(X, y)})
    if learner.n_asked_ != traces[-1].n_asked:
        raise AssertionError("the lazy pass asked other questions")
    return Row("default d=784, lazy / every forecast", ratio(taken["lazy"], taken["every"]), 0.3)
