"""What users do wrong, or do that nobody thought of: told by name, and nothing is half learnt."""

import copy

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.cluster import MiniBatchKMeans
from sklearn.linear_model import SGDClassifier, SGDOneClassSVM, SGDRegressor

from selectron import SelectiveClassifier
from selectron.queries import Always, Budget, Uniform
from selectron.streams import drifting
from selectron.tracking import ForgettingRidge, TrackingClassifier, follow
from selectron.updates import Perceptron

FEW = [ForgettingRidge(), ForgettingRidge(memory=None), Perceptron()]  # compiled elsewhere too
X, Y, *_ = drifting("flips", 5, n=1500)


@pytest.mark.parametrize(
    ("learner", "kind"),
    [
        (SGDRegressor(), r"SGDRegressor\(\) is a regressor"),
        (MiniBatchKMeans(), r"MiniBatchKMeans\(\) is a clusterer"),
        (SGDOneClassSVM(), r"SGDOneClassSVM\(\) is an outlier detector"),
    ],
    ids=["regressor", "clusterer", "detector"],
)
def test_a_learner_that_is_no_classifier_is_refused(learner, kind):
    clf = TrackingClassifier([Perceptron(), learner])
    with pytest.raises(TypeError, match=f"{kind}, and the learners .* are classifiers: pass one"):
        clf.fit(X, Y)
    assert clf._run is None


def test_what_is_no_classifier_of_river_is_refused():
    linear_model = pytest.importorskip("river.linear_model")
    preprocessing = pytest.importorskip("river.preprocessing")
    cluster = pytest.importorskip("river.cluster")
    straight = linear_model.LinearRegression()
    scaled = preprocessing.StandardScaler() | linear_model.LinearRegression()
    for learner, kind in ((straight, "regressor"), (scaled, "regressor"), (cluster.KMeans(), "c")):
        with pytest.raises(TypeError, match=f" is a {kind}.*learners of a tracker are classifiers"):
            TrackingClassifier([learner]).fit(X, Y)
    fine = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    assert TrackingClassifier([fine]).fit(X[:300], Y[:300]).n_seen_ == 300


@pytest.fixture
def asking():
    clf = TrackingClassifier(FEW, query=Uniform(rate=0.5))
    return clf, clf.ask(X[:100])


def test_tell_says_what_to_pass_instead(asking):
    clf, ask = asking
    tickets = ask.tickets[ask.asked]
    before = copy.deepcopy(clf)
    wrong = {
        rf"{len(tickets)} tickets but one label, 1: pass a list": (tickets, 1),
        rf"{len(tickets)} tickets but one label, 'yes'": (tickets, "yes"),
        rf"{len(tickets)} tickets but 2 labels: pass one for each": (tickets, [1, -1]),
        r"whole answer of ask.*tell\(ask.tickets\[ask.asked\], labels\)": (ask, Y[:100]),
        r"tickets have shape \(1, \d+\): pass a flat list": (tickets[np.newaxis], [1]),
    }
    for message, arguments in wrong.items():
        with pytest.raises(ValueError, match=message):
            clf.tell(*arguments)
    assert clf.n_updates_ == before.n_updates_ == 0
    np.testing.assert_array_equal(clf.weights_, before.weights_)
    assert clf.tell(tickets, Y[:100][ask.asked]) == len(tickets)


def test_tell_of_one_row_says_so(asking):
    clf, _ = asking
    one = clf.ask_one(X[0])
    with pytest.raises(ValueError, match=r"whole answer of ask.*tell\(ask.tickets, labels\)"):
        clf.tell(one, 1)


@pytest.mark.parametrize("rows", [X[:2], csr_array(X[:2]), np.float64(3.0), X[:0]])
def test_one_row_is_one_row(rows):
    """Two rows would be two rounds, and only the first would be answered for."""
    clf = TrackingClassifier(FEW).fit(X[:100], Y[:100])
    for act in (clf.predict_one, clf.ask_one, lambda x: clf.learn_one(x, 1)):
        with pytest.raises(ValueError, match=r"a row of \d+ features is expected, got shape"):
            act(rows)
    assert clf.n_seen_ == 100
    assert clf.predict_one(X[:1]) == clf.predict_one(X[0]) == clf.predict_one(csr_array(X[:1]))


@pytest.mark.plain
@pytest.mark.parametrize("query", [Uniform(rate=0.5), Budget(rate=0.5)], ids=str)
def test_foreign_learners_can_be_given_up_on(query):
    """The query rule hears of it as it does where the learners are rules."""
    trackers = [
        TrackingClassifier(learners, query=query, random_state=1)
        for learners in ([SGDClassifier()], [Perceptron()])
    ]
    for clf in trackers:
        first = clf.ask(X[:300])
        assert clf.forget(first.tickets[first.asked]) == first.asked.sum()
        clf.ask(X[300:1400])  # by now the first unanswered ones are overdue
        clf.ask(X[1400:])
    plain, compiled = trackers
    assert plain._run.tickets.n_overdue == compiled._run.tickets.n_overdue
    assert plain.n_asked_ == compiled.n_asked_
    assert type(plain.n_asked_) is int
    assert plain._run.machine.states.now.query == compiled._run.machine.states.now.query


@pytest.mark.parametrize(
    "other", [3, TrackingClassifier, SelectiveClassifier(Perceptron(), Always())]
)
def test_only_trackers_are_followed(other):
    with pytest.raises(TypeError, match="follow runs a TrackingClassifier, got"):
        follow(other, X, Y)


@pytest.mark.parametrize("memory", ["5", 1, 0, -3, np.nan, np.inf, 10**400, [5]])
def test_a_bad_memory_is_named(memory):
    with pytest.raises(ValueError, match="memory must be a number > 1 of labels a feature"):
        ForgettingRidge(memory=memory)


@pytest.mark.parametrize("every", ["5", 0, 1.5, True, np.inf, np.nan, 10**400, [5]])
def test_a_bad_reset_is_named(every):
    with pytest.raises(ValueError, match="reset_every must be a whole number of labels >= 1"):
        ForgettingRidge(reset_every=every)
