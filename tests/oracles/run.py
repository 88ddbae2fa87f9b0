"""The loop, and exact expectations over its coins."""

from typing import Any, NamedTuple

import numpy as np


class Record(NamedTuple):
    margins: np.ndarray
    probabilities: np.ndarray
    asked: np.ndarray
    mistakes: np.ndarray  # on every round, asked or not; a margin of 0 predicts -1
    learner: Any


def run(learner, query, X, y, coins):
    """Forecast, decide, learn what was asked; the query observes the forecast made before that."""
    n_rounds = len(y)
    margins, probabilities = np.zeros(n_rounds), np.zeros(n_rounds)
    asked, mistakes = np.zeros(n_rounds, bool), np.zeros(n_rounds, bool)
    for t in range(n_rounds):
        forecast = learner.forecast(X[t])
        margins[t] = forecast.margin
        query.preview(X[t])
        probabilities[t] = query.probability(X[t], forecast)
        asked[t] = coins[t] < probabilities[t]
        query.advance(forecast, bool(asked[t]))
        mistakes[t] = (1 if forecast.margin > 0 else -1) != y[t]
        if asked[t]:
            query.count_class(int(y[t] > 0))
            query.observe(X[t], forecast, y[t])
            learner.learn(X[t], y[t])
    return Record(margins, probabilities, asked, mistakes, learner)


def outcomes(play, n_rounds):
    """Yield (weight, record) for each query pattern that can happen: at most 2^n, weights sum to 1.

    `play(coins)` runs the rounds afresh. A coin of 0 asks wherever asking is possible, a coin of 1
    never asks, and each run shows where its path could have turned off.
    """
    pending = [()]
    while pending:
        prefix = pending.pop()
        coins = prefix + (0.0,) * (n_rounds - len(prefix))
        record = play(np.array(coins))
        chances = np.where(record.asked, record.probabilities, 1 - record.probabilities)
        yield float(np.prod(chances)), record
        for t in range(len(prefix), n_rounds):
            if record.asked[t] and record.probabilities[t] < 1:
                pending.append((*coins[:t], 1.0))


def mean(play, n_rounds, functionals):
    """Return the exact expectation of each functional of the record, a number or an array."""
    totals = [0.0] * len(functionals)
    for weight, record in outcomes(play, n_rounds):
        for i, functional in enumerate(functionals):
            totals[i] = totals[i] + weight * np.asarray(functional(record), float)
    return totals


def expectations(make_learner, make_query, X, y, functionals):
    return mean(lambda coins: run(make_learner(), make_query(), X, y, coins), len(y), functionals)
