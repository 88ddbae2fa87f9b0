"""Certified stopping: as its twin decides, and the same whichever way rows and labels come."""

from copy import deepcopy

import numpy as np
import pytest

from selectron import SelectiveClassifier, load
from selectron.evaluate import progressive
from selectron.numeric.coins import coins
from selectron.queries import Auto, Budget, Margin
from selectron.queries.floor import FloorByCertainty
from selectron.tracking import ForgettingRidge, TrackingClassifier
from selectron.updates import Perceptron, Ridge
from tests.oracles import certifying as twin
from tests.oracles import learners, queries

RNG = np.random.default_rng(5)
N = 1600
X = RNG.standard_normal((N, 5))
W = RNG.standard_normal(5)
Y = np.where(X @ W > 0, 1, -1)
MANY = np.array(["a", "b", "c"])[(X @ W > 0).astype(int) + ((X @ W > 0) & (X[:, 0] > 0.5))]


def learner(goal="error<=0.1", **options):
    return SelectiveClassifier(stop_when=goal, random_state=0, **options)


def starts(clf):
    return deepcopy(clf._run.ledger.certifying.wager.starts)


def facts(clf):
    """Return all that has to be the same, bit for bit."""
    return clf.n_asked_, clf.stopped_at_, starts(clf), clf.readout(), str(clf.outlook())


@pytest.mark.parametrize("goal", ["error<=0.1", "risk<=0.1", "error<=0.06"])
@pytest.mark.parametrize("ridge", [False, True])
def test_it_decides_as_its_twin(goal, ridge):
    measure, _, bound = goal.partition("<=")
    rules = (Ridge(), Margin(b=0.1)) if ridge else (Perceptron(), Margin(b=0.5))
    trace = progressive(learner(goal, update=rules[0], query=rules[1]), X, Y, seed=0)
    slow = learners.Ridge(5) if ridge else learners.Perceptron(5)
    certified = twin.Certified(float(bound), risk=measure == "risk")
    query = queries.Margin(rules[1].b)
    odds, asked, at = twin.run(slow, query, certified, X[:1000], Y[:1000], coins(0, 0, N))
    n = len(odds)
    assert trace.learner.stopped_at_ == at or (at is None and n == 1000)
    np.testing.assert_array_equal(trace.asked[:n], asked)
    np.testing.assert_allclose(trace.probabilities[:n], odds, rtol=1e-9)
    assert [start.opened for start in starts(trace.learner)][: len(certified.starts)] == (
        certified.starts
    )


def test_every_way_to_learn_says_the_same(tmp_path):
    fitted = learner().partial_fit(X, Y)
    pieces, oracle, asked, single = learner(), learner(), learner(), learner()
    for start in range(0, N, 37):
        pieces.partial_fit(X[start : start + 37], Y[start : start + 37])
        pieces.save(tmp_path / "m")
        pieces = load(tmp_path / "m")
    oracle.partial_fit(X, lambda at: Y[at])
    for t in range(N):
        answer = asked.ask(X[t : t + 1])
        if answer.asked[0]:
            asked.tell(answer.tickets, Y[t : t + 1])
        if single.ask_one(X[t]).asked:
            single.learn_one(X[t], Y[t])
    assert fitted.stopped_at_ < N
    for other in (pieces, oracle, asked, single):
        assert facts(other)[:3] == facts(fitted)[:3]
        assert other.estimate() == fitted.estimate()
        np.testing.assert_array_equal(
            other.decision_function(X[:50]), fitted.decision_function(X[:50])
        )


def test_it_learns_first_and_asks_by_certainty_afterwards():
    trace = progressive(learner(), X, Y)
    opened, at = starts(trace.learner)[0].opened, trace.learner.stopped_at_
    assert trace.probabilities[50:opened].min() < 0.2 <= trace.probabilities[opened:at].min()
    floors = trace.learner._run.ledger.certifying.floors
    assert 1.5 * floors[-1] < floors[0] <= 1.0
    assert not trace.asked[at:].any()
    assert trace.mistakes[opened:at].mean() <= 0.1


def test_the_risk_takes_more_labels_and_looser_goals_fewer():
    labels = [
        learner(goal, update=Perceptron(), query=Margin(b=0.5)).fit(X, Y).n_asked_
        for goal in ("error<=0.2", "error<=0.1", "risk<=0.1")
    ]
    assert labels == sorted(labels)


def test_answers_that_wait_count_as_mistakes():
    clf, whole = learner(), learner().partial_fit(X, Y)
    clf.partial_fit(X[:400], Y[:400])
    assert starts(clf)
    assert clf.stopped_at_ is None
    assert whole.stopped_at_ < 1500
    ask = clf.ask(X[400:1500])
    at = np.flatnonzero(ask.asked)
    assert clf.stopped_at_ is None
    assert clf.estimate().pending > 0.9 * len(at)
    lost = at[:3]
    clf.forget(ask.tickets[lost])
    high = clf.estimate().high
    clf.tell(ask.tickets[at[3:40]], Y[400 + at[3:40]])
    assert clf.estimate().high < high
    clf.tell(ask.tickets[at[40:]], Y[400 + at[40:]])
    assert clf.estimate().lost == 3
    assert clf.stopped_at_ == 1500
    assert not clf.ask(X).asked.any()


