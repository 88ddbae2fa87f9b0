"""The estimator with a kernel and many classes, known beforehand or named by labels on the way.

Compiling takes longer than running: one learner is compiled, the others are plain Python.
"""

import numpy as np
import pytest

from selectron import SelectiveClassifier, load
from selectron.queries import Always, Margin
from selectron.updates import Ballseptron, Perceptron
from tests.kernels.subject import classes_of, rings
from tests.kernels.test_learner import same

X, _ = rings(n=150)
Y = np.array(["a", "b", "c", "d"])[classes_of(X, 4).astype(int)]
POLY = {"kernel": "poly", "degree": 3, "gamma": 0.5, "coef0": 1.0}


def make(**more):
    options = {"update": Ballseptron(r=0.1), "query": Margin(b=3.0)} | POLY | more
    return SelectiveClassifier(random_state=4, **options)


def test_every_door_leads_to_the_same_learner(tmp_path):
    classes = sorted(set(Y))
    whole = make().partial_fit(X, Y, classes=classes)
    assert 10 < whole.n_asked_ < len(Y)
    assert whole.dual_coef_.shape[0] == 4
    oracle = make().fit(X, lambda i: Y[i], classes=classes)
    assert same(oracle, whole)
    saved = make().partial_fit(X[:47], Y[:47], classes=classes)
    saved.save(tmp_path / "m")
    assert same(load(tmp_path / "m").partial_fit(X[47:], Y[47:]), whole)
    single = make().partial_fit(X[:1], Y[:1], classes=classes)
    for t in range(1, len(Y)):
        if single.ask_one(X[t]).asked:
            single.learn_one(X[t], Y[t])
    assert same(single, whole)
    assert [single.predict_one(x) for x in X[:9]] == whole.predict(X[:9]).tolist()
    scores = whole.decision_function(X)
    assert scores.shape == (len(X), 4)
    assert (whole.classes_[scores.argmax(axis=1)] == whole.predict(X)).all()


@pytest.mark.plain
@pytest.mark.parametrize("update", [Perceptron(), None], ids=["perceptron", "default"])
def test_classes_that_come_later_join(update, tmp_path):
    order = np.argsort(Y, kind="stable")  # one class after the other
    clf = make(update=update, query=Always())
    for start in range(0, len(Y), 25):
        clf.partial_fit(X[order[start : start + 25]], Y[order[start : start + 25]])
        clf.save(tmp_path / "m")
        clf = load(tmp_path / "m")
    assert clf.classes_.tolist() == ["a", "b", "c", "d"]
    assert clf.n_asked_ == len(Y)
    assert len(set(clf.predict(X))) > 1
    single = make(update=update, query=Always())
    for t in order:
        single.learn_one(X[t], Y[t])
    assert single.classes_.tolist() == clf.classes_.tolist()
    assert (single.predict(X) == clf.predict(X)).all()


@pytest.mark.plain
def test_several_labels_a_row():
    flags = np.stack([Y == "a", X[:, 0] > 0], axis=1).astype(int)
    clf = SelectiveClassifier(Perceptron(), Always(), **POLY).fit(X, flags)
    alone = SelectiveClassifier(Perceptron(), Always(), **POLY).fit(X, flags[:, 1])
    assert (clf.predict(X)[:, 1] == alone.predict(X)).all()
