"""The loop for labels that are numbers of classes: predict, maybe ask, maybe learn.

A query rule is told +1 for a right prediction and -1 for a wrong one; the margin it sees is what
the first class is ahead of the second.
"""

from functools import cache
from math import isfinite

from numba import njit

from selectron.kernels.many_classes import leader
from selectron.loop import (
    DONE,
    LABEL_NEEDED,
    NOT_FINITE,
    Kernel,
    Learner,
    quietly,
)
from selectron.numeric.rows import row
from selectron.numeric.scalars import pack, unpack
from selectron.protocol import advance, ask_probability, glance, learn, observe, present


@cache
def compiled_rounds(bodies: str) -> Kernel:
    """Compile a pass over rows with class numbers; writes the class predicted in every round."""

    @njit(cache=True, error_model="numpy", nogil=True, _nrt=False)
    def run_rounds(learner, numbers, X, labels, coins, log, predicted):  # type: ignore[no-untyped-def]
        _ = bodies
        scaling, update, query = unpack(learner, numbers)
        status, n_asked, t = DONE, 0, 0
        while t < len(coins):
            z = present(scaling, row(X, t))
            forecast = glance(update, z)
            if not isfinite(forecast.margin):
                status = NOT_FINITE
                break
            predicted[t] = leader(update.prototypes.scores, -1)
            probability = ask_probability(query, z, forecast)
            asked = coins[t] < probability
            if asked and not 0 <= labels[t] < len(update.prototypes.scores):
                status = LABEL_NEEDED
                break
            n_updates = update.n_updates
            query = advance(query, forecast, asked)
            if asked:
                told = 1.0 if predicted[t] == labels[t] else -1.0
                query = observe(query, z, forecast, told)
                update = learn(update, z, float(labels[t]), forecast)
                n_asked += 1
            if log.kept:
                log.forecasts[t, 0] = forecast.margin
                log.forecasts[t, 1] = forecast.unit
                log.forecasts[t, 2] = forecast.norm
                log.forecasts[t, 3] = forecast.variance
                log.probabilities[t] = probability
                log.asked[t] = asked
                log.updated[t] = update.n_updates != n_updates
            t += 1
        pack(Learner(scaling, update, query), numbers)
        return t, status, n_asked

    return quietly(run_rounds)


@cache
def compiled_leaders(bodies: str) -> Kernel:
    """Compile the prediction of the classes of many rows, and the margins."""

    @njit(cache=True, error_model="numpy", _nrt=False)
    def run_leaders(learner, numbers, X, margins, predicted):  # type: ignore[no-untyped-def]
        _ = bodies
        scaling, update, _query = unpack(learner, numbers)
        for t in range(len(margins)):
            margins[t] = glance(update, present(scaling, row(X, t))).margin
            predicted[t] = leader(update.prototypes.scores, -1)

    return quietly(run_leaders)
