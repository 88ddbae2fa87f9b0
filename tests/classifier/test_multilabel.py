"""Several labels a row: a learner each, one question for all."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from selectron import SelectiveClassifier, load
from selectron.numeric.coins import coins
from selectron.queries import Always, Margin
from selectron.tracking import TrackingClassifier
from selectron.updates import Perceptron, Reflection

NAMES = ["city", "sea", "snow"]
RNG = np.random.default_rng(0)
X = RNG.standard_normal((150, 5))
FLAGS = (X @ RNG.standard_normal((5, 3)) > 0.0).astype(int)
SETS = [[name for name, flag in zip(NAMES, row, strict=True) if flag] for row in FLAGS]


def make(query=None):
    return SelectiveClassifier(Perceptron(), query or Margin(b=0.5), random_state=4)


def slow(query_b):
    """Return weights, questions and mistakes of three Perceptrons that toss the same coin."""
    weights, asked = np.zeros((3, 5)), []
    for t, (x, flags) in enumerate(zip(X, FLAGS, strict=True)):
        margins = weights @ x
        asked.append(coins(4, t, 1)[0] < max(query_b / (query_b + np.abs(margins))))
        if asked[-1]:
            y = np.where(flags, 1.0, -1.0)
            weights += np.outer(np.where(y * margins <= 0.0, y, 0.0), x)
    return weights, np.array(asked)


def test_it_is_the_slow_twin():
    weights, asked = slow(0.5)
    clf = make().fit(X, FLAGS)
    np.testing.assert_allclose(clf.coef_, weights, atol=1e-9)
    assert clf.n_asked_ == asked.sum() < 150
    assert clf.n_seen_ == 150


def same(one, other):
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert (one.n_seen_, one.n_asked_, one.n_updates_) == (
        other.n_seen_, other.n_asked_, other.n_updates_,
    )  # fmt: skip


def test_every_door_leads_to_the_same_learner():
    clf = make().fit(X, FLAGS)
    named = make().fit(X, SETS)
    assert named.classes_.tolist() == NAMES
    same(named, clf)
    same(make().fit(X, csr_array(FLAGS)), clf)
    parts = make().partial_fit(X[:60], SETS[:60], classes=NAMES)
    same(parts.partial_fit(X[60:], lambda t: [SETS[60 + t[0]]]), clf)
    told = make().partial_fit(X[:60], FLAGS[:60])
    for t in range(60, 150):
        answer = told.ask(X[t : t + 1])
        assert answer.labels.shape == answer.margins.shape == (1, 3)
        told.tell(answer.tickets[answer.asked], FLAGS[t : t + 1][answer.asked])
    same(told, clf)
    single = make().partial_fit(X[:60], FLAGS[:60])
    for t in range(60, 150):
        if single.ask_one(X[t]).asked:
            single.learn_one(X[t], FLAGS[t])
    same(single, clf)
    assert single.predict_one(X[0]).tolist() == clf.predict(X[:1])[0].tolist()


def test_predictions_are_flags():
    clf = make(Always()).fit(X, SETS)
    assert clf.decision_function(X).shape == clf.predict(X).shape == (150, 3)
    np.testing.assert_array_equal(clf.predict(X), clf.decision_function(X) > 0.0)
    right = (clf.predict(X) == FLAGS).all(axis=1).mean()
    assert clf.score(X, SETS) == clf.score(X, FLAGS) == right > 0.7


def test_a_file_goes_on_exactly(tmp_path):
    clf = make().partial_fit(X[:70], SETS[:70], classes=NAMES)
    tickets = clf.ask(X[70:90]).tickets
    clf.save(tmp_path / "m.selectron")
    twin = load(tmp_path / "m.selectron")
    for learner in (clf, twin):
        waiting = [(t, SETS[70 + k]) for k, t in enumerate(tickets) if t >= 0]
        assert learner.forget(waiting[0][0]) == 1
        assert learner.tell(*zip(*waiting, strict=True)) == len(waiting) - 1
        learner.partial_fit(X[90:], SETS[90:])
    same(twin, clf)


def test_what_is_refused_changes_nothing():
    clf = make(Always()).partial_fit(X[:50], SETS[:50], classes=NAMES)
    before = clf.coef_, clf.n_seen_
    bad = X[50:60].copy()
    bad[8, 1] = np.nan
    for rows, labels, message in (
        (bad, SETS[50:60], "NaN or infinity in row 8"),
        (X[50:52], [["sea"], ["moon", "sea"]], "unknown label 'moon'.*classes="),
        (X[50:60], SETS[50:55], "10 rows and y has 5 sets"),
        (X[50:60], FLAGS[50:60, :2], "3 labels are expected"),
    ):
        with pytest.raises(ValueError, match=message):
            clf.partial_fit(rows, labels)
    with pytest.raises(ValueError, match="a list of them, or 3 flags; got 'sea'"):
        clf.learn_one(X[0], "sea")
    np.testing.assert_array_equal(clf.coef_, before[0])
    assert clf.n_seen_ == before[1]
    with pytest.raises(ValueError, match="explore, window and stop_when are for one label a row"):
        SelectiveClassifier(explore=0.1).fit(X, FLAGS)
    with pytest.raises(ValueError, match="a tracker learns one"):
        TrackingClassifier().fit(X, FLAGS)


def test_a_row_without_a_direction_midway_leaves_all_learners_as_they_were():
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    clf = SelectiveClassifier(Reflection(), Always()).partial_fit(unit[:50], FLAGS[:50])
    before, seen = clf.coef_, clf.n_seen_
    unit[70] = 0.0
    with pytest.raises(ValueError, match="norm 0, and Reflection needs a direction"):
        clf.partial_fit(unit[50:90], FLAGS[50:90])
    np.testing.assert_array_equal(clf.coef_, before)
    assert clf.n_seen_ == seen
