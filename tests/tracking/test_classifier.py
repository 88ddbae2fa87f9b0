"""`TrackingClassifier` as users meet it: labels, batches, late answers, one row, bad input."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Perceptron as Theirs

from selectron.experts import LearnAlpha
from selectron.queries import Always
from selectron.streams import drifting
from selectron.tracking import ByMargin, ForgettingRidge, TrackingClassifier, follow
from selectron.updates import Perceptron

FEW = [ForgettingRidge(), ForgettingRidge(memory=None), Perceptron()]


@pytest.fixture(scope="module")
def stream():
    return drifting("flips", 5, n=2000)


def same(one, other, X):
    np.testing.assert_array_equal(one.weights_, other.weights_)
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    assert (one.n_seen_, one.n_asked_) == (other.n_seen_, other.n_asked_)


@pytest.mark.parametrize("names", [("no", "yes"), (False, True), (3, 8), (0.0, 1.0)])
def test_labels_of_any_type(stream, names):
    y = np.array(names)[(stream.y > 0).astype(int)]
    clf = TrackingClassifier(FEW).fit(stream.X, y)
    assert clf.classes_.tolist() == list(names)
    assert set(clf.predict(stream.X)) == set(names)
    reference = TrackingClassifier(FEW).fit(stream.X, stream.y)
    same(clf, reference, stream.X)


def test_batches_are_the_stream(stream):
    whole = TrackingClassifier(FEW).fit(stream.X, stream.y)
    parts = TrackingClassifier(FEW)
    for rows in np.array_split(np.arange(2000), [1, 2, 300, 301, 1500]):
        parts.partial_fit(stream.X[rows], stream.y[rows], classes=[-1, 1])
    same(whole, parts, stream.X)
    assert whole.weights_.sum() == pytest.approx(1.0, abs=1e-12)
    assert whole.following_ == whole.weights_.argmax()
    assert whole.names_[2] == "Perceptron()"


def test_a_seed_fixes_the_run_and_fit_begins_anew(stream):
    clf = TrackingClassifier(FEW, random_state=4).fit(stream.X, stream.y)
    again = TrackingClassifier(FEW, random_state=4).fit(stream.X[:50], stream.y[:50])
    other = TrackingClassifier(FEW, random_state=5).fit(stream.X, stream.y)
    same(clf, again.fit(stream.X, stream.y), stream.X)
    assert not np.array_equal(clf.weights_, other.weights_)


def test_whom_it_follows_over_time(stream):
    run = follow(TrackingClassifier(FEW, query=Always()), stream.X, stream.y)
    assert len(run) == 2000
    assert set(run.following) == {0, 1} or set(run.following) == {0, 1, 2}
    np.testing.assert_allclose(run.weights.sum(axis=1), 1.0, atol=1e-12)
    assert run.weights.min() > 0
    assert run.tracker.n_seen_ == 2000
    assert run.error == run.mistakes.mean()
    assert run.label_rate == 1.0


def test_late_answers(stream):
    """All questions first, the answers backwards: what is learnt is what was asked."""
    clf = TrackingClassifier(FEW)
    answer = clf.ask(stream.X[:500])
    assert answer.asked.sum() > 20
    assert clf.n_updates_ == 0
    assert (answer.margins == 0).all()  # nothing is learnt yet
    tickets = answer.tickets[answer.asked]
    truth = stream.y[:500][answer.asked]
    assert clf.tell(tickets[::-1], truth[::-1]) == len(tickets)
    assert clf.tell(tickets[0], truth[0]) == 0
    assert clf.n_updates_ == len(tickets) == clf.n_asked_
    assert clf.score(stream.X[:500], stream.y[:500]) > 0.6
    with pytest.raises(ValueError, match="unknown ticket"):
        clf.tell(9999, 1)


def test_a_late_answer_weighs_what_it_weighed_when_asked(stream):
    clf = TrackingClassifier(FEW).fit(stream.X[:1000], stream.y[:1000])
    answer = clf.ask(stream.X[1000:1200])
    t = int(np.flatnonzero(answer.asked & (answer.probabilities < 0.5))[0])
    experts = clf._run.machine.mixture
    twin = type(experts).from_state(experts.state())
    wrong = (follow_one(clf, stream.X[1000 + t]) > 0) != (stream.y[1000 + t] > 0)
    twin.update(wrong / answer.probabilities[t])
    clf.tell(answer.tickets[t], stream.y[1000 + t])
    np.testing.assert_array_equal(clf.weights_, twin.weights)


def test_one_row_at_a_time_is_the_batch(stream):
    batch = TrackingClassifier(FEW, query=Always())
    batch.partial_fit(stream.X[:300], stream.y[:300], classes=[-1, 1])
    single = TrackingClassifier(FEW, query=Always())
    single.partial_fit(stream.X[:1], stream.y[:1], classes=[-1, 1])
    for x, y in zip(stream.X[1:300], stream.y[1:300], strict=True):
        single.learn_one(x, y)
    same(batch, single, stream.X)
    assert single.predict_one(stream.X[400]) == batch.predict(stream.X[400:401])[0]


def test_a_row_taught_is_a_question_asked(stream):
    """The width of ByMargin shrinks as it does after a question; the odds count as 1."""
    clf = TrackingClassifier(FEW).fit(stream.X[:300], stream.y[:300])
    width, experts = clf._run.machine.states.now.query.width, clf._run.machine.mixture
    twin = type(experts).from_state(experts.state())
    margins = follow_one(clf, stream.X[300])
    twin.update((margins > 0) != (stream.y[300] > 0))
    clf.learn_one(stream.X[300], stream.y[300])
    assert clf._run.machine.states.now.query.width == pytest.approx(
        width * np.exp(0.02 * (0.1 - 1))
    )
    np.testing.assert_array_equal(clf.weights_, twin.weights)
    assert clf.n_seen_ == 301


def follow_one(clf, x):
    """Return what each learner says of a row."""
    members, margins = clf._run.machine.states.now.update.members, []
    for _ in FEW:
        margins.append(x @ members.first.weights)
        members = members.rest
    return np.array(margins)


def test_ask_one_then_learn_one_answers_the_question(stream):
    clf, twin = TrackingClassifier(FEW), TrackingClassifier(FEW)
    for x, y in zip(stream.X[:400], stream.y[:400], strict=True):
        if clf.ask_one(x).asked:
            clf.learn_one(x, y)
        answer = twin.ask_one(x)
        if answer.asked:
            twin.tell(answer.tickets, y)
    same(clf, twin, stream.X)
    assert clf.n_seen_ == 400
    assert clf.n_updates_ == clf.n_asked_ < 400
    assert clf.predict_one(stream.X[0]) in (-1, 1)


def test_predict_one_before_any_label():
    clf = TrackingClassifier(FEW, query=ByMargin(rate=1e-9, floor=1e-9))
    clf.ask(np.eye(3)[:1])
    assert clf.predict_one(np.zeros(3)) is None


def test_copies_clones_and_pickles(stream):
    clf = TrackingClassifier(FEW, eta=0.2).fit(stream.X[:500], stream.y[:500])
    for twin in (copy.deepcopy(clf), pickle.loads(pickle.dumps(clf))):
        same(clf, twin, stream.X)
        twin.partial_fit(stream.X[500:], stream.y[500:])
    more = copy.deepcopy(clf).partial_fit(stream.X[500:], stream.y[500:])
    same(more, twin, stream.X)
    assert clf.n_seen_ == 500
    assert clone(clf).get_params() == clf.get_params()
    assert repr(TrackingClassifier(eta=0.2)) == "TrackingClassifier(eta=0.2)"


BAD = {
    "nan": (lambda X, y: (np.where(np.arange(20) == 3, np.nan, X), y), "NaN or infinity in row"),
    "inf": (lambda X, y: (np.where(np.arange(20) == 3, np.inf, X), y), "NaN or infinity in row"),
    "huge": (lambda X, y: (X * 1e200, y), "scale the features down"),
    "width": (lambda X, y: (X[:, :7], y), "expecting 20 features"),
    "label": (lambda X, y: (X, np.where(np.arange(len(y)) == 90, 5, y)), "unknown label 5"),
    "length": (lambda X, y: (X, y[:-1]), "pass one for every row"),
    "flat": (lambda X, y: (X[0], y), "2D array"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("plain", [False, True], ids=["compiled", "plain"])
def test_a_bad_batch_leaves_everything_as_it_was(stream, name, plain):
    learners = [*FEW[:2], Theirs()] if plain else FEW
    spoil, message = BAD[name]
    clf = TrackingClassifier(learners, query=Always())
    clf.partial_fit(stream.X[:200], stream.y[:200], classes=[-1, 1])
    before = copy.deepcopy(clf)
    with pytest.raises(ValueError, match=message):
        clf.partial_fit(*spoil(stream.X[200:300].copy(), stream.y[200:300].copy()))
    same(clf, before, stream.X)
    clf.partial_fit(stream.X[200:300], stream.y[200:300])
    before.partial_fit(stream.X[200:300], stream.y[200:300])
    same(clf, before, stream.X)


def test_bad_rows_are_refused_one_by_one_and_when_predicting(stream):
    clf = TrackingClassifier(FEW).fit(stream.X[:200], stream.y[:200])
    before, bad = copy.deepcopy(clf), stream.X[0].copy()
    bad[2] = np.nan
    for act in (clf.predict_one, clf.ask_one, lambda x: clf.learn_one(x, 1)):
        with pytest.raises(ValueError, match="NaN or infinity"):
            act(bad)
    with pytest.raises(ValueError, match="unknown label 'maybe'"):
        clf.learn_one(stream.X[0], "maybe")
    with pytest.raises(ValueError, match="a row of 20 features is expected"):
        clf.learn_one(stream.X[0][:3], 1)
    same(clf, before, stream.X)


def test_a_first_row_that_is_refused_begins_nothing():
    clf = TrackingClassifier(FEW)
    with pytest.raises(ValueError, match="NaN or infinity"):
        clf.learn_one([np.nan, 1.0], 1)
    clf.learn_one([1.0, 2.0, 3.0], 1)
    assert clf.n_features_in_ == 3


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"learners": []}, ValueError, "learners is empty"),
        ({"learners": Perceptron()}, TypeError, "must be a list"),
        ({"learners": [Perceptron]}, TypeError, "pass an instance"),
        ({"learners": ["a"]}, TypeError, "needs partial_fit and predict"),
        ({"experts": 3}, TypeError, "must be a mixture"),
        ({"experts": LearnAlpha(4, horizon=10)}, ValueError, "make it for 8"),
        ({"query": "margin"}, TypeError, "query must be a rule"),
        (
            {"experts": LearnAlpha(6, horizon=10), "eta": 0.1},
            ValueError,
            "eta is 0.1 and experts is given",
        ),
        ({"eta": 0.0}, ValueError, "finite rate > 0"),
        ({"random_state": -1}, ValueError, "random_state must lie in"),
    ],
)
def test_bad_parameters_are_refused(stream, params, error, message):
    with pytest.raises(error, match=message):
        TrackingClassifier(**params).fit(stream.X, stream.y)


def test_no_coefficients():
    clf = TrackingClassifier(FEW).fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(AttributeError, match="use decision_function"):
        _ = clf.coef_
