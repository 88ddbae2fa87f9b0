"""One row at a time is the body of the loop.

Compiling takes longer than running: the simplest rules and the default are compiled, the others are
plain Python.
"""

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

from selectron import SelectiveClassifier
from selectron.classifier import estimator, one_row
from selectron.queries import Balanced, Margin
from selectron.updates import Perceptron, Reflection, SecondOrder, Winnow
from tests.rules.streams import stream

pytestmark = pytest.mark.filterwarnings("ignore:Reflection is made for rows of length one")
X, SIGNS = stream(n=150)
Y = np.where(SIGNS > 0, "b", "a")
RULES = [
    (Perceptron(), Margin(b=0.4)),
    (SecondOrder(), Margin(b=0.1)),
    (Reflection(), Balanced(rho=0.3, start=1.0)),
    (Winnow(eta=0.3, balanced=True), Margin(b=0.1)),
    (None, None),
]


def make(rules):
    return SelectiveClassifier(*rules, random_state=5)


FEW = [(RULES[0], False), (RULES[0], True), (RULES[-1], False)]
OTHERS = [(RULES[-1], True)] + [(rules, sparse) for rules in RULES[1:-1] for sparse in (0, 1)]


@pytest.mark.parametrize(
    ("rules", "sparse"), [*FEW, *(pytest.param(*p, marks=pytest.mark.plain) for p in OTHERS)]
)
def test_asking_one_by_one_is_the_pass(rules, sparse):
    rows = csr_array(X) if sparse else X
    passed = make(rules).partial_fit(rows, Y)
    single = make(rules)
    for t in range(len(X)):
        x = rows[[t]] if sparse else X[t]
        answer = single.ask_one(x)
        if answer.asked:
            single.learn_one(x, Y[t])
    assert single.n_asked_ == passed.n_asked_
    assert single.n_seen_ == passed.n_seen_
    np.testing.assert_array_equal(single.decision_function(X), passed.decision_function(X))
    assert single._run.tickets.waiting == {}


@pytest.mark.parametrize("flat", [csr_array, coo_array])
def test_a_sparse_row_may_be_flat(flat):
    one, other = make(RULES[0]), make(RULES[0])
    for x, y in zip(X, Y, strict=True):
        answer = one.ask_one(flat(x))
        assert answer == other.ask_one(csr_array(x[None]))
        if answer.asked:
            one.learn_one(flat(x), y)
            other.learn_one(csr_array(x[None]), y)
    assert one.n_asked_ > 5
    np.testing.assert_array_equal(one.coef_, other.coef_)


def test_telling_the_ticket_of_one_row():
    told, taught = make(RULES[0]), make(RULES[0])
    for x, y in zip(X, Y, strict=True):
        a, b = told.ask_one(x), taught.ask_one(x)
        assert a == b
        if a.asked:
            told.tell(a.tickets, y)
            taught.learn_one(x, y)
    np.testing.assert_array_equal(told.coef_, taught.coef_)


def test_labels_without_questions():
    clf = make(RULES[0])
    for x, y in zip(X, Y, strict=True):
        clf.predict_one(x)
        clf.learn_one(x, y)
    assert clf.n_seen_ == clf.n_asked_ == len(X)
    assert clf.score(X, Y) > 0.7


def test_prediction_changes_nothing():
    clf = make((None, None)).fit(X, Y)
    before = clf.decision_function(X)
    labels = [clf.predict_one(x) for x in X]
    assert labels == clf.predict(X).tolist()
    np.testing.assert_array_equal(clf.decision_function(X), before)


def test_there_is_no_prediction_before_a_label():
    assert make(RULES[0]).predict_one(X[0]) is None


@pytest.mark.parametrize(
    "x", [X[0].tolist(), X[0].astype(np.float32), X[:1], np.repeat(X[0], 2)[::2], X[0][::-1][::-1]]
)
def test_a_row_may_come_in_any_shape(x):
    clf = make(RULES[0]).fit(X, Y)
    assert clf.predict_one(x) == clf.predict(X[:1])[0]


@pytest.mark.parametrize("x", [X[0][:5], X[0, 0], X[:2], np.r_[X[0], 1.0]])
def test_a_row_of_another_width_is_refused(x):
    clf = make(RULES[0]).fit(X, Y)
    with pytest.raises(ValueError, match="a row of 7 features is expected"):
        clf.predict_one(x)


@pytest.mark.parametrize(
    "rules", [RULES[0], *(pytest.param(rules, marks=pytest.mark.plain) for rules in RULES[1:])]
)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_bad_row_changes_nothing(rules, value):
    clf = make(rules).fit(X, Y)
    before, seen = clf.decision_function(X), clf.n_seen_
    bad = X[0].copy()
    bad[1] = value
    for action in (clf.predict_one, clf.ask_one, lambda x: clf.learn_one(x, "a")):
        with pytest.raises(ValueError, match="NaN or infinity"):
            action(bad)
    np.testing.assert_array_equal(clf.decision_function(X), before)
    assert clf.n_seen_ == seen


def test_an_unknown_label_changes_nothing():
    clf = make(RULES[0]).fit(X, Y)
    before = clf.coef_
    with pytest.raises(ValueError, match="unknown label 'c'"):
        clf.learn_one(X[0], "c")
    np.testing.assert_array_equal(clf.coef_, before)


def asked_and_learnt(clf):
    """Ask about each row, answer half of the questions at once, and teach some rows unasked."""
    clf.partial_fit(X[:60], Y[:60])
    answers = []
    for t in range(60, 150):
        answers.append((clf.predict_one(X[t]), clf.ask_one(X[t])))
        if answers[-1][1].asked and t % 2:
            clf.learn_one(X[t], Y[t])
        elif t % 7 == 0:
            clf.learn_one(X[t], "third" if t == 140 else Y[t])
    return answers, clf.n_seen_, clf.n_asked_, clf.decision_function(X).tolist()


@pytest.mark.parametrize("rules", [RULES[0], RULES[-1]])
def test_first_calls_are_batches_and_nobody_can_tell(rules, monkeypatch):
    found = []
    for first_calls in (0, 16, 1000):
        monkeypatch.setattr(estimator, "FIRST_CALLS", first_calls)
        found.append(asked_and_learnt(make(rules)))
    assert found[0] == found[1] == found[2]


def test_few_calls_compile_no_loop_of_their_own(monkeypatch):
    def compiles(*_):
        raise AssertionError("compiled")

    monkeypatch.setattr(estimator, "FIRST_CALLS", 16)
    monkeypatch.setattr(one_row, "entry_point", compiles)
    clf = make(RULES[0]).partial_fit(X[:60], Y[:60])
    for t in range(8):
        clf.learn_one(X[t], Y[t])
        clf.predict_one(X[t])
    with pytest.raises(AssertionError, match="compiled"):
        clf.ask_one(X[8])


@pytest.mark.parametrize("first_calls", [0, 16])
def test_none_is_no_label_of_the_row_just_asked(first_calls, monkeypatch):
    monkeypatch.setattr(estimator, "FIRST_CALLS", first_calls)
    clf = SelectiveClassifier("perceptron", "always", random_state=1)
    clf.ask_one(X[0])
    with pytest.raises(ValueError, match="a label is needed here, got None"):
        clf.learn_one(X[0], None)
    assert len(clf.waiting) == 1
