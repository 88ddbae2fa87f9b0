"""`ask(X, lookahead=W)`: the questions of each window go to its worthiest rows."""

import numpy as np
import pytest

from selectron import SelectiveClassifier
from selectron.queries import Margin, Uniform
from selectron.updates import Perceptron

RNG = np.random.default_rng(3)
X = RNG.normal(size=(300, 6))
Y = X @ np.array([2.0, -1.0, 1.0, 0.0, 0.0, 0.5]) > 0.0
COPIES = np.repeat(X[:10], 10, axis=0)

pytestmark = pytest.mark.plain


def taught(query=None, **more):
    """Return a learner that has had 60 labels."""
    query = query or Uniform(rate=0.2)
    clf = SelectiveClassifier(Perceptron(), query, random_state=0, **more)
    return clf.fit(X[:60], Y[:60], classes=[False, True])


def test_a_window_has_as_many_questions_as_the_rule_asks_there():
    plain = taught().ask(X[60:160])
    ahead = taught().ask(X[60:160], lookahead=25)
    for start in range(0, 100, 25):
        window = slice(start, start + 25)
        assert ahead.asked[window].sum() == plain.asked[window].sum() > 0
    np.testing.assert_array_equal(ahead.labels, plain.labels)


def test_the_questions_go_to_the_least_certain_rows():
    answer = taught().ask(X[60:160], lookahead=100)
    asked, margins = answer.asked, np.abs(answer.margins)
    assert margins.argmin() in np.flatnonzero(asked)
    assert margins[asked].mean() < 0.8 * margins[~asked].mean()


def test_rows_that_are_asked_about_differ():
    answer = taught(Uniform(rate=0.04)).ask(COPIES, lookahead=len(COPIES))
    asked = np.flatnonzero(answer.asked) // 10
    assert len(set(asked.tolist())) == len(asked) > 1


def test_odds_and_tickets_say_what_is_asked():
    answer = taught().ask(X[60:160], lookahead=20)
    np.testing.assert_array_equal(answer.probabilities, answer.asked)
    np.testing.assert_array_equal(answer.tickets >= 0, answer.asked)


def test_batches_of_whole_windows_ask_as_one_batch_does():
    together, apart = taught(), taught()
    whole = together.ask(X[60:160], lookahead=20)
    parts = [apart.ask(X[start : start + 20], lookahead=20) for start in range(60, 160, 20)]
    np.testing.assert_array_equal(whole.asked, np.concatenate([part.asked for part in parts]))


def test_answers_are_learnt_as_ever():
    clf = taught()
    n_asked = clf.n_asked_
    answer = clf.ask(X[60:160], lookahead=50)
    clf.tell(answer.tickets[answer.asked], Y[60:160][answer.asked])
    assert not len(clf.waiting)
    assert clf.n_asked_ == n_asked + answer.asked.sum()
    assert clf.score(X[160:], Y[160:]) > 0.8


def test_a_buffer_of_the_default_needs_no_more_labels():
    def asked_for(width):
        clf = SelectiveClassifier(random_state=0)
        for start in range(0, 300, 50):
            rows = slice(start, start + 50)
            answer = clf.ask(X[rows], lookahead=width)
            clf.tell(answer.tickets[answer.asked], Y[rows][answer.asked])
        return clf.n_asked_, clf.score(X, Y)

    (plain, _), (ahead, right) = asked_for(1), asked_for(50)
    assert ahead <= 1.2 * plain
    assert right > 0.9


@pytest.mark.parametrize("width", [0, -1, 2.5, "3", True])
def test_a_window_is_a_whole_number(width):
    with pytest.raises(ValueError, match="lookahead must be a whole number of rows >= 1"):
        taught().ask(X, lookahead=width)


@pytest.mark.parametrize("more", [{"stop_when": "error<=0.01"}, {"kernel": "rbf"}])
def test_what_needs_draws_or_a_kernel_is_refused(more):
    clf = taught(Margin(b=0.5), **more)
    n = clf.n_seen_
    with pytest.raises(ValueError, match="lookahead= is for learners without stop_when"):
        clf.ask(X[60:], lookahead=5)
    assert clf.n_seen_ == n


def test_an_estimate_has_no_round_of_a_look_ahead():
    clf = taught(Margin(b=0.5), explore=0.2)
    before = clf.estimate()
    answer = clf.ask(X[60:160], lookahead=np.int64(20))
    clf.tell(answer.tickets[answer.asked], Y[60:160][answer.asked])
    assert clf.n_seen_ == 160
    assert clf.estimate().error == before.error
    clf.partial_fit(X[160:], Y[160:])
    assert clf.estimate().rounds == before.rounds + len(X) - 160


def test_the_default_of_four_classes_looks_ahead():
    four = X[:, :4].argmax(axis=1)
    clf = SelectiveClassifier(random_state=0).fit(X[:200], four[:200])
    assert clf.ask(X[200:], lookahead=20).asked.any()


def test_several_labels_a_row_are_refused():
    clf = SelectiveClassifier(Perceptron(), Margin(b=0.5)).fit(X, np.column_stack([Y, ~Y]))
    with pytest.raises(ValueError, match="one label a row"):
        clf.ask(X, lookahead=5)
