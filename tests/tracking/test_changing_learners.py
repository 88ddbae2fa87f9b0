"""Learners of the default that follow a changing concept, with two classes and with many."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.naive_bayes import GaussianNB

from selectron.protocol import Forecast, ask_probability
from selectron.queries import Always
from selectron.tracking import (
    ByMargin,
    ForgettingLogistic,
    RecentForest,
    RecentNeighbours,
    TrackingClassifier,
    follow,
    load,
)
from selectron.tracking.changes import no_mistakes, noted, size_since_change

pytestmark = pytest.mark.plain

LEARNERS = [
    ForgettingLogistic(memory=0.0, watch=4.0),
    ForgettingLogistic(memory=20.0),
    RecentForest(window=200, watch=4.0, trees=5),
    RecentNeighbours(window=100, watch=4.0),
]


def squares(n, seed=0):
    X = np.random.default_rng(seed).uniform(-1.0, 1.0, (n, 2))
    return X, (X[:, 0] > 0) + 2 * (X[:, 1] > 0)


def told(flags, bound, room=500):
    mistakes = no_mistakes(room, bound)
    for flag in flags:
        mistakes = noted(mistakes, bool(flag))
        mistakes = mistakes._replace(size=size_since_change(mistakes))
    return mistakes


def test_a_change_is_noticed_and_chance_is_not():
    coins = np.random.default_rng(0).random(400)
    assert told(coins < 0.1, 4.0).size == 400
    after = told([*(coins < 0.1), *(coins[:60] < 0.8)], 4.0)
    assert 8 <= after.size <= 70
    assert told([*(coins < 0.1), *(coins[:60] < 0.8)], 0.0).size == 460


def test_the_ring_forgets_the_oldest():
    mistakes = told([1] * 3 + [0] * 20, 0.0, room=20)
    assert (mistakes.size, mistakes.end, mistakes.ring.sum()) == (20, 3, 0.0)


def test_logistic_regression_is_followed():
    """Without forgetting the steps end near the regularised optimum of all labels."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((600, 3))
    y = rng.random(600) < 1.0 / (1.0 + np.exp(-X @ [2.0, -1.0, 0.5]))
    rule = ForgettingLogistic(memory=0.0, a=1.0)
    clf = TrackingClassifier([rule], query=Always()).fit(X, y)
    weights = clf._machine.states.tree.update.members.first.weights[0]
    best = np.zeros(3)
    for _ in range(20):  # Newton's method on all labels at once
        p = 1.0 / (1.0 + np.exp(-X @ best))
        curvature = X.T @ ((p * (1 - p))[:, None] * X) + np.eye(3)
        best += np.linalg.solve(curvature, X.T @ (y - p) - best)
    np.testing.assert_allclose(weights, best, atol=0.15)


@pytest.mark.parametrize("learner", LEARNERS[2:], ids=lambda learner: learner.label)
def test_a_concept_that_no_half_space_follows(learner):
    X, y = squares(300)
    odd = (y == 1) | (y == 2)
    clf = TrackingClassifier([learner], query=Always()).fit(X, odd)
    later, truth = squares(200, 1)
    assert clf.score(later, (truth == 1) | (truth == 2)) > 0.8


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_many_classes(learner):
    X, y = squares(400)
    clf = TrackingClassifier([learner], query=Always()).fit(X, y)
    later, truth = squares(200, 1)
    assert clf.decision_function(later).shape == (200, 4)
    # Rows are seen as they are: half-spaces through the origin.
    assert clf.score(later, truth) > 0.85


def test_watching_learners_recover_from_a_turn():
    X, y = squares(400)
    turned = np.where(np.arange(400) < 200, y > 1, y <= 1)
    run = follow(TrackingClassifier(LEARNERS, query=Always()), X, turned)
    assert run.mistakes[300:].mean() < 0.1
    many = follow(TrackingClassifier(LEARNERS, query=Always()), X, y)
    assert many.learner_mistakes.shape == (400, 4)
    assert many.mistakes[200:].mean() < 0.15


@pytest.mark.parametrize("classes", [2, 4])
def test_files_go_on_where_they_stopped(classes, tmp_path):
    X, y = squares(300)
    labels = y % classes
    clf = TrackingClassifier(LEARNERS, random_state=1).partial_fit(
        X[:200], labels[:200], classes=range(classes)
    )
    clf.save(tmp_path / "tracker")
    other = load(tmp_path / "tracker")
    for each in (clf, other):
        each.partial_fit(X[200:], labels[200:])
    np.testing.assert_array_equal(clf.decision_function(X), other.decision_function(X))
    assert clf.n_asked_ == other.n_asked_


def test_sparse_rows_are_rows():
    X, y = squares(150)
    dense = TrackingClassifier(random_state=2).fit(X, y)
    sparse = TrackingClassifier(random_state=2).fit(sp.csr_matrix(X), y)
    np.testing.assert_array_equal(dense.decision_function(X), sparse.decision_function(X))


def test_wide_sparse_rows_take_first_order_rules():
    W = sp.random(120, 3000, 0.01, random_state=0, format="csr")
    clf = TrackingClassifier().fit(W, np.arange(120) % 3)
    assert clf.names_ == ["Perceptron()", "HalfStep()", "PassiveAggressive()"]


def test_a_third_class_of_other_makes_is_refused():
    X, y = squares(50)
    with pytest.raises(ValueError, match="some learners vote on two"):
        TrackingClassifier([GaussianNB()]).fit(X, y)


def test_sharp_odds():
    state, plain = ByMargin(start=0.5, sharp=True).begin(1), ByMargin(start=0.5).begin(1)
    for margin in (0.0, 0.3, -0.8):
        seen = Forecast(margin, 1.0, 1.0, 0.0)
        square = max(0.025, 0.25 / (0.25 + margin * margin))
        assert ask_probability(state, None, seen) == pytest.approx(square)
        assert ask_probability(plain, None, seen) == 0.5 / (0.5 + abs(margin))
