"""Rules on two classes against their slow twins.

This is a program too: it plays every pair in plain Python in a process of its own, and prints
digests of those that are compiled elsewhere (`spread.py` says why they are enough).
"""

import json
import sys

import numpy as np

from selectron.numeric.coins import coins
from tests.oracles import learners, queries
from tests.oracles.run import run
from tests.rules.catalogue import PAIRS, QUERIES, UPDATES
from tests.rules.digests import digests, scaled
from tests.rules.spread import SPREAD
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


def check_pair(update, query):
    """Compare a pair with its twin, dense and sparse, and blind it to what it did not ask."""
    update, query = UPDATES[update], QUERIES[query]
    twin = run(*twin_of(update, query), X, Y, COINS)
    for rows in (as_dense(X), as_csr(X)):
        ours = play(update, query, rows, Y, COINS, d=D)
        np.testing.assert_array_equal(ours.asked, twin.asked)
        np.testing.assert_allclose(ours.probabilities, twin.probabilities, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(ours.margins, twin.margins, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(ours.weights, twin.learner.weights, rtol=1e-9, atol=1e-11)
        assert ours.machine.state.update.n_updates == twin.learner.n_updates
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


def check_single_precision(update):
    """Compare an update's run in single precision with that in double, to rounding."""
    update, query = UPDATES[update], QUERIES["margin"]
    wide = play(update, query, as_dense(X), Y, COINS, d=D)
    X32 = X.astype(np.float32)
    for rows in (as_dense(X32), as_csr(X32)):
        narrow = play(update, query, rows, Y, COINS, d=D, dtype=np.float32)
        np.testing.assert_array_equal(narrow.asked, wide.asked)
        np.testing.assert_allclose(narrow.margins, wide.margins, rtol=1e-3, atol=1e-4)


if __name__ == "__main__":
    for pair in PAIRS:
        check_pair(*pair)
    for name in UPDATES:
        check_single_precision(name)
    sys.stdout.write(json.dumps(digests(SPREAD) | scaled()))
