"""Rules on many classes against their slow twins.

This is a program too, which prints digests under other settings. Compiling takes longer than
running: `spread.py` says why a few of the pairs are enough.
"""

import hashlib
import json
import sys

import numpy as np

from selectron.classifier.machine import LinearMachine
from selectron.classifier.rules import has_many_form
from selectron.loop import DONE, NOT_GIVEN, Log, Rounds, compiled, run_pass
from selectron.numeric.coins import coins
from selectron.numeric.rows import sealed
from selectron.protocol import MANY as MANY_TOLD
from selectron.protocol import hypothesis
from selectron.scalings import Raw
from selectron.spec import Rules
from tests.oracles import many_learners, queries
from tests.oracles.many_run import run
from tests.rules.catalogue import QUERIES, UPDATES
from tests.rules.spread import spread
from tests.rules.streams import as_csr, as_dense

N, D, K = 90, 11, 4
COINS = coins(5, 0, N)
MANY = {name: rule for name, rule in UPDATES.items() if has_many_form(rule)}
ALL_PAIRS = [(update, query) for update in MANY for query in QUERIES]
SPREAD = spread(ALL_PAIRS, lambda update: update.many(D, float, K))
FEW = [next(p for p in SPREAD if p[0] == u) for u in ("rehearsal", "low-rank-class-ridge")]


def stream(dtype=np.float64, seed=0):
    """Rows with zeros in them; the last class comes late and the third once only."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D))
    X[rng.random((N, D)) < 0.4] = 0.0
    X[np.all(X == 0.0, axis=1), 0] = 1.0
    labels = (X @ rng.standard_normal((D, 2))).argmax(axis=1)
    labels[rng.random(N) < 0.1] = 0
    labels[N // 2 :: 5] = K - 1
    labels[7] = 2
    return X.astype(dtype), labels


def play(update, query, rows, labels, dtype=np.float64):
    """Run the one loop; labels that are NaN must not be read."""
    machine = LinearMachine(Rules(Raw(), update, query), D, np.dtype(dtype), 3, K)
    log = Log.of(N, MANY_TOLD)
    labels = np.asarray(labels, float)
    given = np.where(np.isnan(labels), NOT_GIVEN, labels).astype(np.int32)
    loop = compiled(run_pass, machine.states.kinds)
    state = machine.states.tree, machine.states.numbers
    assert loop(*state, *Rounds(sealed(rows), given, COINS, log, 0))[:2] == (N, DONE)
    return machine, log


def twin_of(update, query):
    learner = getattr(many_learners, type(update).__name__)(D, K, **update.knobs())
    return learner, twin_of_query(query)


def twin_of_query(query):
    knobs = query.knobs()
    if type(query).__name__ == "Halving":
        knobs["d"] = D
    if hasattr(query, "query"):  # a budget or a floor around another rule
        knobs["query"] = twin_of_query(query.query)
    return getattr(queries, type(query).__name__)(**knobs)


def check_pair(update, query):
    """Compare a pair with its twin, dense and sparse, and blind it to what it did not ask."""
    X, labels = stream()
    update, query = MANY[update], QUERIES[query]
    twin = run(*twin_of(update, query), X, labels, COINS)
    for rows in (as_dense(X), as_csr(X)):
        machine, log = play(update, query, rows, labels)
        np.testing.assert_array_equal(log.asked, twin.asked)
        np.testing.assert_array_equal(log.predicted, twin.predicted)
        np.testing.assert_allclose(log.probabilities, twin.probabilities, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(log.forecasts[:, 0], twin.margins, rtol=1e-9, atol=1e-11)
        state = machine.states.now.update
        np.testing.assert_allclose(hypothesis(state), twin.learner.weights, rtol=1e-9, atol=1e-11)
        assert state.n_updates == log.updated.sum() == twin.learner.n_updates
        norm = np.linalg.norm(twin.learner.weights)
        np.testing.assert_allclose(state.norm, norm, rtol=1e-9, atol=1e-11)
        again, told = play(update, query, rows, np.where(log.asked, labels, np.nan))
        assert digest(again, told) == digest(machine, log)


def digest(machine, log):
    parts = hypothesis(machine.states.now.update), machine.states.numbers, *log[1:]
    content = b"".join(np.ascontiguousarray(part).tobytes() for part in parts)
    return hashlib.sha256(content).hexdigest()


FORMS = {"dense": (as_dense, np.float64), "csr": (as_csr, np.float64)}
FORMS["dense float32"] = (as_dense, np.float32)


def digests(pairs, forms=tuple(FORMS)):
    found = {}
    for update, query in pairs:
        for form in forms:
            read, dtype = FORMS[form]
            X, labels = stream(dtype)
            played = play(MANY[update], QUERIES[query], read(X), labels, dtype)
            found[f"{update} {query} {form}"] = digest(*played)
    return found


def wide():
    """The spread, dense and sparse, and a few of it in single precision."""
    return digests(SPREAD, ["dense", "csr"]) | digests(FEW, ["dense float32"])


def few():
    """A few kinds of state: another processor means to compile anew."""
    return digests(FEW, ["dense"])


def every():
    return digests(ALL_PAIRS)


CHOICES = {"few": few, "wide": wide, "every": every}

if __name__ == "__main__":
    sys.stdout.write(json.dumps(CHOICES[sys.argv[1]]()))
