"""Classes by least squares: what competes, what weighs, and rows that are never written out."""

import numpy as np
import pytest

from selectron import SelectiveClassifier
from selectron.classifier.machine import LinearMachine
from selectron.loop import DONE, Log, Rounds, compiled, run_pass
from selectron.numeric.coins import coins
from selectron.numeric.rows import DenseRow
from selectron.protocol import MANY, glance, hypothesis, learn, predict
from selectron.queries import Always, Capped
from selectron.scalings import Text
from selectron.spec import Rules
from selectron.updates import ClassRidge
from selectron.updates.class_ridge import weight_of
from tests.oracles import many_learners, queries
from tests.oracles.many_run import run
from tests.rules.streams import as_csr, as_dense
from tests.rules.test_text import COUNTS, VALUES, WARMUP, D, N, text_twin

K = 4
COINS = coins(4, 0, N)
LABELS = (VALUES @ np.random.default_rng(1).standard_normal((D, K))).argmax(axis=1)


def taught(update, rows, labels):
    for x, label in zip(rows, labels, strict=True):
        row = DenseRow(np.asarray(x, float))
        update = learn(update, row, float(label), predict(update, row, glance(update, row)))
    return update


@pytest.mark.parametrize("rank", [0, 2])
def test_a_class_that_no_label_named_is_never_predicted(rank):
    update = taught(ClassRidge(rank=rank).many(2, float, 4), [[1, 0], [0, 1]], [3, 1])
    for angle in np.linspace(0, 2 * np.pi, 25):
        found = glance(update, DenseRow(np.array([np.cos(angle), np.sin(angle)])))
        assert {found.best, found.second} == {1, 3}
        assert update.scores[found.best] == max(update.scores)


def test_a_score_beyond_its_target_is_no_error():
    update = taught(ClassRidge().many(2, float, 3), [[1, 0], [0, 1]], [0, 1])
    before = hypothesis(update).copy()
    taught(update, [[9.0, -9.0]], [0])
    np.testing.assert_array_equal(hypothesis(update), before)


def test_one_label_by_hand():
    """From A = I the first label goes half of the way; the other class is above 0 and falls."""
    update = taught(ClassRidge().many(1, float, 3), [[1.0]], [0])
    assert hypothesis(update).ravel().tolist() == [0.5, 0.0, 0.0]
    taught(update, [[1.0]], [2])  # r = 1/2, so that the share is 2/3, and g = 1/2
    np.testing.assert_allclose(hypothesis(update).ravel(), [0.5 - 0.5 / 3, 0.0, 1 / 3])


@pytest.mark.parametrize(
    ("label", "counts", "weight"),
    [
        (0, [1, 0, 0], 1.0),
        (0, [6, 0, 0], 1.0),
        (1, [5, 1, 0], 3.0),  # six labels, two classes: three each, and one so far
        (2, [30, 30, 2], 4.0),
        (0, [10, 4, 1], 1.0),
        (1, [9, 4, 0], 13 / 2 / 4),
    ],
)
def test_a_class_with_less_than_its_share_weighs_more(label, counts, weight):
    assert weight_of(label, np.array(counts, float)) == pytest.approx(weight)


def test_with_enough_directions_the_low_rank_is_the_whole():
    rng = np.random.default_rng(2)
    X, labels = rng.standard_normal((40, 6)), rng.integers(0, K, 40)
    whole = taught(ClassRidge().many(6, float, K), X, labels)
    parts = taught(ClassRidge(rank=40).many(6, float, K), X, labels)
    np.testing.assert_allclose(hypothesis(parts), hypothesis(whole), rtol=1e-9, atol=1e-12)


@pytest.mark.plain
@pytest.mark.parametrize("counts", [False, True])
def test_never_written_out_and_still_the_same(counts):
    X = COUNTS if counts else VALUES
    Z = np.array(list(text_twin(X, counts)))[WARMUP:]
    query = queries.Capped(explore=0.2, covers=False)
    query.t = WARMUP
    twin = run(many_learners.ClassRidge(D + 1, K, rank=6), query, Z, LABELS[WARMUP:],
               COINS[WARMUP:])  # fmt: skip
    for rows in (as_csr(X), as_dense(X)):
        rules = Rules(Text(warmup=WARMUP), ClassRidge(rank=6), Capped(explore=0.2))
        machine = LinearMachine(rules, D, np.dtype(float), 0, K)
        log = Log.of(N, MANY)
        loop, state = (
            compiled(run_pass, machine.states.kinds),
            (machine.states.tree, machine.states.numbers),
        )
        given = LABELS.astype(np.int32)
        assert loop(*state, *Rounds(rows, given, COINS, log, 0))[:2] == (N, DONE)
        np.testing.assert_array_equal(log.asked[WARMUP:], twin.asked)
        margins = log.forecasts[WARMUP:, 0]
        np.testing.assert_allclose(margins, twin.margins, rtol=1e-8, atol=1e-9)
        update, M = machine.states.now.update, machine.states.now.scaling.total
        store = update.store
        np.testing.assert_allclose(hypothesis(update), twin.learner.weights, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(store.total_along, store.directions[:D].T @ M, atol=1e-9)
        np.testing.assert_allclose(store.total_scores, store.weights[:, :D] @ M, atol=1e-9)
    assert 20 < twin.asked.sum() < N - WARMUP


def test_two_classes_are_two_prototypes():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 5))
    y = np.where(X[:, 0] > 0, "yes", "no")
    two = SelectiveClassifier(ClassRidge(), Always()).fit(X, y)
    prototypes = taught(ClassRidge().many(5, float, 2), X, y == "yes")
    np.testing.assert_allclose(two.coef_[0], np.diff(hypothesis(prototypes), axis=0)[0])
