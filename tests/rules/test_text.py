"""Sparse rows centred algebraically, against rows that are written out."""

import numpy as np
import pytest

from selectron import SelectiveClassifier
from selectron.classifier.rules import choose_rules
from selectron.numeric.coins import coins
from selectron.queries import Auto
from selectron.scalings import Text, TextDirections
from selectron.updates import DualProbit, HalfStep, Probit, Ridge
from tests.oracles import learners, queries
from tests.oracles.run import run
from tests.rules.streams import as_csr, as_dense
from tests.rules.subject import play

N, D, WARMUP = 150, 30, 10
RNG = np.random.default_rng(8)
COUNTS = RNG.poisson(0.25 * RNG.random(D), (N, D)).astype(float)
COUNTS[COUNTS.sum(axis=1) == 0, 0] = 1.0
VALUES = COUNTS * RNG.random((N, D))
Y = np.where(VALUES @ RNG.standard_normal(D) > 0.0, 1.0, -1.0)
COINS = coins(3, 0, N)


def text_twin(X, counts, bias=0.25):
    """Yield every row as it is presented just after it was absorbed, all numbers written out."""
    M, df = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for t, x in enumerate(X, 1):
        df += x != 0
        weighted = np.log(1 + x) * np.log((t + 1) / np.maximum(df, 1)) if counts else x
        u = weighted / (np.linalg.norm(weighted) or 1.0)
        M = M + u
        length = np.linalg.norm(u - M / t)
        yield np.append((u - M / t) / length if length > 1e-6 else 0 * u, bias)


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize(
    "update", [Probit(rank=6), pytest.param(HalfStep(), marks=pytest.mark.plain)]
)
def test_never_written_out_and_still_the_same(counts, update):
    X = COUNTS if counts else VALUES
    Z = np.array(list(text_twin(X, counts)))[WARMUP:]
    query = queries.Auto(explore=0.1)
    query.t = WARMUP
    learner = getattr(learners, type(update).__name__)(D + 1, **update.knobs())
    twin = run(learner, query, Z, Y[WARMUP:], COINS[WARMUP:])
    for rows in (as_csr(X), as_dense(X)):
        scaling = Text(warmup=WARMUP)
        ours = play(update, Auto(explore=0.1), rows, Y, COINS, d=D, scaling=scaling)
        np.testing.assert_array_equal(ours.asked[WARMUP:], twin.asked)
        np.testing.assert_allclose(ours.margins[WARMUP:], twin.margins, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(ours.weights, twin.learner.weights, rtol=1e-8, atol=1e-9)
    assert 20 < twin.asked.sum() < N - WARMUP


@pytest.mark.plain
def test_answers_that_come_later_and_predictions_on_the_way_disturb_nothing():
    rules = {"update": Probit(rank=6), "query": Auto(explore=0.1), "scaling": Text(warmup=WARMUP)}
    signs = np.where(Y > 0, "b", "a")
    at_once = SelectiveClassifier(random_state=3, **rules)
    late = SelectiveClassifier(random_state=3, **rules)
    for t in range(N):
        answer = at_once.ask(VALUES[[t]])
        if answer.asked[0]:
            at_once.tell(answer.tickets, signs[[t]])
        question = late.ask_one(VALUES[t])
        late.decision_function(VALUES[: t + 1])
        if question.asked:
            late.learn_one(VALUES[t], signs[t])
    np.testing.assert_allclose(
        at_once.decision_function(VALUES), late.decision_function(VALUES), rtol=1e-9, atol=1e-12
    )
    state = at_once._run.machine.states.now
    store, M = state.update.store, state.scaling.total
    U, w = store.directions[:D], store.weights[:, :D]
    np.testing.assert_allclose(store.total_along, U.T @ M, atol=1e-9)
    np.testing.assert_allclose(store.total_scores, w @ M, atol=1e-9)
    np.testing.assert_allclose(state.scaling.square_total, M @ M, rtol=1e-9)


def test_an_empty_row_and_a_row_equal_to_the_mean():
    X = np.tile(VALUES[0], (30, 1))
    X[20] = 0.0
    clf = SelectiveClassifier(Probit(rank=4), Auto(), scaling=Text(warmup=5), random_state=0)
    clf.partial_fit(X, np.where(np.arange(30) % 2, "b", "a"))
    assert np.isfinite(clf.decision_function(X)).all()


def test_rules_that_need_the_row_itself_are_refused_with_a_remedy():
    clf = SelectiveClassifier(Ridge(), Auto(), scaling=Text())
    with pytest.raises(ValueError, match=r"Text never writes a row out.*Probit\(rank=64\)"):
        clf.fit(VALUES, Y)


@pytest.mark.parametrize(
    ("d", "sparse", "scaling", "rank"),
    [
        (256, True, "Automatic", 0),
        (4096, False, "Automatic", 0),
        (4097, False, "Automatic", 64),
        (3_000_000, True, "Text", 22),
        (2**31, True, "Text", 1),
    ],
)
def test_what_the_default_keeps_fits_into_memory(d, sparse, scaling, rank):
    rules = choose_rules(None, None, None, fit_intercept=False, d=d, sparse=sparse)
    assert (rules.scaling.label, rules.update) == (scaling, Probit(rank=rank))


@pytest.mark.parametrize(
    ("rows", "at_hand", "held_back"), [(None, False, 250), (60, False, 10), (None, True, 0)]
)
def test_sparse_rows_are_studied(rows, at_hand, held_back):
    known = {"fit_intercept": False, "d": 257, "sparse": True, "rows": rows, "at_hand": at_hand}
    for n_classes in (2, 10):
        rules = choose_rules(None, None, None, n_classes=n_classes, **known)
        assert (rules.scaling, rules.update) == (TextDirections(held_back=held_back), DualProbit())
