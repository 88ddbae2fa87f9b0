"""Labels gone over again: how near the minimum they come, what is kept, and what is forgotten."""

import numpy as np
import pytest
from scipy.optimize import minimize

from selectron import SelectiveClassifier, load
from selectron.numeric.rows import DenseRow
from selectron.protocol import glance, hypothesis
from selectron.queries import Always
from selectron.updates import Rehearsal
from tests.rules.test_class_ridge import taught

K, D = 3, 4
RNG = np.random.default_rng(6)
X = RNG.standard_normal((30, D))
LABELS = (X @ RNG.standard_normal((D, K))).argmax(axis=1)
LABELS[:6] = 0  # so that the others weigh more


def weights_of(labels):
    counts = np.bincount(labels, minlength=K)
    return np.clip(len(labels) / K / counts, 1, 4)[labels]


def leads(prototypes):
    scores = X @ prototypes.T
    return scores[np.arange(len(X)), LABELS][:, np.newaxis] - scores


def missing(prototypes):
    others = np.arange(K) != LABELS[:, np.newaxis]
    return np.where(others, np.maximum(1 - leads(prototypes), 0), 0)


def loss(flat):
    """The sum that the rule is about, written down plainly."""
    squares = (missing(flat.reshape(K, D)) ** 2).sum(axis=1)
    return (flat @ flat + weights_of(LABELS) @ squares) / 2


def test_many_visits_find_the_minimum():
    best = minimize(loss, np.zeros(K * D), tol=1e-12)
    found = hypothesis(taught(Rehearsal(visits=3000).many(D, float, K), X, LABELS))
    np.testing.assert_allclose(found, best.x.reshape(K, D), atol=1e-5)
    once = hypothesis(taught(Rehearsal(visits=0).many(D, float, K), X, LABELS))
    assert loss(found.ravel()) < 0.98 * loss(once.ravel())


def test_prototypes_are_the_sums_of_what_the_rows_are_in_them():
    update = taught(Rehearsal(visits=3000).many(D, float, K), X, LABELS)
    duals = update.memory.duals[: len(X)]
    expected = weights_of(LABELS)[:, np.newaxis] * missing(hypothesis(update))
    np.testing.assert_allclose(duals, expected, atol=1e-4)  # as near as these visits come
    signed = -duals
    signed[np.arange(len(X)), LABELS] = duals.sum(axis=1)
    np.testing.assert_allclose(hypothesis(update), signed.T @ X, rtol=1e-9, atol=1e-9)


def test_one_pair_of_labels_by_hand():
    """The first label has no rival; the second leads by 2a where a = 1 - 2a."""
    update = taught(Rehearsal(visits=0).many(1, float, 3), [[1.0]], [0])
    assert hypothesis(update).ravel().tolist() == [0.0, 0.0, 0.0]
    update = taught(update, [[1.0]], [2])
    np.testing.assert_allclose(hypothesis(update).ravel(), [-1 / 3, 0.0, 1 / 3])


def test_a_row_without_room_is_written_over_and_stays_learnt():
    update = taught(
        Rehearsal(memory=2, visits=1).many(D, float, K), X[:5], LABELS[:5] * 0 + [0, 1, 2, 0, 1]
    )
    np.testing.assert_array_equal(update.memory.rows, X[[4, 3]])
    assert update.memory.classes.tolist() == [1, 0]
    assert update.memory.n_written == 5
    whole = taught(Rehearsal(memory=5, visits=1).many(D, float, K), X[:2], [0, 1])
    assert np.abs(hypothesis(whole)).sum() > 0


def test_a_row_of_zeros_teaches_nothing():
    update = taught(Rehearsal().many(D, float, K), X[:4], [0, 1, 2, 0])
    before = hypothesis(update).copy()
    taught(update, [np.zeros(D)], [1])
    assert np.isfinite(hypothesis(update)).all()
    assert np.linalg.norm(hypothesis(update) - before) < np.linalg.norm(before)


def test_a_class_that_no_label_named_has_no_part():
    update = taught(Rehearsal().many(D, float, 5), X, LABELS % 2 * 3)
    assert not hypothesis(update)[[1, 2, 4]].any()
    found = glance(update, DenseRow(X[11]))
    assert {found.best, found.second} == {0, 3}


def test_the_memory_is_in_the_file(tmp_path):
    names = np.array(["ant", "bee", "cow"])[LABELS]
    rule = Rehearsal(memory=8, visits=5)
    straight = SelectiveClassifier(rule, Always()).partial_fit(X, names)
    halfway = SelectiveClassifier(rule, Always()).partial_fit(X[:13], names[:13])
    halfway.save(tmp_path / "half.sel")
    resumed = load(tmp_path / "half.sel").partial_fit(X[13:], names[13:])
    assert resumed.coef_.tobytes() == straight.coef_.tobytes()


@pytest.mark.parametrize(("knob", "value"), [("memory", 0), ("visits", -1)])
def test_bad_knobs(knob, value):
    with pytest.raises(ValueError, match=rf"{knob}.*{value}"):
        SelectiveClassifier(Rehearsal(**{knob: value}), Always()).fit(X, LABELS)
