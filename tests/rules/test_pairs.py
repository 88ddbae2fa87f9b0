"""Every update with every query: equal to its slow twin, blind to labels it did not ask for."""

import numpy as np
import pytest

from selectron.numeric.coins import coins
from selectron.updates import Ballseptron, Perceptron, PNorm
from tests.oracles import learners, queries
from tests.oracles.run import run
from tests.rules.catalogue import PAIRS, QUERIES, UPDATES
from tests.rules.spread import SPREAD, compiled_or_plain
from tests.rules.streams import as_csr, as_dense, stream
from tests.rules.subject import play

X, Y = stream()
N, D = X.shape
COINS = coins(5, 0, N)


def twin_of(update, query):
    learner = getattr(learners, type(update).__name__)(D, **update.knobs())
    return learner, twin_of_query(query)


def twin_of_query(query):
    knobs = query.knobs()
    if type(query).__name__ == "Halving":
        knobs["d"] = D
    if type(query).__name__ in ("Budget", "Floor"):
        knobs["query"] = twin_of_query(query.query)
    return getattr(queries, type(query).__name__)(**knobs)


@pytest.mark.parametrize(("update", "query"), compiled_or_plain(PAIRS, SPREAD))
def test_a_pair(update, query):
    """One test a pair, so that each is compiled once: dense and sparse."""
    update, query = UPDATES[update], QUERIES[query]
    twin = run(*twin_of(update, query), X, Y, COINS)
    for rows in (as_dense(X), as_csr(X)):
        ours = play(update, query, rows, Y, COINS, d=D)
        np.testing.assert_array_equal(ours.asked, twin.asked)
        np.testing.assert_allclose(ours.probabilities, twin.probabilities, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(ours.margins, twin.margins, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(ours.weights, twin.learner.weights, rtol=1e-9, atol=1e-11)
        assert ours.machine.states.now.update.n_updates == twin.learner.n_updates
        assert ours.updated.sum() == twin.learner.n_updates

        poisoned = np.where(ours.asked, Y, np.nan)
        again = play(update, query, rows, poisoned, COINS, d=D)
        same(again, ours)

        unlogged = play(update, query, rows, Y, COINS, d=D, kept=False)
        assert unlogged.numbers.tobytes() == ours.numbers.tobytes()
        assert unlogged.weights.tobytes() == ours.weights.tobytes()


def same(one, other):
    for a, b in zip(one[:6], other[:6], strict=True):
        assert a.tobytes() == b.tobytes()


@pytest.mark.plain
@pytest.mark.parametrize("name", UPDATES)
def test_single_precision_agrees_to_rounding(name):
    update, query = UPDATES[name], QUERIES["margin"]
    wide = play(update, query, as_dense(X), Y, COINS, d=D)
    X32 = X.astype(np.float32)
    for rows in (as_dense(X32), as_csr(X32)):
        narrow = play(update, query, rows, Y, COINS, d=D, dtype=np.float32)
        np.testing.assert_array_equal(narrow.asked, wide.asked)
        np.testing.assert_allclose(narrow.margins, wide.margins, rtol=1e-3, atol=1e-4)


def test_p_norm_two_is_the_perceptron_to_the_bit():
    perceptron = play(Perceptron(), QUERIES["margin"], as_dense(X), Y, COINS, d=D)
    pnorm = play(PNorm(p=2.0), QUERIES["margin"], as_dense(X), Y, COINS, d=D)
    assert perceptron.weights.tobytes() == pnorm.weights.tobytes()
    assert perceptron.margins.tobytes() == pnorm.margins.tobytes()


def test_ballseptron_of_radius_zero_is_the_perceptron():
    perceptron = play(Perceptron(), QUERIES["margin"], as_dense(X), Y, COINS, d=D)
    ball = play(Ballseptron(r=0.0), QUERIES["margin"], as_dense(X), Y, COINS, d=D)
    assert perceptron.weights.tobytes() == ball.weights.tobytes()
