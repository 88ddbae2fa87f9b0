"""The rules of asking: their rates, what moves them, and that no other label is read."""

import numpy as np
import pytest

from selectron import SelectiveClassifier
from selectron.queries import Always, Uniform
from selectron.streams import drifting
from selectron.tracking import ByMargin, ByMistakes, ForgettingRidge, TrackingClassifier, follow
from selectron.updates import Perceptron

FEW = [ForgettingRidge(), ForgettingRidge(memory=None), Perceptron()]
QUERIES = [ByMargin(), ByMistakes(), Uniform(rate=0.2)]


@pytest.mark.parametrize("rate", [0.05, 0.1, 0.3])
def test_by_margin_asks_at_its_rate(rate):
    X, y, *_ = drifting("slow rotation", 1)
    run = follow(TrackingClassifier(FEW, query=ByMargin(rate=rate)), X, y)
    assert abs(run.asked[2000:].mean() - rate) < 0.01
    assert run.probabilities.min() >= 0.025
    certain = np.abs(run.margins[2000:]) > np.median(np.abs(run.margins[2000:]))
    assert run.asked[2000:][certain].mean() < 0.5 * run.asked[2000:][~certain].mean()


def test_questions_follow_the_drift():
    """Still, then turning: by mistakes more is asked while it turns, at a fixed rate not."""
    X, y, *_ = drifting("half rotating", 1)
    still, turning = slice(3000, 10_000), slice(11_000, 20_000)
    run = follow(TrackingClassifier(FEW, query=ByMistakes()), X, y)
    assert run.probabilities.min() == 0.02, "the floor holds"
    assert run.asked[turning].mean() > 2.5 * run.asked[still].mean()
    run = follow(TrackingClassifier(FEW, query=ByMargin(rate=0.05)), X, y)
    assert run.probabilities.min() == 0.025, "the floor holds"
    assert run.asked[turning].mean() < 1.5 * run.asked[still].mean()


def test_a_long_calm_need_not_be_paid_back():
    """Without its least width the rule sleeps through a flip after 20,000 quiet rounds."""
    X, y, *_ = drifting("stationary", 1, n=24_000, noise=0.0)
    y[20_000:] *= -1
    wrong = {}
    for least in (0.01, 1e-9):
        query = ByMistakes(least=least)
        wrong[least] = follow(TrackingClassifier(FEW, query=query), X, y).mistakes[20_000:].mean()
    assert wrong[0.01] < 0.2
    assert wrong[1e-9] > 0.5


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.label)
def test_labels_not_asked_are_never_read(query):
    X, y, *_ = drifting("flips", 5, n=3000)
    clf = TrackingClassifier(FEW, query=query).fit(X, y, classes=[-1, 1])
    asked = follow(clf, X, y).asked
    assert 30 < asked.sum() < 2000
    poisoned = y.astype(object)
    poisoned[~asked] = "poison"
    twin = TrackingClassifier(FEW, query=query).fit(X, poisoned, classes=[-1, 1])
    np.testing.assert_array_equal(clf.weights_, twin.weights_)
    np.testing.assert_array_equal(clf.decision_function(X), twin.decision_function(X))
    called = []

    def oracle(indices):
        called.extend(indices.tolist())
        return y[indices]

    third = TrackingClassifier(FEW, query=query).fit(X, oracle, classes=[-1, 1])
    np.testing.assert_array_equal(called, np.flatnonzero(asked))
    np.testing.assert_array_equal(clf.decision_function(X), third.decision_function(X))


def test_losses_weigh_one_over_their_odds():
    """Over the coins, what a learner loses is on the average what it would lose on all labels."""
    X, y, *_ = drifting("flips", 1, n=2000)
    sums, alls = np.zeros(3), np.zeros(3)
    for seed in range(60):
        run = follow(TrackingClassifier(FEW, random_state=seed), X, y)
        asked = run.asked[:, None]
        sums += (run.learner_mistakes * asked / run.probabilities[:, None]).sum(axis=0)
        alls += run.learner_mistakes.sum(axis=0)
    np.testing.assert_allclose(sums, alls, rtol=0.05)
    assert np.abs(alls - run.learner_mistakes[run.asked].sum(axis=0) * 60).min() > 0.3 * alls.min()


def test_the_rules_of_asking_serve_other_learners_too():
    X, y, *_ = drifting("stationary", 1, n=5000)
    clf = SelectiveClassifier(ForgettingRidge(memory=None), ByMargin(rate=0.05)).fit(X, y)
    assert 150 < clf.n_asked_ < 600
    assert clf.score(X, y) > 0.85


@pytest.mark.parametrize(
    "make",
    [
        lambda: ByMargin(rate=0.0),
        lambda: ByMargin(floor=0.0),
        lambda: ByMargin(step=-1.0),
        lambda: ByMistakes(grow=0.0),
        lambda: ByMistakes(floor=1.5),
        lambda: ByMistakes(least=0.0),
    ],
)
def test_knobs_out_of_range_are_refused(make):
    with pytest.raises(ValueError, match="must lie in"):
        make()


def test_all_labels_are_all_labels():
    X, y, *_ = drifting("flips", 1, n=600)
    clf = TrackingClassifier(FEW, query=Always()).fit(X, y)
    assert clf.n_asked_ == clf.n_seen_ == clf.n_updates_ == 600
