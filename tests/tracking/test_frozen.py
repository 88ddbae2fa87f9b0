"""Learners that only predict: asked as they are, never taught, refused where they cannot be."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.neighbors import KNeighborsClassifier

from selectron.queries import Always
from selectron.streams import drifting
from selectron.tracking import TrackingClassifier, follow
from selectron.updates import Perceptron

STREAM = drifting("stationary", 3, n=400, d=6)
X, SIGNS = STREAM.X, STREAM.y
WORDS = np.where(SIGNS > 0, "good", "evil")  # sorted, the other way round than the signs


class OnlyPredicts:
    """No margin, no classes_: labels by the first column."""

    def __init__(self, below, above):
        self.below, self.above = below, above

    def predict(self, X):
        return [self.above if x[0] > 0 else self.below for x in X]


@pytest.mark.parametrize("y", [SIGNS, SIGNS > 0, WORDS], ids=["signs", "bools", "words"])
@pytest.mark.parametrize("make", [LogisticRegression, KNeighborsClassifier])
def test_a_fitted_classifier_is_followed_by_its_own_predictions(make, y):
    ready = make().fit(X[:100], y[:100])
    run = follow(TrackingClassifier([ready, Perceptron()], query=Always()), X, y)
    np.testing.assert_array_equal(run.learner_mistakes[:, 0], ready.predict(X) != y)
    assert run.names[0] == repr(ready)


def test_its_margin_is_its_say():
    ready = LogisticRegression().fit(X[:100], WORDS[:100])
    tracker = TrackingClassifier([ready], query=Always()).fit(X, WORDS)
    votes = np.clip(ready.decision_function(X), -1, 1)
    np.testing.assert_allclose(tracker.decision_function(X), votes, rtol=1e-14)


def test_an_object_with_nothing_but_predict():
    given = OnlyPredicts("evil", "good")
    run = follow(TrackingClassifier([given, Perceptron()], query=Always()), X, WORDS)
    np.testing.assert_array_equal(run.learner_mistakes[:, 0], given.predict(X) != WORDS)


def test_a_frozen_learner_that_is_always_right_is_the_one_followed():
    class Knows(OnlyPredicts):
        def predict(self, rows):
            return [truth[row.tobytes()] for row in rows]

    truth = {x.tobytes(): str(word) for x, word in zip(X, WORDS, strict=True)}
    run = follow(TrackingClassifier([Perceptron(), Knows("", "")], query=Always()), X, WORDS)
    assert run.tracker.following_ == 1
    assert run.mistakes[50:].sum() == 0


def test_frozen_means_never_taught_and_survives_clone():
    able = SGDClassifier(random_state=0).fit(X[:100], WORDS[:100])
    tracker = TrackingClassifier([FrozenEstimator(able), Perceptron()], query=Always())
    fitted = clone(tracker).fit(X, WORDS)
    inside = fitted._run.machine.states.tree.update.members.members[0].learner
    np.testing.assert_array_equal(inside.coef_, able.coef_)


@pytest.mark.parametrize("words", [["good", "evil"], ["evil", "good"]])
def test_classes_that_are_met_one_by_one(words):
    """The first met is on the negative side; until the tracker knows a name it has no opinion."""
    ready = LogisticRegression().fit(X[:100], WORDS[:100])
    for learner, certain in ((ready, 1e-9), (OnlyPredicts("evil", "good"), 0.5)):
        tracker = TrackingClassifier([learner], query=Always())
        assert tracker.ask_one(X[0]).labels is None
        for word in words:
            tracker.learn_one(X[word == WORDS][0], word)
        told = tracker.predict(X)
        assert (told == learner.predict(X)).all()
        assert (np.abs(tracker.decision_function(X)) > certain).any()


def test_a_failed_batch_leaves_it_reading_the_labels_of_the_run():
    """What is undone goes back to members that still learn the tracker's classes by name."""
    tracker = TrackingClassifier([OnlyPredicts("evil", "good")], query=Always())
    tracker.learn_one(X[WORDS == "good"][0], "good")
    with pytest.raises(ValueError, match="label"):
        tracker.partial_fit(X[:3], ["good", None, "evil"])
    tracker.learn_one(X[WORDS == "evil"][0], "evil")
    assert (tracker.predict(X) == OnlyPredicts("evil", "good").predict(X)).all()


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (LogisticRegression(), r"LogisticRegression\(\) cannot predict .*fit it first"),
        (LogisticRegression().fit(X[:, :2], WORDS), "cannot predict .*same columns"),
        (LogisticRegression().fit(X, SIGNS), "predicts -1, and the tracker's classes are 'evil'"),
        (OnlyPredicts("evil", "odd"), "predicts 'odd', and the tracker's classes are 'evil'"),
        (DummyClassifier().fit(X, np.full(len(X), "odd")), "predicts 'odd'"),
    ],
)
def test_refusals(learner, message):
    tracker = TrackingClassifier([learner, Perceptron()], query=Always())
    with pytest.raises(ValueError, match=message):
        tracker.fit(X, WORDS)
    assert tracker._run is None


def test_it_is_pickled_with_its_tracker_and_kept_in_no_file(tmp_path):
    ready = LogisticRegression().fit(X[:100], WORDS[:100])
    tracker = TrackingClassifier([ready, Perceptron()], query=Always()).fit(X, WORDS)
    back = pickle.loads(pickle.dumps(tracker))
    np.testing.assert_array_equal(back.decision_function(X), tracker.decision_function(X))
    assert back._run.machine.states.tree.update.members.members[0].labels is back._run.labels
    with pytest.raises(TypeError, match="only trackers whose learners are all rules"):
        tracker.save(tmp_path / "x")
