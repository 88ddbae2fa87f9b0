"""A refused call changes nothing: not even which question was the last."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from selectron import SelectiveClassifier
from selectron.queries import Always
from selectron.scalings import Raw
from selectron.tracking import TrackingClassifier
from selectron.tracking.members import LINEAR_LEARNERS
from selectron.updates import Perceptron, SecondOrder

pytestmark = pytest.mark.plain
RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 3))
Y = np.where(X[:, 0] > 0, "yes", "no")
MANY = np.array(["a", "b", "c"])[np.digitize(X[:, 1], [-0.4, 0.4])]
FLAGS = (X[:, :2] > 0).astype(int)


def fitted(kind):
    if kind == "tracking":
        return (
            TrackingClassifier(LINEAR_LEARNERS, query=Always(), scaling=Raw()).partial_fit(X, Y),
            X,
            Y,
            "yes",
        )
    if kind == "several":
        clf = SelectiveClassifier(Perceptron(), Always()).partial_fit(X, FLAGS)
        return clf, X, FLAGS, FLAGS[0]
    options = {"kernel": "rbf", "gamma": 0.5} if kind == "kernel" else {}
    y = MANY if kind == "many" else Y
    rows = csr_array(X) if kind == "csr" else X
    clf = SelectiveClassifier(SecondOrder(), Always(), **options)
    return clf.partial_fit(rows, y, classes=sorted(set(y))), rows, y, y[0]


KINDS = ["dense", "csr", "many", "kernel", "several", "tracking"]
BAD_ROWS = {
    "nan": np.array([np.nan, 1.0, 2.0]),
    "wide": np.ones(4),
    "text": np.array(["x", "y", "z"]),
}


def refusals(clf, rows, label):
    """Calls that cannot be answered: bad rows, and a good one with a bad label."""
    calls = []
    for bad in BAD_ROWS.values():
        calls += [lambda x=bad: clf.learn_one(x, label), lambda x=bad: clf.ask_one(x)]
        calls += [lambda x=bad: clf.ask(x[np.newaxis])]
        calls += [lambda x=bad: clf.partial_fit(x[np.newaxis], [label])]
    unknown = ["never"] if np.ndim(label) else "never"
    return [*calls, lambda: clf.learn_one(rows[1], unknown), lambda: clf.tell([99], [label])]


@pytest.mark.parametrize("kind", KINDS)
def test_the_question_just_asked_is_still_the_last(kind):
    clf, rows, _, label = fitted(kind)
    for which in range(len(refusals(clf, rows, label))):
        asked = clf.ask_one(rows[0])
        assert asked.asked
        seen, n_asked = clf.n_seen_, clf.n_asked_
        with pytest.raises((ValueError, TypeError)):
            refusals(clf, rows, label)[which]()
        clf.learn_one(rows[0], label)
        assert (clf.n_seen_, clf.n_asked_) == (seen, n_asked), which
        assert clf.forget([asked.tickets]) == 0  # it was answered


@pytest.mark.parametrize("kind", KINDS)
def test_the_width_is_named(kind):
    clf, *_, label = fitted(kind)
    for call in (lambda x: clf.learn_one(x, label), clf.ask_one, clf.predict_one):
        with pytest.raises(ValueError, match=r"3 features"):
            call(np.ones(4))


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_that_is_learnt_is_another_matter(kind):
    clf, rows, _, label = fitted(kind)
    asked = clf.ask_one(rows[0])
    clf.learn_one(rows[1], label)
    seen = clf.n_seen_
    clf.learn_one(rows[0], label)
    assert clf.n_seen_ == seen + 1
    assert clf.forget([asked.tickets]) == 1  # it still waits
