"""Rows and weights too large to reckon with are refused, and leave nothing behind."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from selectron import SelectiveClassifier, load
from selectron.queries import Always, Margin
from selectron.updates import Perceptron, Reflection, Ridge, SecondOrder

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


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"update": Perceptron(), **POLY}, marks=pytest.mark.plain),
        pytest.param({"update": SecondOrder()}, marks=pytest.mark.plain),
        {"update": Ridge()},
    ],
    ids=["kernel", "second-order", "ridge"],
)
@pytest.mark.parametrize("label", ["a", "c", "NEW"])
def test_a_row_too_large_leaves_nothing(options, label, tmp_path):
    clf = SelectiveClassifier(query=Always(), **options).partial_fit(X, Y)
    before, scores = facts(clf, tmp_path / "m"), clf.decision_function(X)
    with pytest.raises(ValueError, match=r"too large|margin"):
        clf.learn_one(X[0] * 1e160, label)
    assert facts(clf, tmp_path / "m") == before
    np.testing.assert_array_equal(clf.decision_function(X), scores)


@pytest.mark.plain
@pytest.mark.parametrize(
    ("labels", "options"),
    [
        (TWO, {}),
        (Y, {}),
        (TWO, {"kernel": "linear"}),
        (np.stack([X[:, 0] > 0, X[:, 1] > 0], axis=1), {}),
    ],
    ids=["two", "many", "kernel", "several"],
)
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_a_margin_that_overflows_is_refused_by_every_door(labels, options, form):
    clf = plain(**options).fit(form(X), labels)
    high = X[:3].copy()
    high[1] = 1.5e308
    for door in (clf.predict, clf.decision_function, clf.ask):
        with pytest.raises(ValueError, match=r"row \d of X gives a margin that is not finite"):
            door(form(high))
    assert clf.n_seen_ == N


@pytest.mark.plain
def test_large_weights_do_not_excuse_an_overflow():
    clf = SelectiveClassifier(Perceptron(), Always())
    clf.learn_one([1e300, 1e300], "b")
    with pytest.raises(ValueError, match="row 0 of X gives a margin that is not finite"):
        clf.predict([[1e10, 1e10]])


@pytest.mark.plain
@pytest.mark.parametrize("labels", [TWO, Y], ids=["two", "many"])
def test_rows_without_a_direction_stay_on_neither_side(labels):
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    clf = SelectiveClassifier(Reflection(), Always()).fit(unit, labels)
    for scale in (0.0, 1e-200):
        assert not clf.decision_function(unit[:2] * scale).any()
