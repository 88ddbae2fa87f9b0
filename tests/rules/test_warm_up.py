"""A belief that rows of the warm-up widen in the directions where they spread."""

import numpy as np
import pytest

from selectron.numeric.coins import coins
from selectron.queries import Auto
from selectron.scalings import Automatic
from selectron.updates import Probit
from tests.oracles import learners, queries, scalings
from tests.oracles.run import run
from tests.rules.streams import as_csr, as_dense
from tests.rules.subject import machine_of, play

N, D, WARMUP = 150, 40, 12
RNG = np.random.default_rng(11)
SPREAD = RNG.standard_normal((3, D))  # rows lie mostly along three directions
TABLE = RNG.standard_normal((N, 3)) @ SPREAD * 2.0 + RNG.standard_normal((N, D))
IMAGES = np.abs(TABLE)
COINS = coins(5, 0, N)


def warm_twin(scaling, X, weight=0.06):
    """Return a belief that has seen the warm-up, and the rows after it as they are presented."""
    Z = scalings.presented(scaling(D), X)[WARMUP:]
    then = scaling(D)
    for x in X[: WARMUP + 1]:
        then.absorb(x)
    early = np.array([then.present(x)[:-1] for x in X[:WARMUP]])
    products = early @ early.T
    learner = learners.Probit(D + 1)
    learner.V[:-1, :-1] += weight * early.T @ early
    learner.nu *= 1 + weight * (np.sum(products**2) - np.sum(np.diag(products) ** 2)) / WARMUP
    return learner, Z


@pytest.mark.parametrize(("X", "scaling"), [(TABLE, scalings.Table), (IMAGES, scalings.Centred)])
def test_the_definition(X, scaling):
    learner, Z = warm_twin(scaling, X)
    y = np.where(Z @ RNG.standard_normal(D + 1) > 0.0, 1.0, -1.0)
    query = queries.Auto()
    query.t = WARMUP
    twin = run(learner, query, Z, y, COINS[WARMUP:])
    labels = np.append(np.full(WARMUP, np.nan), y)
    assert 20 < twin.asked.sum() < N - WARMUP
    for rows in (as_dense(X), as_csr(X)):
        for kept in (True, False):
            rules = Probit(), Auto()
            scaled = Automatic(warmup=WARMUP)
            ours = play(*rules, rows, labels, COINS, d=D, scaling=scaled, kept=kept)
            np.testing.assert_allclose(ours.weights, twin.learner.weights, rtol=1e-8, atol=1e-9)
            if kept:
                np.testing.assert_array_equal(ours.asked[WARMUP:], twin.asked)
                np.testing.assert_allclose(ours.margins[WARMUP:], twin.margins, atol=1e-8)


@pytest.mark.parametrize(
    "X", [TABLE, IMAGES, np.tile(TABLE[:1], (N, 1)), np.eye(D)[np.arange(N) % 3]]
)
def test_no_row_has_a_larger_variance_than_a_glance_allows(X):
    labels, coins_ = np.ones(WARMUP + 3), np.ones(WARMUP + 3)  # nothing is asked
    rows = as_dense(X[: WARMUP + 3])
    played = play(Probit(), Auto(), rows, labels, coins_, d=D, scaling=Automatic(warmup=WARMUP))
    belief = played.machine.states.now.update
    largest = np.linalg.eigvalsh(belief.store.A_inv)[-1]
    assert largest <= belief.rule.prior.most * (1 + 1e-12)
    assert belief.rule.prior.most <= 1 + 0.06 * WARMUP + 1e-12
    assert belief.rule.prior.n_rows == WARMUP


def test_labels_that_come_first_leave_the_belief_as_it_was():
    machine = machine_of(Probit(), Auto(), D, scaling=Automatic(warmup=WARMUP))
    given = np.ones(WARMUP + 5, np.int8)
    machine.lesson(as_dense(TABLE[: WARMUP + 5]), given, np.empty((0, 4)), fresh=True)
    assert machine.states.now.update.n_updates == WARMUP + 5
    assert machine.states.now.update.rule.prior == (0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize(("warmup", "d", "kept"), [(7, 5, 7), (300, 5, 50), (50, 4097, 0)])
def test_no_more_rows_are_kept_than_are_needed(warmup, d, kept):
    assert Automatic(warmup=warmup).begin(d, np.float64).early.shape == (kept, d)