def test_a_spent_budget_ends_the_count():
    clf = learner("error<=0.04", query=Budget(total=80)).fit(X, Y)
    assert clf.n_asked_ == 80
    assert clf.stopped_at_ is None
    rounds = clf.estimate().rounds
    assert 0 < rounds < N - 500
    clf.partial_fit(X, Y)
    assert clf.estimate().rounds == rounds
    assert "the budget is spent" in clf.readout()


def test_a_refused_batch_leaves_nothing():
    clf = learner().partial_fit(X[:500], Y[:500])
    before = facts(clf)
    bad = X[500:900].copy()
    bad[-1, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        clf.partial_fit(bad, Y[500:900])
    assert facts(clf) == before
    clf.partial_fit(X[500:], Y[500:])
    assert facts(clf)[:3] == facts(learner().partial_fit(X, Y))[:3]


def test_a_floor_that_was_asked_for_holds_from_the_first_question_on():
    clf = learner(explore=0.3)
    trace = progressive(clf, X, Y)
    at = trace.learner.stopped_at_
    assert trace.probabilities[50:at].min() >= 0.3
    assert trace.learner.rules_.query == FloorByCertainty(Auto(explore=0.3))


def test_many_classes_are_certified_too():
    trace = progressive(learner("error<=0.3"), X, MANY)
    opened, at = starts(trace.learner)[0].opened, trace.learner.stopped_at_
    assert at < N
    assert trace.mistakes[opened:at].mean() <= 0.3
    single = learner("error<=0.3")
    single.partial_fit(X[:1], MANY[:1], classes=np.unique(MANY))
    given = learner("error<=0.3").partial_fit(X, MANY, classes=np.unique(MANY))
    for t in range(1, N):
        if single.ask_one(X[t]).asked:
            single.learn_one(X[t], MANY[t])
    assert facts(single)[:3] == facts(given)[:3]


@pytest.mark.plain
@pytest.mark.parametrize("told", [False, True])
def test_a_class_that_joins_opens_no_certificate_anew(told):
    """The reserve is spent once, and the prediction that could not know the class was wrong."""
    y = np.where(np.arange(N) > 500, MANY, np.where(Y > 0, "b", "a"))
    clf = learner("error<=0.05", explore=0.3)
    clf.partial_fit(X[:500], y[:500])
    before = [start.opened for start in starts(clf)]
    wrong = starts(clf)[0].wrong
    if told:
        for t in range(500, 700):
            one = clf.ask_one(X[t])
            if one.asked:
                clf.tell(one.tickets, y[t])
    else:
        clf.partial_fit(X[500:700], y[500:700])
    assert len(clf.classes_) == 3
    assert [start.opened for start in starts(clf)][: len(before)] == before
    assert starts(clf)[0].wrong > wrong
    assert isinstance(clf.rules_.query, FloorByCertainty)
    assert clf.rules_.query.explore == 0.3


def test_trackers_are_certified_too(tmp_path):
    few = [ForgettingRidge(), Perceptron()]  # all eight take a minute to compile
    clf = TrackingClassifier(few, stop_when="error<=0.2")
    clf.partial_fit(X[:700], Y[:700])
    clf.save(tmp_path / "t")
    clf = load(tmp_path / "t").partial_fit(X[700:], Y[700:])
    whole = TrackingClassifier(few, stop_when="error<=0.2").partial_fit(X, Y)
    assert whole.stopped_at_ < N
    assert facts(clf)[:3] == facts(whole)[:3]


def test_kernels_are_certified_too():
    clf = learner("error<=0.2", kernel="rbf", gamma=0.5).partial_fit(X[:500], Y[:500])
    pieces = learner("error<=0.2", kernel="rbf", gamma=0.5)
    for start in range(0, 500, 100):
        pieces.partial_fit(X[start : start + 100], Y[start : start + 100])
    assert clf.stopped_at_ is not None
    assert facts(clf)[:2] == facts(pieces)[:2]


def test_estimate_readout_and_outlook_speak_of_the_certificate():
    clf = learner("error<=0.04").partial_fit(X[:40], Y[:40])
    assert "no round so far" in str(clf.estimate())
    with pytest.raises(ValueError, match="no label yet"):
        clf.outlook()
    clf.partial_fit(X[40:1100], Y[40:1100])
    told = clf.readout(as_dict=True)
    assert told["since the start"] == clf.estimate().to_dict()
    assert told["next"]["then"]["high"] < told["next"]["now"]["high"]
    assert "more labels" in told["goal"] or "out of reach" in told["goal"]
    assert clf.estimate(window="half").rounds > 0
    assert clf.estimate(level=0.5).high < clf.estimate(level=0.99).high
    with pytest.raises(ValueError, match="counts questions that were given up"):
        clf.estimate(missing="at random")
