"""Calls that are seldom made: copies, subclasses, refused batches, masks, readouts of nothing."""

import copy
import pickle

import numpy as np
import pytest

from selectron import SelectiveClassifier, load
from selectron.queries import Always, Margin
from selectron.updates import Ballseptron, Perceptron, Ridge

RNG = np.random.default_rng(5)
N = 300
X = RNG.standard_normal((N, 4))
Y = np.array(["a", "b", "c", "d"])[np.abs(X).argmax(axis=1)]
TWO = np.where(X[:, 0] > 0, "a", "b")
POLY = {"kernel": "poly", "gamma": 1.0, "coef0": 1.0}


def plain(**options):
    return SelectiveClassifier(Perceptron(), Margin(b=1.0), random_state=0, **options)


def facts(clf, path):
    """Return what a file says, apart from its own order."""
    clf.save(path)
    again = load(path)
    return again.n_seen_, again.n_asked_, again.classes_.tolist(), again.n_updates_


@pytest.mark.plain
def test_copies_of_a_kernel_learner_predict_as_it_does():
    clf = SelectiveClassifier(Ballseptron(r=0.1), Margin(b=1.0), random_state=0, **POLY).fit(X, Y)
    for twin in (copy.deepcopy(clf), pickle.loads(pickle.dumps(clf)), copy.copy(clf)):
        np.testing.assert_array_equal(twin.decision_function(X), clf.decision_function(X))
        twin.partial_fit(X, Y)
        assert twin.n_seen_ == 2 * N
    assert clf.n_seen_ == N


def test_rounds_without_a_choice_are_outside_of_the_estimate():
    clf = plain(explore=1.0)
    for x in X:
        answer = clf.ask_one(x)
        clf.tell(answer.tickets, "a")
    batch = plain(explore=1.0).partial_fit(X, np.full(N, "a"))
    for learner in (clf, batch):
        assert (learner.estimate().rounds, learner.estimate().outside) == (0, N)
        assert "no round so far was drawn" in str(learner.estimate())
    mixed = plain(explore=1.0).partial_fit(X, TWO)
    single = plain(explore=1.0)
    for x, y in zip(X, TWO, strict=True):
        single.tell(single.ask_one(x).tickets, y)
    first = int(np.argmax(TWO[0] != TWO)) + 1  # rows until two classes were known
    for learner in (mixed, single):
        assert learner.estimate().outside == first
        assert learner.estimate().error == mixed.estimate().error


def test_held_methods_and_subclasses_see_every_call():
    clf = plain()
    for x, y in zip(X[:50], TWO[:50], strict=True):
        clf.learn_one(x, y)
    held, seen = clf.learn_one, clf.n_seen_
    clf.partial_fit(X[50:60], ["c"] * 10)
    held(X[60], "a")
    assert clf.n_seen_ == seen + 11

    class Counting(SelectiveClassifier):
        calls = 0

        def learn_one(self, x, y):
            self.calls += 1
            return super().learn_one(x, y)

    counting = Counting(Perceptron(), Always())
    for x, y in zip(X[:10], TWO[:10], strict=True):
        counting.learn_one(x, y)
    assert counting.calls == 10


@pytest.mark.parametrize("bad", ["label", "row"])
def test_a_batch_refused_before_two_classes_are_known_leaves_nothing(bad, tmp_path):
    clf = SelectiveClassifier(Ridge(), Always()).partial_fit(X[:5], ["a"] * 5)
    before = facts(clf, tmp_path / "m")
    rows, labels = X[5:50].copy(), np.array(["b", "a"] * 22 + ["a"], object)
    if bad == "label":
        labels[40:] = None
    else:
        rows[40] = 1e308
    with pytest.raises(ValueError, match=r"label|margin"):
        clf.partial_fit(rows, labels)
    assert facts(clf, tmp_path / "m") == before


def test_a_readout_of_a_point_and_of_nothing():
    clf = plain(explore=1.0).partial_fit(X[:5], TWO[:5])
    assert "error" in clf.readout()
    given = plain(explore=0.1)
    given.learn_one(X[0], "a")
    assert "no round so far was drawn" in str(given.estimate())
    with pytest.raises(ValueError, match="at least 1, got -5"):
        plain(explore=1.0).partial_fit(X, TWO).outlook(-5)


def test_a_goal_about_two_classes_keeps_a_third_out():
    clf = plain(stop_when="recall>=0.5").partial_fit(X[:50], TWO[:50])
    with pytest.raises(ValueError, match="about two classes"):
        clf.partial_fit(X[50:], np.full(N - 50, "c"))
    assert clf.n_seen_ == 50


def test_looking_at_a_row_settles_nothing():
    clf = plain()
    assert clf.predict_one([1.0, 2.0, 3.0]) is None
    assert clf.partial_fit(X, TWO).n_features_in_ == 4


def test_numbers_of_numpy_go_to_files(tmp_path):
    clf = plain(explore=np.float32(0.5), window=np.int64(40)).fit(X, TWO)
    clf.save(tmp_path / "m")
    assert load(tmp_path / "m").readout() == clf.readout()


def test_masked_numbers_and_labels_are_refused():
    hidden = np.ma.masked_array(X, mask=np.zeros(X.shape, bool))
    shown = plain().fit(hidden, TWO)
    np.testing.assert_array_equal(shown.coef_, plain().fit(X, TWO).coef_)
    hidden[3, 1] = np.ma.masked
    with pytest.raises(ValueError, match="X has masked entries"):
        plain().fit(hidden, TWO)
    for door in (shown.predict_one, shown.ask_one, lambda x: shown.learn_one(x, "a")):
        with pytest.raises(ValueError, match="X has masked entries"):
            door(hidden[3])
    labels = np.ma.masked_array(TWO, mask=np.arange(N) == 7)
    with pytest.raises(ValueError, match="y has masked labels"):
        plain().fit(X, labels)
