"""No burst of questions while answers are on their way."""

import numpy as np
import pytest

from selectron import SelectiveClassifier, load

RNG = np.random.default_rng(4)
X = RNG.standard_normal((4000, 5))
Y = np.where(X @ RNG.standard_normal(5) > 0, "b", "a")


def play(delay, n=1500):
    clf = SelectiveClassifier(random_state=0)
    due, asked, most_waiting = [], np.zeros(n, bool), 0
    for t in range(n):
        answer = clf.ask_one(X[t])
        asked[t] = answer.asked
        if answer.asked:
            due.append((t, answer.tickets))
        most_waiting = max(most_waiting, len(due))
        while due and due[0][0] + delay <= t:
            at, ticket = due.pop(0)
            clf.tell(ticket, Y[at])
    return clf, asked, most_waiting


@pytest.mark.parametrize("delay", [0, 10, 100, 1000])
def test_a_delay_costs_few_questions(delay):
    at_once = play(0)[1].sum()
    clf, asked, most_waiting = play(delay)
    assert asked[:1000].sum() <= at_once + 30
    assert most_waiting <= max(30, at_once)
    if delay <= 100:
        assert clf.score(X[2000:], Y[2000:]) > 0.95


def test_one_batch_of_thousands_asks_for_a_handful():
    clf = SelectiveClassifier(random_state=0)
    answer = clf.ask(X[:3000])
    assert 20 <= answer.asked.sum() <= 90  # twenty, and then the floor


def test_answers_that_never_come_are_not_waited_for(tmp_path):
    clf = SelectiveClassifier(random_state=0)
    first = clf.ask(X[:100])
    assert first.asked.sum() >= 20
    early = clf.ask(X[100:1000]).asked.sum()
    assert early < 40
    clf.ask(X[1000:1100])
    clf.save(tmp_path / "m.selectron")
    later = clf.ask(X[1100:1300])
    assert clf._run.machine.states.now.query.n_overdue == first.asked.sum()
    assert load(tmp_path / "m.selectron").ask(X[1100:1300]).asked.sum() == later.asked.sum()
    assert clf.tell(first.tickets[first.asked], Y[:100][first.asked]) == first.asked.sum()
    assert clf._run.tickets.n_overdue == 0
