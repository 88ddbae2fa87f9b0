"""A stream of texts: its first rows are studied before the first question, alike by every door."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from selectron import SelectiveClassifier, load
from selectron.classifier import machine
from selectron.queries import Auto
from selectron.scalings import TextDirections
from selectron.updates import DualProbit

HELD = 20
RNG = np.random.default_rng(5)
TOPIC = RNG.integers(0, 2, 90)
LIKELY = np.where(np.arange(40) < 20, 0.3, 0.05)
COUNTS = RNG.random((90, 40)) < np.where(TOPIC[:, np.newaxis] == 1, LIKELY, LIKELY[::-1])
X = csr_array(COUNTS.astype(float))
Y = np.where(TOPIC == 1, "b", "a")


def learner():
    scaling = TextDirections(directions=4, held_back=HELD)
    return SelectiveClassifier(DualProbit(), Auto(), scaling=scaling, random_state=0)


def play(clf, size, first=0):
    """Ask about so many rows at a time and answer at once; return which were asked."""
    asked = []
    for start in range(first, len(Y), size):
        found = clf.ask(X[start : start + size])
        clf.tell(found.tickets[found.asked], Y[start : start + size][found.asked])
        asked += (np.flatnonzero(found.asked) + start).tolist()
    return asked


@pytest.mark.plain
def test_no_question_before_rows_were_studied_and_then_directions_count():
    clf = learner()
    asked = play(clf, 1)
    assert min(asked) == HELD
    state = clf._run.machine.states.now.scaling
    assert state.studied
    assert state.n_rows == HELD
    assert not state.held_values.any()
    assert (clf.predict(X) == Y).mean() > 0.8


@pytest.mark.plain
def test_single_rows_ask_what_small_batches_ask():
    rows, ones = learner(), learner()
    wanted = play(rows, 1)
    asked = []
    for t in range(len(Y)):
        if ones.ask_one(X[[t]]).asked:
            ones.learn_one(X[[t]], Y[t])
            asked.append(t)
    assert asked == wanted
    np.testing.assert_array_equal(ones.decision_function(X), rows.decision_function(X))


@pytest.mark.plain
def test_a_learner_saved_while_rows_are_held_back_goes_on(tmp_path):
    whole, half = learner(), learner()
    wanted = play(whole, 1)
    half.ask(X[:7])
    half.save(tmp_path / "half.selectron")
    again = load(tmp_path / "half.selectron")
    assert play(again, 1, first=7) == wanted
    np.testing.assert_array_equal(again.decision_function(X), whole.decision_function(X))


@pytest.mark.plain
def test_labels_that_come_early_are_learnt():
    clf = learner()
    for t in range(HELD - 5):
        clf.learn_one(X[[t]], Y[t])
    assert clf.n_updates_ == HELD - 5
    assert clf._run.machine.waits
    play(clf, 4, first=HELD - 5)
    assert not clf._run.machine.waits
    assert (clf.predict(X) == Y).mean() > 0.8


@pytest.mark.plain
def test_many_rows_at_once_are_studied_before_the_first(monkeypatch):
    monkeypatch.setattr(machine, "LEAST_STUDIED", 60)
    monkeypatch.setattr(machine, "MOST_STUDIED", 70)
    clf = learner()
    asked = clf.ask(X).asked
    state = clf._run.machine.states.now.scaling
    assert (state.studied, state.n_rows) == (True, 70)
    assert asked[:HELD].any()
    np.testing.assert_array_equal(state.rows_with, (X[:70].toarray() != 0).sum(axis=0))
