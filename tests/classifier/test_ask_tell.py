"""Questions and answers apart in time: late, out of order, twice, never."""

import numpy as np
import pytest

from selectron import SelectiveClassifier, load
from selectron.queries import Always, Margin
from selectron.scalings import Centred
from selectron.updates import Perceptron, Ridge
from tests.oracles import learners

RNG = np.random.default_rng(1)
X = RNG.standard_normal((300, 6))
Y = np.where(X @ RNG.standard_normal(6) > 0, "spam", "ham")
CLASSES = ["ham", "spam"]


def learner(**options):
    return SelectiveClassifier(Perceptron(), Margin(b=0.5), random_state=7, **options)


def asked_one_by_one(clf):
    for x, y in zip(X, Y, strict=True):
        answer = clf.ask(x[np.newaxis])
        if answer.asked[0]:
            clf.tell(answer.tickets, [y])
    return clf


def test_answering_at_once_is_the_same_as_a_pass():
    passed = learner().partial_fit(X, Y, classes=CLASSES)
    asked = asked_one_by_one(learner())
    assert asked.n_asked_ == passed.n_asked_
    assert asked.n_updates_ == passed.n_updates_
    # Classes met one by one keep their order: the sides may be swapped, the separator is the same.
    side = 1.0 if list(asked.classes_) == CLASSES else -1.0
    np.testing.assert_array_equal(side * asked.coef_, passed.coef_)


def test_the_rounds_of_a_batch_are_decided_before_any_is_learnt():
    clf = learner()
    answer = clf.ask(X)
    assert clf.n_updates_ == 0
    assert answer.asked.all()  # no hypothesis yet: every margin is 0
    assert list(answer.tickets) == list(range(len(X)))
    assert set(answer.labels) == {None}


def test_answers_may_come_in_any_order_and_in_part():
    clf = learner()
    answer = clf.ask(X)
    some = RNG.permutation(answer.tickets)[:100]
    assert clf.tell(some, Y[some]) == 100
    twin = learners.Perceptron(X.shape[1])
    for t in some:
        twin.learn(X[t], 1.0 if Y[t] == clf.classes_[1] else -1.0)
    np.testing.assert_allclose(clf.coef_[0], twin.weights, rtol=1e-12)


def test_an_answer_given_twice_is_learnt_once():
    clf = learner()
    clf.tell(clf.ask(X[:1]).tickets, Y[:1])
    before = clf.coef_
    assert clf.tell(0, Y[0]) == 0
    assert clf.tell([0, 0], [Y[0], Y[0]]) == 0
    np.testing.assert_array_equal(clf.coef_, before)


def test_the_same_ticket_twice_in_one_call_is_learnt_once():
    clf = learner()
    clf.ask(X[:1])
    assert clf.tell([0, 0], [Y[0], Y[0]]) == 1


@pytest.mark.parametrize("ticket", [5, -1, 10**9, 1.5, "0", None, True])
def test_an_unknown_ticket_is_an_error_and_nothing_is_learnt(ticket):
    clf = learner()
    clf.ask(X[:3])
    with pytest.raises(ValueError, match="unknown ticket"):
        clf.tell([0, ticket], [Y[0], Y[1]])
    assert clf.n_updates_ == 0
    assert clf.tell(0, Y[0]) == 1


def test_an_unknown_label_among_the_answers_teaches_nothing():
    clf = learner().partial_fit(X[:50], Y[:50], classes=CLASSES)
    answer = clf.ask(X[50:100])
    tickets = answer.tickets[answer.asked]
    before, waiting = clf.coef_, len(tickets)
    with pytest.raises(ValueError, match="unknown label 'eggs'"):
        clf.tell(tickets[:2], ["ham", "eggs"])
    np.testing.assert_array_equal(clf.coef_, before)
    assert clf.tell(tickets, np.full(waiting, "ham")) == waiting


def test_a_question_given_up_is_forgotten():
    clf = learner()
    clf.ask(X[:3])
    assert clf.forget([0, 1]) == 2
    assert clf.forget(0) == 0
    assert clf.tell([0, 1, 2], Y[:3]) == 1


def test_a_late_answer_meets_the_hypothesis_of_today():
    """A stale variance would spoil the inverse: late answers must give plain ridge regression."""
    clf = SelectiveClassifier(Ridge(a=1.0), Margin(b=1e6), random_state=0)
    answer = clf.ask(X[:40])
    order = RNG.permutation(answer.tickets)
    clf.tell(order, Y[order])
    sign = np.where(Y[:40] == clf.classes_[1], 1.0, -1.0)
    expected = np.linalg.solve(np.eye(6) + X[:40].T @ X[:40], X[:40].T @ sign)
    np.testing.assert_allclose(clf.coef_[0], expected, rtol=1e-9)


def test_waiting_questions_survive_a_save(tmp_path):
    clf, twin = learner(), learner()
    for one in (clf, twin):
        one.ask(X[:30])
        one.tell(3, Y[3])
    clf.save(tmp_path / "m")
    back = load(tmp_path / "m")
    for one in (back, twin):
        one.tell([7, 1], Y[[7, 1]])
        one.ask(X[30:60])
    np.testing.assert_array_equal(back.coef_, twin.coef_)
    assert back.n_asked_ == twin.n_asked_


def test_the_probability_is_the_one_of_the_question():
    clf = learner().partial_fit(X[:100], Y[:100], classes=CLASSES)
    answer = clf.ask(X[100:])
    np.testing.assert_allclose(answer.probabilities, 0.5 / (0.5 + np.abs(answer.margins)))


def test_labels_of_wrong_number_are_refused():
    clf = learner()
    clf.ask(X[:3])
    with pytest.raises(ValueError, match="2 tickets but 1 labels"):
        clf.tell([0, 1], ["ham"])


@pytest.mark.plain
def test_centring_sees_every_row_once():
    one = SelectiveClassifier(Ridge(), Margin(b=0.2), scaling=Centred(warmup=5), random_state=0)
    other = SelectiveClassifier(Ridge(), Margin(b=0.2), scaling=Centred(warmup=5), random_state=0)
    one.partial_fit(X, Y)
    for x, y in zip(X, Y, strict=True):
        if other.ask_one(x).asked:
            other.learn_one(x, y)
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    assert one.n_asked_ == other.n_asked_


@pytest.mark.parametrize(
    ("tickets_of", "labels", "words"),
    [
        (lambda ask: ask, ["yes"], "pass its tickets"),
        (lambda ask: ask.tickets[ask.asked], "yes", "tickets but one label, 'yes'"),
        (lambda ask: ask.tickets[ask.asked], 1, "tickets but one label, 1"),
        (lambda ask: ask.tickets[ask.asked][np.newaxis], ["yes"], "pass a flat list"),
    ],
)
def test_what_tell_cannot_pair(tickets_of, labels, words):
    clf = SelectiveClassifier(Perceptron(), Always())
    answer = clf.ask(np.eye(3))
    with pytest.raises(ValueError, match=words):
        clf.tell(tickets_of(answer), labels)
    assert clf.n_updates_ == 0
