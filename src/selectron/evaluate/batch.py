"""Batch hypotheses: one fixed hypothesis made of an online run, and how much it may err.

An online learner has a hypothesis in each round. Whoever wants one of them for new rows may take
the last, the average over all rounds, or the one that survived longest.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from selectron.arrays import Array, Matrix, Table, Vector
from selectron.bounds import ccg04
from selectron.classifier.estimator import SelectiveClassifier, StreamClassifier
from selectron.classifier.progress import watched_fit
from selectron.evaluate.progressive import progressive
from selectron.evaluate.trace import Trace
from selectron.protocol import hypothesis


@dataclass(frozen=True)
class LinearHypothesis:
    """A fixed linear hypothesis: one row of weights for two classes, else a row for each."""

    coef: Matrix
    intercept: Vector
    classes: Array

    def predict(self, X: Table) -> Array:
        """Return the class of each row; a tie goes to the first class."""
        rows = X if hasattr(X, "tocsr") else np.asarray(X)
        scores = np.asarray(rows @ self.coef.T) + self.intercept
        best = scores.argmax(axis=1) if len(self.coef) > 1 else (scores[:, 0] > 0.0).astype(int)
        named: Array = self.classes[best]
        return named

    def error(self, X: Table, y: ArrayLike) -> float:
        """Return the share of rows that it predicts wrong."""
        return float(np.mean(self.predict(X) != np.asarray(y)))


@dataclass(frozen=True)
class BatchHypotheses:
    """The hypotheses that one online run leaves behind.

    Attributes
    ----------
    last, averaged, longest : LinearHypothesis
        That of the end; the mean over the rounds, each with the hypothesis that predicted in it;
        and the one with the most right predictions in a row from its first round on.
    survived : int
        How many right predictions in a row `longest` has.
    trace : Trace
        The run.
    """

    last: LinearHypothesis
    averaged: LinearHypothesis
    longest: LinearHypothesis
    survived: int
    trace: Trace

    def mean_bound(self, delta: float = 0.05) -> float:
        """Bound the error of a hypothesis of a random round (`bounds.ccg04.mean_error`)."""
        return ccg04.mean_error(mistakes=self.trace.n_mistakes, rounds=len(self.trace), delta=delta)

    def longest_bound(self, delta: float = 0.05) -> float:
        """Bound the error of `longest` (`bounds.ccg04.survivor_error`)."""
        return ccg04.survivor_error(
            survived=self.survived, n_hypotheses=len(self.trace), delta=delta
        )


def batch_hypotheses(
    learner: SelectiveClassifier, X: Table, y: ArrayLike, *, seed: int = 0
) -> BatchHypotheses:
    """Run a fresh copy of the learner over the rows; return its batch hypotheses.

    The run is made twice with the same coins, so that no more than three hypotheses are kept. The
    bounds hold for rows that are drawn independently, in the order in which they were drawn. The
    averaged hypothesis has no bound on its share of mistakes: that share is not convex in the
    weights.

    Parameters
    ----------
    learner : SelectiveClassifier
        Any update rule, without a kernel, on rows as they are or with an intercept.
    X, y : rows and all their labels
        The learner sees the labels it asks for; survival is judged by all.
    seed : int
        Seed of the coins.

    Examples
    --------
    >>> from selectron import SelectiveClassifier, evaluate, streams
    >>> X, y = streams.drifting("stationary", seed=0, n=4000, noise=0.0)[:2]
    >>> clf = SelectiveClassifier("perceptron", "always")
    >>> found = evaluate.batch_hypotheses(clf, X[:3000], y[:3000])
    >>> hypotheses = found.last, found.averaged, found.longest
    >>> [round(each.error(X[3000:], y[3000:]), 3) for each in hypotheses]
    [0.056, 0.015, 0.055]
    >>> found.survived, round(found.longest_bound(), 3), round(found.mean_bound(), 3)
    (110, 0.095, 0.103)
    """
    trace = progressive(learner, X, y, seed=seed)
    born, survived = _longest(trace)
    copy = type(learner)(**{**learner.get_params(deep=False), "random_state": seed})
    weights = _first(trace.learner)
    total, since, longest = np.zeros_like(weights), 0, weights

    def after_update(now: StreamClassifier, done: int) -> None:
        nonlocal weights, since, longest, total
        total += (done - since) * weights
        weights, since = _weights(now), done
        longest = weights if done == born else longest

    watched_fit(copy, X, y, after_update)
    total += (len(trace) - since) * weights
    classes = trace.learner.classes_
    last, averaged, survivor = (
        _made(each, classes) for each in (weights, total / len(trace), longest)
    )
    return BatchHypotheses(last, averaged, survivor, survived, trace)


def _longest(trace: Trace) -> tuple[int, int]:
    """Return after how many rounds the longest survivor was made, and how long it survived."""
    births = [0, *(np.flatnonzero(trace.updated) + 1).tolist()]
    ends = [*births[1:], len(trace)]
    wrong = np.append(np.flatnonzero(trace.mistakes), len(trace))
    firsts = wrong[np.searchsorted(wrong, births)].tolist()  # the first mistake from its birth on
    lives = [
        min(first, end) - birth for birth, end, first in zip(births, ends, firsts, strict=True)
    ]
    best = int(np.argmax(lives))
    return births[best], lives[best]


def _weights(learner: Any) -> Matrix:
    """Return the weights with the intercept in the last column."""
    return np.column_stack([learner.coef_, learner.intercept_]).astype(np.float64)


def _first(learner: Any) -> Matrix:
    """Return the weights before the first label."""
    scaling, update, _ = learner.rules_
    n, d = learner.coef_.shape
    width = d + scaling.EXTRA
    state = update.many(width, np.float64, n) if n > 1 else update.begin(width, np.float64)
    first = np.zeros((n, d + 1))
    first[:, :width] = hypothesis(state).reshape(n, width)
    return first


def _made(weights: Matrix, classes: Array) -> LinearHypothesis:
    return LinearHypothesis(weights[:, :-1].copy(), weights[:, -1].copy(), classes)
