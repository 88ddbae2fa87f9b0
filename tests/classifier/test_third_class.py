"""A third class joins the default learner: whichever way the rows come, it goes on the same.

Two classes and many have other rules, so both begin anew; compiled once, the rest in plain Python.
"""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits

from selectron import SelectiveClassifier
from selectron.queries import Auto, Balanced, Capped, Margin
from selectron.updates import PassiveAggressive

DIGITS, CLASSES = load_digits(return_X_y=True)
ROWS = np.random.default_rng(0).permutation(np.flatnonzero(CLASSES < 4))[:250]
TWO = ROWS[CLASSES[ROWS] < 2]
ORDER = np.concatenate([TWO[:70], ROWS[:130]])  # the third comes after a while
X, Y = DIGITS[ORDER][:, 8:40], CLASSES[ORDER]


def make(**options):
    return SelectiveClassifier(random_state=3, **options)


def in_one_batch(clf, rows):
    return clf.partial_fit(rows, Y)


def by_an_oracle(clf, rows):
    return clf.partial_fit(rows, lambda positions: Y[positions])


def by_tickets(clf, rows):
    for t in range(len(Y)):
        answer = clf.ask(rows[t : t + 1])
        if answer.asked[0]:
            clf.tell(answer.tickets, Y[t : t + 1])
    return clf


def one_by_one(clf, rows):
    for t in range(len(Y)):
        if clf.ask_one(rows[t]).asked:
            clf.learn_one(rows[t], Y[t])
    return clf


def one_by_one_with_tickets(clf, rows):
    for t in range(len(Y)):
        answer = clf.ask_one(rows[t])
        if answer.asked:
            clf.tell(answer.tickets, Y[t])
    return clf


RULE = PassiveAggressive(squared=True)
DOORS = [by_an_oracle, by_tickets, one_by_one, one_by_one_with_tickets]
OPTIONS = {
    "csr": {},
    "honest": {"explore": 0.1},
    "kernel": {"kernel": "rbf", "gamma": 0.002},
}


def same(clf, other, rows):
    assert (clf.n_seen_, clf.n_asked_, clf.n_updates_) == (
        other.n_seen_, other.n_asked_, other.n_updates_,
    )  # fmt: skip
    assert clf.classes_.tolist() == other.classes_.tolist()
    assert clf.decision_function(rows).tobytes() == other.decision_function(rows).tobytes()
    states = [one._run.machine.states.numbers.tobytes() for one in (clf, other)]
    assert states[0] == states[1]
    return True


@pytest.mark.slow  # half a minute to compile
def test_compiled():
    assert same(one_by_one(make(), X), in_one_batch(make(), X), X)


@pytest.mark.plain
@pytest.mark.parametrize("door", DOORS)
def test_every_door(door):
    whole = in_one_batch(make(), X)
    assert len(whole.classes_) == 4
    assert same(door(make(), X), whole, X)


@pytest.mark.plain
@pytest.mark.parametrize("door", [by_tickets, one_by_one])
@pytest.mark.parametrize("name", ["csr", "honest", "kernel"])
def test_other_learners(name, door):
    rows = csr_matrix(X) if name == "csr" else X
    whole = in_one_batch(make(**OPTIONS[name]), rows)
    clf = door(make(**OPTIONS[name]), rows)
    assert same(clf, whole, rows)
    if name == "honest":
        assert clf.estimate() == whole.estimate()


@pytest.mark.plain
@pytest.mark.parametrize("query", [Auto(), Balanced(), Capped(), Margin(b=0.3)])
def test_a_query_rule_that_was_named(query):
    """An answer that brings a class is learnt alike, with its ticket and without."""
    joined = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        rows = rng.standard_normal((80, 7))
        labels = (rows @ rng.standard_normal((7, 3))).argmax(axis=1)
        told, taught = (SelectiveClassifier(RULE, query, random_state=0) for _ in range(2))
        for x, y in zip(rows, labels, strict=True):
            answer = told.ask_one(x)
            assert answer == taught.ask_one(x)
            if answer.asked:
                told.tell(answer.tickets, y)
                taught.learn_one(x, y)
        joined += len(told.classes_) > 2
        assert same(told, taught, rows)
    assert joined > 6
