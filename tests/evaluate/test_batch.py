"""Batch hypotheses against their definition: the weights of every round, kept in a list."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from selectron import SelectiveClassifier
from selectron.bounds import ccg04
from selectron.classifier.rules import has_many_form
from selectron.evaluate import batch_hypotheses
from selectron.queries import Always, Margin
from selectron.scalings import Raw
from selectron.updates import Perceptron
from tests.rules.catalogue import UPDATES

pytestmark = pytest.mark.plain  # the rules are compiled elsewhere
N, D = 60, 4
RNG = np.random.default_rng(4)
X = RNG.standard_normal((N, D))
X /= np.linalg.norm(X, axis=1, keepdims=True)
TWO = np.where(X @ [1.0, -0.5, 0.2, 0.0] > 0.1, "yes", "no")
TWO[RNG.random(N) < 0.1] = "no"
THREE = np.array(["a", "b", "c"])[(X @ RNG.standard_normal((D, 3))).argmax(axis=1)]


def by_definition(update, query, y, **options):
    """Play row by row; return the weights of each round, whether it was right, and the last."""
    clf = SelectiveClassifier(update, query, random_state=0, **options)
    weights, right = [], []
    for t in range(N):
        begun = t > 0
        weights.append(np.column_stack([clf.coef_, clf.intercept_]) if begun else None)
        right.append(bool(clf.predict(X[t : t + 1])[0] == y[t]) if begun else y[t] == min(y))
        clf.partial_fit(X[t : t + 1], y[t : t + 1], classes=sorted(set(y)))
    last = np.column_stack([clf.coef_, clf.intercept_])
    weights[0] = np.zeros_like(last)  # where the Perceptron begins
    return weights, right, last


def survivor(weights, right):
    """Return the weights with the most right predictions in a row since they were made."""
    best, life, found = weights[0], 0, (0, weights[0])
    for t, each in enumerate(weights):
        if t == 0 or not np.array_equal(each, best):
            best, life, alive = each, 0, True
        alive = alive and right[t]
        life += alive
        if life > found[0]:
            found = life, each
    return found


@pytest.mark.parametrize("query", [Always(), Margin(b=0.3)], ids=str)
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("intercept", [False, True])
def test_all_three_by_definition(query, y, intercept):
    update, options = Perceptron(), {"fit_intercept": intercept}
    found = batch_hypotheses(SelectiveClassifier(update, query, **options), X, y)
    weights, right, last = by_definition(update, query, y, **options)
    survived, longest = survivor(weights, right)
    assert found.survived == survived > 3
    for made, wanted in ((found.last, last), (found.longest, longest)):
        np.testing.assert_array_equal(np.column_stack([made.coef, made.intercept]), wanted)
    averaged = np.column_stack([found.averaged.coef, found.averaged.intercept])
    np.testing.assert_allclose(averaged, np.mean(weights, axis=0), rtol=1e-12)
    assert found.mean_bound() == ccg04.mean_error(mistakes=N - sum(right), rounds=N, delta=0.05)
    assert found.longest_bound(0.2) == ccg04.survivor_error(
        survived=survived, n_hypotheses=N, delta=0.2
    )


@pytest.mark.parametrize("name", UPDATES)
def test_the_last_predicts_as_the_learner_for_every_rule(name):
    for y in (TWO, THREE) if has_many_form(UPDATES[name]) else (TWO,):
        clf = SelectiveClassifier(UPDATES[name], Always(), scaling=Raw())
        found = batch_hypotheses(clf, csr_array(X), y)
        wanted = found.trace.learner.predict(X)
        np.testing.assert_array_equal(found.last.predict(X), wanted)
        assert found.last.error(csr_array(X), y) == np.mean(wanted != y)
        assert 0 < found.survived <= N


def test_winnow_begins_with_even_weights():
    update = UPDATES["winnow"]
    found = batch_hypotheses(SelectiveClassifier(update, Always()), X[:1], TWO[:1])
    np.testing.assert_array_equal(found.averaged.coef, np.full((1, D), 1 / D))


def test_a_kernel_has_no_weights_to_average():
    with pytest.raises(AttributeError, match="with a kernel there are no coefficients"):
        batch_hypotheses(SelectiveClassifier(Perceptron(), Always(), kernel="rbf"), X, TWO)
