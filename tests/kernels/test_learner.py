"""The estimator with a kernel: every door leads to the same learner.

Compiling takes longer than running: each learner is compiled once, on dense rows (`test_bits.py`
has sparse ones); the rest is plain Python.
"""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from selectron import SelectiveClassifier, load
from selectron.evaluate import progressive
from selectron.queries import Always, Auto, Margin
from selectron.updates import Ballseptron, Perceptron, Ridge
from tests.kernels.subject import rings

X, SIGNS = rings(n=120)
Y = np.where(SIGNS > 0, "out", "in")
CLASSES = ["in", "out"]
LEARNERS = {
    "default": {"kernel": "rbf", "gamma": 0.3},
    "ball": {
        "update": Ballseptron(r=0.1), "query": Margin(b=0.5), "kernel": "poly", "degree": 3,
        "gamma": 0.5, "coef0": 1.0, "budget": 17,
    },
}  # fmt: skip


def make(name, **more):
    return SelectiveClassifier(random_state=4, **LEARNERS[name] | more)


def same(one, other):
    rows = [clf.support_vectors_ for clf in (one, other)]
    rows = [r.toarray() if hasattr(r, "toarray") else r for r in rows]
    assert rows[0].tobytes() == rows[1].tobytes()
    assert one.dual_coef_.tobytes() == other.dual_coef_.tobytes()
    assert (one.n_seen_, one.n_asked_, one.n_updates_) == (
        other.n_seen_,
        other.n_asked_,
        other.n_updates_,
    )
    return True


@pytest.mark.parametrize(
    ("name", "sparse"),
    [
        ("default", False),
        pytest.param("ball", False, marks=pytest.mark.plain),
        pytest.param("default", True, marks=pytest.mark.plain),
        pytest.param("ball", True, marks=pytest.mark.plain),
    ],
)
def test_batches_files_oracles_and_single_rows_agree(name, sparse, tmp_path):
    rows = csr_matrix(X) if sparse else X
    whole = make(name).partial_fit(rows, Y, classes=CLASSES)
    assert 10 < whole.n_asked_ < len(Y)

    asked = []
    oracle = make(name).fit(rows, lambda i: asked.extend(i) or Y[i], classes=CLASSES)
    assert same(oracle, whole)
    assert len(asked) == whole.n_asked_

    saved = make(name).partial_fit(rows[:47], Y[:47], classes=CLASSES)
    saved.save(tmp_path / "m.selectron")
    for part in (load(tmp_path / "m.selectron"), pickle.loads(pickle.dumps(saved))):
        assert repr(part) == repr(saved)
        assert same(part.partial_fit(rows[47:], Y[47:]), whole)

    single = make(name).partial_fit(rows[:1], Y[:1], classes=CLASSES)
    for t in range(1, len(Y)):
        if single.ask_one(rows[t]).asked:
            single.learn_one(rows[t], Y[t])
    assert same(single, whole)
    assert [single.predict_one(rows[t]) for t in range(9)] == whole.predict(rows[:9]).tolist()
    np.testing.assert_array_equal(progressive(make(name), rows, Y, seed=4).learner.dual_coef_,
                                  whole.dual_coef_)  # fmt: skip


@pytest.mark.plain
def test_late_answers_are_learnt_and_lost_ones_forgotten():
    clf = make("ball").partial_fit(X[:20], Y[:20], classes=CLASSES)
    asked = clf.ask(X[20:60])
    tickets = asked.tickets[asked.asked]
    assert len(tickets) > 4
    before = clf.n_updates_
    assert clf.tell(tickets[::2], Y[20:60][asked.asked][::2]) == len(tickets[::2])
    assert clf.tell(tickets[:1], ["in"]) == 0
    assert clf.forget(tickets) == len(tickets[1::2])
    assert clf.n_updates_ > before


@pytest.mark.plain
def test_dense_and_sparse_batches_may_take_turns():
    mixed = make("ball").partial_fit(X[:60], Y[:60], classes=CLASSES)
    mixed.partial_fit(csr_matrix(X[60:]), Y[60:])
    assert same(mixed, make("ball").partial_fit(X, Y, classes=CLASSES))
    other = make("ball").partial_fit(csr_matrix(X[:60]), Y[:60], classes=CLASSES)
    other.partial_fit(X[60:], Y[60:])
    assert same(other, make("ball").partial_fit(csr_matrix(X), Y, classes=CLASSES))
    np.testing.assert_allclose(
        other.decision_function(X), other.decision_function(csr_matrix(X)), rtol=0, atol=0
    )


@pytest.mark.plain
def test_a_budget_that_is_never_reached_changes_nothing():
    free = make("ball", budget=None).fit(X, Y)
    for removal in ("random", "smallest"):
        assert same(make("ball", budget=500, removal=removal).fit(X, Y), free)
    assert len(make("ball", removal="projection", budget=500).fit(X, Y).support_vectors_) <= len(
        free.support_vectors_
    )


@pytest.mark.plain
def test_gamma_means_what_it_means_in_scikit_learn():
    rows, labels = X[:80], Y[:80]
    for gamma, name in ((1 / (rows.shape[1] * rows.var()), "scale"), (1 / rows.shape[1], "auto")):
        clf = SelectiveClassifier(Ridge(), Always(), kernel="rbf", gamma=name).fit(rows, labels)
        ours = rbf_kernel(rows, clf.support_vectors_, gamma=gamma) @ clf.dual_coef_[0]
        np.testing.assert_allclose(clf.decision_function(rows), ours, rtol=1e-9)
    dense, sparse = (
        SelectiveClassifier(Ridge(), Always(), kernel="rbf").fit(x, labels)
        for x in (rows, csr_matrix(rows))
    )
    of_dense, of_sparse = dense.decision_function(rows), sparse.decision_function(rows)
    np.testing.assert_allclose(of_sparse, of_dense, rtol=1e-9)


@pytest.mark.plain
def test_a_function_is_a_kernel_too():
    def kernel(A, B):
        return polynomial_kernel(A, B, degree=3, gamma=0.5, coef0=1.0)

    ours = make("ball").fit(X, Y)
    for rows in (X, csr_matrix(X)):
        theirs = make("ball", kernel=kernel).fit(rows, Y)
        np.testing.assert_allclose(theirs.dual_coef_, ours.dual_coef_, rtol=1e-9)
    assert same(pickle.loads(pickle.dumps(ours)), ours)
    with pytest.raises(ValueError, match="cannot be saved"):
        theirs.save("nowhere")


def test_the_default_with_a_kernel_is_ridge_regression_that_asks_by_itself():
    clf = make("default").fit(X, Y)
    assert (clf.rules_.update, clf.rules_.query) == (Ridge(), Auto())
    assert repr(make("default")) == "SelectiveClassifier(random_state=4, kernel='rbf', gamma=0.3)"


def test_it_learns_what_no_half_space_can():
    rows, signs = rings(n=900, seed=3)
    curved = SelectiveClassifier(kernel="rbf", random_state=0).fit(rows, signs)
    straight = SelectiveClassifier(Perceptron(), Margin(), random_state=0).fit(rows, signs)
    assert curved.n_asked_ < 450
    assert curved.score(rows, signs) > 0.87 > 0.8 > straight.score(rows, signs)
