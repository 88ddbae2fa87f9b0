"""The default goes on asking, whatever the stream is like."""

import numpy as np
import pytest

from selectron import SelectiveClassifier

N = 4000
RNG = np.random.default_rng(12)
X = RNG.standard_normal((N, 6))


def questions(rows, labels, seed=0):
    """Return which rows of the stream were asked."""
    asked = np.zeros(len(rows), bool)

    def oracle(positions):
        asked[positions] = True
        return labels[positions]

    clf = SelectiveClassifier(random_state=seed).fit(rows, oracle)
    return clf, asked


@pytest.mark.parametrize("seed", range(3))
def test_one_class_only(seed):
    clf, asked = questions(X, np.array(["a"] * N), seed)
    assert asked[:100].any()
    assert asked[N // 2 :].any()
    assert asked.sum() < 0.1 * N
    assert clf.classes_.tolist() == ["a"]
    assert (clf.predict(X) == "a").all()


def test_constant_features():
    y = np.where(RNG.random(N) < 0.5, "b", "a")
    _, asked = questions(np.ones((N, 6)), y)
    assert asked[N // 2 :].any()


def test_a_class_of_one_in_two_hundred():
    score = X @ np.array([1.0, 1.0, 0.5, 0.0, 0.0, 0.0])
    rare = score > np.quantile(score, 0.995)
    errors = []
    for seed in range(10):
        clf, asked = questions(X, np.where(rare, "rare", "usual"), seed)
        assert asked[N // 2 :].any()
        assert rare[asked].any()
        assert asked.sum() < 0.1 * N
        errors.append(1.0 - clf.score(X, np.where(rare, "rare", "usual")))
    assert np.mean(errors) < 0.6 * 0.005
