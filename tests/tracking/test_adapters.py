"""Learners of other makes: scikit-learn's, River's, ours, and what is refused."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

from selectron import SelectiveClassifier
from selectron.queries import Always, Uniform
from selectron.streams import drifting
from selectron.tracking import ByMargin, ForgettingRidge, TrackingClassifier, follow
from selectron.tracking.adapters import adapt
from selectron.updates import Arow, Perceptron


@pytest.fixture(scope="module")
def stream():
    return drifting("stationary", 3, n=600, d=6)


def test_scikit_learn(stream):
    given = [SGDClassifier(random_state=0), GaussianNB(), ForgettingRidge()]
    run = follow(TrackingClassifier(given, query=Uniform(rate=0.5)), stream.X, stream.y)
    twin = SGDClassifier(random_state=0)
    wrong = []
    for t, (x, y) in enumerate(zip(stream.X, stream.y, strict=True)):
        if run.asked[:t].any():
            wrong.append(twin.predict([x])[0] != y)
        if run.asked[t]:
            twin.partial_fit([x], [y], classes=[-1, 1])
    np.testing.assert_array_equal(run.learner_mistakes[-len(wrong) :, 0], wrong)
    assert not hasattr(given[0], "coef_"), "the learner that was passed is left alone"
    assert run.mistakes[300:].mean() < 0.2


class OnlyPredicts:
    """The least that scikit-learn's interface may be: a class, no margin."""

    def __init__(self):
        self.last = 1

    def partial_fit(self, X, y, classes=None):
        self.last = y[-1]

    def predict(self, X):
        return np.full(len(X), self.last)


class RiverLike:
    """River's interface without probabilities: the majority so far."""

    def __init__(self):
        self.balance, self.rows = 0, []

    def learn_one(self, x, y):
        assert isinstance(x, dict)
        assert y in (True, False)
        self.rows.append(x)
        self.balance += 1 if y else -1

    def predict_one(self, x):
        return None if self.balance == 0 else self.balance > 0

    def predict_proba_one(self, x):
        raise NotImplementedError


def test_the_least_of_interfaces(stream):
    run = follow(TrackingClassifier([OnlyPredicts(), RiverLike()], query=Always()), *stream[:2])
    after = np.concatenate([[False], (stream.y[:-1] != stream.y[1:])])
    np.testing.assert_array_equal(run.learner_mistakes[1:, 0], after[1:])
    before = np.concatenate([[0], np.cumsum(stream.y)[:-1]])
    np.testing.assert_array_equal(run.learner_mistakes[:, 1], (before > 0) != (stream.y > 0))


def test_river(stream):
    linear_model = pytest.importorskip("river.linear_model")
    tree = pytest.importorskip("river.tree")
    given = [linear_model.LogisticRegression(), tree.HoeffdingTreeClassifier()]
    clf = TrackingClassifier(given, query=Always()).fit(*stream[:2])
    twin = linear_model.LogisticRegression()
    for x, y in zip(stream.X, stream.y, strict=True):
        twin.learn_one(dict(enumerate(x.tolist())), bool(y > 0))
    chances = [twin.predict_proba_one(dict(enumerate(x.tolist())))[True] for x in stream.X]
    margins = clf._run.machine.states.tree.update.members.members[0].margins(stream.X)
    np.testing.assert_allclose(margins, 2 * np.array(chances) - 1, atol=1e-12)
    assert clf.score(*stream[:2]) > 0.8


def test_our_own_classifiers_learn_every_label_that_is_asked(stream):
    """Their query rules are idle: the tracker has asked already."""
    shy = SelectiveClassifier(Arow(), Uniform(rate=1e-6))
    run = follow(TrackingClassifier([shy, Perceptron()], query=Always()), *stream[:2])
    twin = SelectiveClassifier(Arow(), Always()).fit(*stream[:2])
    inside = run.tracker._run.machine.states.tree.update.members.members[0].learner
    np.testing.assert_array_equal(np.abs(inside.coef_), np.abs(twin.coef_))
    assert shy._run is None


@pytest.mark.parametrize("first", [-1, 1])
def test_whichever_class_comes_first(first):
    member = adapt(Perceptron())
    member.learn(np.array([1.0, 0.0]), float(first))
    assert np.sign(member.margins(np.array([[1.0, 0.0]]))[0]) == first


def test_a_learner_fitted_to_other_classes_is_refused(stream):
    theirs = SGDClassifier().fit(stream.X, np.where(stream.y > 0, "a", "b"))
    ours = SelectiveClassifier(Perceptron(), Always()).fit(stream.X, stream.y > 0)
    for learner in (theirs, ours):
        with pytest.raises(ValueError, match="pass it unfitted, or fitted to those"):
            TrackingClassifier([learner]).fit(*stream[:2])


def test_a_learner_fitted_to_signs_goes_on(stream):
    ready = SGDClassifier(random_state=0).fit(*stream[:2])
    clf = TrackingClassifier([ready], query=ByMargin(rate=1e-9, floor=1e-9), random_state=1)
    clf.ask(stream.X[:3])
    votes = np.clip(ready.decision_function(stream.X), -1, 1)
    np.testing.assert_allclose(clf.decision_function(stream.X), votes, rtol=1e-14)


def test_sparse_rows_reach_them_dense(stream):
    X = np.where(np.abs(stream.X) < 0.2, 0.0, stream.X)
    given = [SGDClassifier(random_state=0), Perceptron()]
    dense = TrackingClassifier(given, query=Always()).fit(X[:200], stream.y[:200])
    sparse = TrackingClassifier(given, query=Always()).fit(csr_array(X[:200]), stream.y[:200])
    np.testing.assert_array_equal(dense.weights_, sparse.weights_)
