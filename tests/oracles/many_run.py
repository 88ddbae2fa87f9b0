"""The loop over many classes: the query rule is told right or wrong."""

from typing import Any, NamedTuple

import numpy as np


class Record(NamedTuple):
    margins: np.ndarray
    predicted: np.ndarray
    probabilities: np.ndarray
    asked: np.ndarray
    learner: Any


def run(learner, query, X, labels, coins):
    n = len(labels)
    margins, odds = np.zeros(n), np.zeros(n)
    predicted, asked = np.zeros(n, int), np.zeros(n, bool)
    for t in range(n):
        forecast = learner.forecast(X[t])
        margins[t], predicted[t] = forecast.margin, forecast.best
        query.preview(X[t])
        odds[t] = query.probability(X[t], forecast)
        asked[t] = coins[t] < odds[t]
        query.advance(forecast, bool(asked[t]))
        if asked[t]:
            query.count_class(int(labels[t]))
            query.observe(X[t], forecast, 1.0 if forecast.best == labels[t] else -1.0)
            learner.learn(X[t], int(labels[t]))
    return Record(margins, predicted, odds, asked, learner)
