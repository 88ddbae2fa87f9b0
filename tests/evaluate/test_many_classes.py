"""Judging learners of many classes."""

import numpy as np
import pytest

from selectron import SelectiveClassifier
from selectron.evaluate import first_passage, progressive
from selectron.queries import Always, Margin
from selectron.updates import Perceptron

RNG = np.random.default_rng(0)
X = RNG.standard_normal((400, 5))
Y = np.array(["a", "b", "c"])[(X @ RNG.standard_normal((5, 3))).argmax(axis=1)]
LEARNER = SelectiveClassifier(Perceptron(), Margin(b=1.0))


@pytest.fixture(scope="module")
def trace():
    return progressive(LEARNER, X[:300], Y[:300], seed=2, test=(X[300:], Y[300:]))


def test_mistakes_are_wrong_classes(trace):
    twin = SelectiveClassifier(Perceptron(), Margin(b=1.0), random_state=2)
    wrong = []
    for x, y in zip(X[:300], Y[:300], strict=True):
        # Before any label no class leads, and the first is predicted.
        guess = twin.predict(x[np.newaxis])[0] if wrong else "a"
        wrong.append(guess != y)
        twin.partial_fit(x[np.newaxis], [y], classes=["a", "b", "c"])
    np.testing.assert_array_equal(trace.mistakes, wrong)
    assert trace.n_asked == twin.n_asked_


def test_confusion_and_recall(trace):
    counts = trace.confusion
    names = np.array(["a", "b", "c"])
    for true in range(3):
        for guessed in range(3):
            both = (Y[:300] == names[true]) & (trace.predicted == guessed)
            assert counts[true, guessed] == both.sum()
    assert counts.sum() - np.trace(counts) == trace.n_mistakes
    np.testing.assert_allclose(trace.recalls, np.diag(counts) / counts.sum(axis=1))


def test_two_classes_have_a_confusion_too():
    two = progressive(LEARNER, X[:300], Y[:300] == "a")
    counts = two.confusion
    assert counts.shape == (2, 2)
    assert counts[0, 1] + counts[1, 0] == two.n_mistakes


def test_errors_on_test_rows_and_first_passage_agree(trace):
    assert trace.test_errors[-1] == np.mean(trace.learner.predict(X[300:]) != Y[300:])
    curve = first_passage(LEARNER, X[:300], Y[:300], (X[300:], Y[300:]), 0.3, seed=2)
    assert curve.passage(30) == trace.labels_to_error(0.3)


def test_a_theorem_covers_it_and_estimates_count_mistakes(trace):
    assert "ours, after [CBGZ06] Theorem 1" in str(trace.certificate())
    everything = progressive(SelectiveClassifier(Perceptron(), Always()), X, Y)
    assert everything.estimates()[-1].error == pytest.approx(everything.error)
