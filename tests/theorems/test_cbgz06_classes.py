"""The bounds of many classes after [CBGZ06], with expectations taken over all coin outcomes.

The slow twins play; `tests/rules/many.py` compares them with the rules of the package.
"""

from typing import NamedTuple

import numpy as np
import pytest

from selectron.bounds import cbgz06_classes
from tests.oracles import many_learners, queries
from tests.oracles.many_run import run
from tests.oracles.run import mean

K = 3
PAIRS = {
    "theorem 1": ("Perceptron", {}, "Margin", {"b": 1.0}),
    "theorem 2": ("Perceptron", {}, "AdaptiveMargin", {"beta": 0.7}),
    "theorem 3": ("SecondOrder", {"a": 1.0}, "Margin", {"b": 1.0}),
}


class Played(NamedTuple):
    probabilities: np.ndarray
    asked: np.ndarray
    mistakes: np.ndarray
    updated: np.ndarray


def play(pair, X, y, coins):
    update, knobs, query, query_knobs = pair
    learner = getattr(many_learners, update)(X.shape[1], K, **knobs)
    after = []
    learn = learner.learn

    def watched(x, label):
        learn(x, label)
        after.append(learner.n_updates)

    learner.learn = watched
    record = run(learner, getattr(queries, query)(**query_knobs), X, y, coins)
    updated = np.zeros(len(y), bool)
    updated[record.asked] = np.diff([0, *after]) > 0
    return Played(record.probabilities, record.asked, record.predicted != y, updated)


def expected(pair, X, y):
    """Return mistakes, updates and the log volume, each an exact mean."""

    def log_volume(played):
        rows = X[played.updated]
        return np.linalg.slogdet(np.eye(X.shape[1]) + rows.T @ rows)[1]

    wanted = [lambda p: p.mistakes, lambda p: p.updated, log_volume]
    return mean(lambda coins: play(pair, X, y, coins), len(y), wanted)


def comparators(X, y):
    """Some prototypes worth trying at margin 1: 0, and multiples of sums and of a fit."""
    targets = np.eye(K)[y] - 1.0 / K
    fits = [targets.T @ X, np.linalg.lstsq(X, targets, rcond=None)[0].T]
    return [np.zeros((K, X.shape[1]))] + [c * U for c in (0.1, 0.3, 0.6, 1.0, 2.0) for U in fits]


def losses(X, y, U):
    scores = X @ U.T
    own = scores[np.arange(len(y)), y]
    scores[np.arange(len(y)), y] = -np.inf
    return np.maximum(0.0, 1.0 - (own - scores.max(axis=1)))


def bound_of(name, X, y, updates, log_volume):
    knobs, found = PAIRS[name][3], []
    for U in comparators(X, y):
        known = {"target_margin": 1.0, "hinge": float(updates @ losses(X, y, U)), **knobs}
        if name == "theorem 3":
            A = np.eye(X.shape[1]) + (X.T * updates) @ X
            known |= {"comparator_energy": np.trace(U @ A @ U.T), "log_volume": float(log_volume)}
            found.append(cbgz06_classes.class_second_order_mistakes(**known))
            continue
        known |= {"max_norm": np.linalg.norm(X, axis=1).max(), "comparator_norm": np.linalg.norm(U)}
        which = "perceptron" if name == "theorem 1" else "adaptive"
        found.append(getattr(cbgz06_classes, f"class_{which}_mistakes")(**known))
    return min(found)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("seed", range(12))
def test_it_holds(name, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-4, 5, (7, 1 + seed % 3)) / 4, rng.integers(0, K, 7)
    mistakes, updates, volume = expected(PAIRS[name], X, y)
    assert mistakes.sum() <= bound_of(name, X, y, updates, volume) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("name", "n", "share"), [("theorem 1", 6, 0.7), ("theorem 2", 100, 0.7), ("theorem 3", 6, 0.6)]
)
def test_new_directions_come_near_it(name, n, share):
    """Every round is a tie, and wrong: half of the bound would not hold.

    A tie is asked about whatever the coin, so one outcome is the expectation. Theorem 2 needs more
    rounds: beside the loss of 0 as a comparator, which is n, its bound has a term that grows like
    the root of n.
    """
    X, y = np.eye(n), np.full(n, 2)
    mistakes, updates, volume = expected(PAIRS[name], X, y)
    bound = bound_of(name, X, y, updates, volume)
    assert mistakes.sum() == pytest.approx(n)
    assert share * bound <= n <= bound


def test_the_coins_are_all_weighed():
    """By hand: the first row teaches 1 against 0, so the second, of 0, is asked with 1/(1 + 1).

    The third class is at 0, one behind: the lead is over it.
    """
    X, y = np.ones((2, 1)), np.array([1, 0])
    played = play(PAIRS["theorem 1"], X, y, np.zeros(2))
    assert played.probabilities == pytest.approx([1.0, 0.5])
    _, updates, _ = expected(PAIRS["theorem 1"], X, y)
    assert updates == pytest.approx([1.0, 0.5])
