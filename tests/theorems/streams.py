"""Streams for the theorems: drawn ones of every kind, and the worst ones, written down.

Labels are +1 or -1. Drawn entries are quarters, so that ties and repeated rows happen often.
"""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st


class Stream(NamedTuple):
    X: np.ndarray
    y: np.ndarray

    @property
    def max_norm(self):
        return float(np.sqrt((self.X**2).sum(axis=1)).max())


def stream(X, y):
    return Stream(np.array(X, float), np.array(y, float))


@st.composite
def noisy(draw, max_rounds=7, dimensions=(1, 2, 3)):
    """Rows and labels that have nothing to do with each other."""
    d = draw(st.sampled_from(dimensions))
    n = draw(st.integers(1, max_rounds))
    quarters = st.lists(st.integers(-4, 4), min_size=d, max_size=d).filter(any)
    rows = draw(st.lists(quarters, min_size=n, max_size=n))
    labels = draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
    return stream(np.array(rows) / 4, labels)


@st.composite
def hostile(draw, max_rounds=7, dimensions=(1, 2, 3)):
    """Labels that contradict a Perceptron which is told all of them: every round is a mistake."""
    X = draw(noisy(max_rounds, dimensions)).X
    w, labels = np.zeros(X.shape[1]), []
    for x in X:
        labels.append(-1 if w @ x > 0 else 1)
        w = w + labels[-1] * x
    return stream(X, labels)


@st.composite
def separable(draw, max_rounds=12, dimensions=(2, 3)):
    """Rows that a comparator u of length 1 tells apart; returns the stream and u."""
    X = draw(noisy(max_rounds, dimensions)).X
    angles = draw(st.lists(st.integers(-8, 8), min_size=X.shape[1], max_size=X.shape[1]))
    u = np.array(angles) + np.linspace(0.3, 0.4, X.shape[1])  # not along any quarter
    u /= np.sqrt(u @ u)
    # Where u is nearly tied the label would be a matter of rounding: such rows go over to u's side.
    X = np.where(np.abs(X @ u)[:, None] < 0.01, X + 0.02 * u, X)
    return stream(X, np.sign(X @ u)), u


def orthonormal(n, scale=1.0):
    """One new direction a round: every round is a tie, and nothing learnt helps."""
    return stream(scale * np.eye(n), np.ones(n))


def stubborn(n_rounds, n=1, scale=1.0, stretch=1.0):
    """Teach n directions +1, then say -1 of their sum, again and again until the learner yields."""
    rows = [*scale * np.eye(n), *[scale * stretch * np.ones(n)] * (n_rounds - n)]
    return stream(rows, [1] * n + [-1] * (n_rounds - n))


def lopsided(n_rounds):
    """Easy rows for half of the stream: a learner that learns from right answers is led astray."""
    half = n_rounds // 2
    return stream([(1, 0.3)] * half + [(-1, 0.5)] * half, [1] * n_rounds)


def bits(n_rounds, tilt=0.0):
    """Row t has bit t of 0, 1, ..., 2^n - 1 as signs; a tilt sets each row against those before."""
    d = 2**n_rounds
    signs = [[1 - 2 * (i >> t & 1) for i in range(d)] for t in range(n_rounds)]
    rows = [np.array(s) - tilt * np.sum(signs[:t], axis=0) for t, s in enumerate(signs)]
    return stream(rows, np.ones(n_rounds))


def comparators(X, y):
    """Some u worth trying in a bound at margin 1: 0, and multiples of two that fit the labels."""
    fits = [y @ X, np.linalg.lstsq(X, y, rcond=None)[0]]
    return [np.zeros(X.shape[1])] + [c * u for c in (0.1, 0.3, 0.6, 1.0, 2.0) for u in fits]


def hinge_losses(X, y, u, target_margin):
    return np.maximum(0.0, target_margin - y * (X @ u))
