"""Labels from a callable: only the asked are fetched, and what was paid for stays learnt."""

import numpy as np
import pytest

from selectron import SelectiveClassifier
from selectron.queries import Margin
from selectron.updates import Perceptron, Ridge
from tests.rules.streams import stream

X, SIGNS = stream(n=200)
Y = np.where(SIGNS > 0, 1, 0)


class Oracle:
    def __init__(self, fail_at=None):
        self.asked = []
        self.fail_at = fail_at

    def __call__(self, indices):
        if len(self.asked) == self.fail_at:
            raise ConnectionError("the annotator went home")
        self.asked.extend(int(i) for i in indices)
        return Y[indices]


@pytest.mark.parametrize("update", [Perceptron(), Ridge()])
def test_an_oracle_is_the_same_as_an_array(update):
    array = SelectiveClassifier(update, Margin(b=0.3), random_state=2).fit(X, Y)
    oracle = Oracle()
    asked = SelectiveClassifier(update, Margin(b=0.3), random_state=2).fit(
        X, oracle, classes=[0, 1]
    )
    np.testing.assert_array_equal(array.coef_, asked.coef_)
    assert len(oracle.asked) == asked.n_asked_ == array.n_asked_ < 200
    assert oracle.asked == sorted(set(oracle.asked))


def test_classes_are_met_in_their_order_when_nobody_names_them():
    asked = SelectiveClassifier(Perceptron(), Margin(b=0.3), random_state=2).fit(X, Oracle())
    assert list(asked.classes_) == [Y[0], 1 - Y[0]]
    assert asked.score(X, Y) > 0.7


def test_an_oracle_that_fails_loses_no_label():
    clf = SelectiveClassifier(Perceptron(), Margin(b=0.3), random_state=2)
    oracle = Oracle(fail_at=10)
    with pytest.raises(ConnectionError):
        clf.fit(X, oracle, classes=[0, 1])
    assert clf.n_asked_ == len(oracle.asked) == 10
    rest = clf.n_seen_
    oracle.fail_at = None
    clf.partial_fit(X[rest:], lambda i: oracle(i + rest))
    whole = SelectiveClassifier(Perceptron(), Margin(b=0.3), random_state=2).fit(X, Y)
    np.testing.assert_array_equal(clf.coef_, whole.coef_)


def test_an_oracle_that_fails_does_not_bend_the_mean():
    whole = SelectiveClassifier(random_state=2).partial_fit(X, Y, classes=[0, 1])
    clf = SelectiveClassifier(random_state=2)
    oracle = Oracle(fail_at=5)
    with pytest.raises(ConnectionError):
        clf.partial_fit(X, oracle, classes=[0, 1])
    rest = clf.n_seen_
    oracle.fail_at = None
    clf.partial_fit(X[rest:], lambda i: oracle(i + rest))
    np.testing.assert_array_equal(clf.decision_function(X), whole.decision_function(X))


@pytest.mark.parametrize("answer", [[], [0, 1], np.zeros((2, 2))])
def test_an_oracle_must_give_one_label(answer):
    with pytest.raises(ValueError, match="return one label for every index"):
        SelectiveClassifier(random_state=0).fit(X, lambda i: answer)


@pytest.mark.parametrize("answer", [None, float("nan")])
def test_an_oracle_must_give_a_label(answer):
    with pytest.raises(ValueError, match="a label is needed"):
        SelectiveClassifier(random_state=0).fit(X, lambda i: [answer])
