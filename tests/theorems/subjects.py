"""What the theorems are tested on: anything that plays a stream with an update and a query rule.

A subject is a function `play(update, query, X, y, coins) -> Played`. Rules are named as in the
public interface, `("Perceptron", {"eta": 1.0})`, so that one set of theorems serves every
implementation: add yours to `SUBJECTS`.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from selectron import queries as selectron_queries
from selectron import updates as selectron_updates
from selectron.numeric.rows import Dense
from tests.oracles import learners, queries
from tests.oracles.run import mean, run
from tests.rules.subject import play

Rule = tuple[str, dict]
ALWAYS: Rule = ("Always", {})


class Played(NamedTuple):
    margins: np.ndarray
    probabilities: np.ndarray
    asked: np.ndarray
    mistakes: np.ndarray
    weights: np.ndarray  # the hypothesis at the end


def play_twin(update: Rule, query: Rule, X, y, coins) -> Played:
    learner = getattr(learners, update[0])(X.shape[1], **update[1])
    knobs = {"d": X.shape[1]} if query[0] == "Halving" else {}
    record = run(learner, getattr(queries, query[0])(**query[1], **knobs), X, y, coins)
    return Played(*record[:4], record.learner.weights)


def play_compiled(update: Rule, query: Rule, X, y, coins) -> Played:
    """Play the rules of the package themselves, through the one loop."""
    rows = Dense(np.ascontiguousarray(X, float))
    rules = getattr(selectron_updates, update[0])(**update[1]), _query(query)
    played = play(*rules, rows, np.asarray(y, np.int8), coins, d=X.shape[1])
    mistakes = np.where(played.margins > 0, 1, -1) != y
    return Played(played.margins, played.probabilities, played.asked, mistakes, played.weights)


def _query(query: Rule):
    return getattr(selectron_queries, query[0])(**query[1])


SUBJECTS: dict[str, Callable[..., Played]] = {"twin": play_twin, "compiled": play_compiled}


class Expected(NamedTuple):
    """Exact means over the coins, one entry a round."""

    faults: np.ndarray  # rounds with y margin <= 0: every mistake, and the ties that are none
    mistakes: np.ndarray
    updates: np.ndarray  # faults that were asked
    asked: np.ndarray
    odds: np.ndarray  # what `odds_of` says the probability of asking should have been
    log_volume: float  # of A_n, by the rounds with an update


def expect(play, update: Rule, query: Rule, X, y, odds_of=None, a=1.0) -> Expected:
    """Weigh all 2^T coin outcomes; `odds_of(X, y, played)` restates the query's odds."""

    def log_volume(played):
        rows = X[faults(y, played) & played.asked]
        return np.linalg.slogdet(np.eye(X.shape[1]) + rows.T @ rows / a)[1]

    functionals = [
        lambda played: faults(y, played),
        lambda played: played.mistakes,
        lambda played: faults(y, played) & played.asked,
        lambda played: played.asked,
        lambda played: odds_of(X, y, played) if odds_of else played.probabilities,
        log_volume,
    ]
    return Expected(*mean(lambda coins: play(update, query, X, y, coins), len(y), functionals))


def faults(y, played: Played):
    return y * played.margins <= 0


def supervised(play, update: Rule, X, y) -> Played:
    """Play with every label asked."""
    return play(update, ALWAYS, X, y, np.zeros(len(y)))


def hypotheses(play, update: Rule, X, y):
    """Return the weights after 0, 1, ..., T labelled rounds, by playing every prefix."""
    after = [supervised(play, update, X[:t], y[:t]).weights for t in range(1, len(y) + 1)]
    return np.array([np.zeros(X.shape[1]), *after])
