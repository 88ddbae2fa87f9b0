"""A judged run is the run itself: the same questions, the same learner, every mistake counted."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from selectron import SelectiveClassifier
from selectron.classifier import progress
from selectron.evaluate import progressive
from selectron.queries import Always, Balanced, Margin
from selectron.updates import Perceptron, Ridge, SecondOrder
from tests.rules.streams import stream

X, SIGNS = stream(n=200)
Y = np.where(SIGNS > 0, "yes", "no")
LEARNERS = {
    "default": SelectiveClassifier(),
    "perceptron": SelectiveClassifier(Perceptron(), Margin(b=0.3)),
    "with an intercept": SelectiveClassifier(Perceptron(), Margin(b=0.3), fit_intercept=True),
    "second order": SelectiveClassifier(SecondOrder(), Margin(b=0.3)),
    "ridge": SelectiveClassifier(Ridge(), Balanced()),
}
RAW = [name for name in LEARNERS if name != "default"]


def with_seed(name, seed):
    return SelectiveClassifier(**LEARNERS[name].get_params(deep=False) | {"random_state": seed})


NARROW, SPARSE = X.astype(np.float32), csr_array(X)


@pytest.mark.parametrize(
    ("name", "rows"),
    [*((name, X) for name in LEARNERS), ("second order", SPARSE), ("default", NARROW)],
)
def test_it_equals_fit_with_the_same_seed(name, rows):
    trace = progressive(LEARNERS[name], rows, Y, seed=7)
    fitted = with_seed(name, 7).fit(rows, Y)
    assert fitted.n_seen_ == len(trace) == 200
    assert fitted.n_asked_ == trace.n_asked < 200
    assert fitted.n_updates_ == trace.n_updates > 0
    ours, theirs = (c.decision_function(rows) for c in (trace.learner, fitted))
    assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("name", LEARNERS)
def test_testing_along_the_way_changes_nothing(name):
    plain = progressive(LEARNERS[name], X, Y, seed=3)
    tested = progressive(LEARNERS[name], X, Y, seed=3, test=(X[:50], Y[:50]))
    for field in ("margins", "probabilities", "asked", "updated", "mistakes"):
        assert getattr(plain, field).tobytes() == getattr(tested, field).tobytes()


def test_the_learner_it_is_given_stays_as_it_is():
    learner = SelectiveClassifier(Perceptron(), Margin(b=0.3), random_state=5)
    trace = progressive(learner, X, Y, seed=1)
    assert learner.random_state == 5
    assert not hasattr(learner, "classes_")
    assert trace.learner is not learner


def test_the_seed_tosses_the_coins():
    runs = [progressive(LEARNERS["perceptron"], X, Y, seed=seed).asked for seed in (1, 1, 2)]
    assert runs[0].tobytes() == runs[1].tobytes() != runs[2].tobytes()


@pytest.mark.parametrize("name", RAW)
def test_mistakes_are_counted_on_every_round(name):
    """The twin predicts each row on its own before it learns from it."""
    trace = progressive(LEARNERS[name], X, Y, seed=7)
    twin = with_seed(name, 7)
    wrong = []
    for t in range(len(X)):
        guess = twin.predict(X[t : t + 1])[0] if t else "no"
        wrong.append(guess != Y[t])
        twin.partial_fit(X[t : t + 1], Y[t : t + 1], classes=["no", "yes"] if t == 0 else None)
    assert trace.mistakes.tolist() == wrong
    assert trace.mistakes[~trace.asked].any()


@pytest.mark.parametrize("name", LEARNERS)
def test_labels_that_are_not_asked_reach_the_judge_alone(name):
    trace = progressive(LEARNERS[name], X, Y, seed=7)
    other = np.where(trace.asked, Y, np.where(Y == "yes", "no", "yes"))
    again = progressive(LEARNERS[name], X, other, seed=7)
    assert again.margins.tobytes() == trace.margins.tobytes()
    assert again.asked.tobytes() == trace.asked.tobytes()
    np.testing.assert_array_equal(again.mistakes, trace.mistakes ^ ~trace.asked)


@pytest.mark.parametrize("name", RAW)
def test_the_test_error_is_taken_after_every_update(name):
    X_test, y_test = X[150:], Y[150:]
    trace = progressive(LEARNERS[name], X[:150], Y[:150], seed=7, test=(X_test, y_test))
    np.testing.assert_array_equal(trace.test_rounds, np.flatnonzero(trace.updated) + 1)
    chosen = range(0, len(trace.test_rounds), 5)
    for k in chosen:
        n = trace.test_rounds[k]
        prefix = with_seed(name, 7).fit(X[:n], Y[:n], classes=["no", "yes"])
        assert trace.test_errors[k] == np.mean(prefix.predict(X_test) != y_test)
        assert trace.test_labels[k] == prefix.n_asked_


def test_odds_are_those_that_were_used():
    trace = progressive(SelectiveClassifier(Perceptron(), Margin(b=0.3)), X, Y, seed=7)
    np.testing.assert_allclose(trace.probabilities, 0.3 / (0.3 + np.abs(trace.margins)))
    certain = progressive(SelectiveClassifier(Perceptron(), Always()), X, Y)
    assert certain.asked.all()
    assert (certain.probabilities == 1.0).all()


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        (X, Y[:-1], "200 rows and y has 199 labels"),
        (X, np.arange(200) + 0.5, "Labels must be classes"),
        (np.full((200, 7), np.nan), Y, "NaN or infinity"),
    ],
)
def test_bad_input_is_refused(rows, labels, message):
    with pytest.raises(ValueError, match=message):
        progressive(LEARNERS["perceptron"], rows, labels)


@pytest.mark.parametrize("size", [1, 7, 64, 200, 1000])
@pytest.mark.parametrize(("name", "rows"), [("default", X), ("perceptron", SPARSE)])
def test_the_parts_it_is_run_in_do_not_show(name, rows, size, monkeypatch):
    whole = progressive(LEARNERS[name], rows, Y, seed=7)
    monkeypatch.setattr(progress, "FIRST_PART", size)
    monkeypatch.setattr(progress, "BRISK", np.inf)
    moved = []
    parted = progressive(LEARNERS[name], rows, Y, seed=7, tick=moved.append)
    assert sum(moved) == 200
    assert len(moved) == {1: 8, 7: 5, 64: 3, 200: 1, 1000: 1}[size]
    for field in ("margins", "probabilities", "asked", "updated", "mistakes"):
        assert getattr(whole, field).tobytes() == getattr(parted, field).tobytes()
    assert (
        parted.learner._run.machine.states.numbers.tobytes()
        == whole.learner._run.machine.states.numbers.tobytes()
    )


def test_ticks_while_it_is_tested_add_up_too():
    moved = []
    progressive(LEARNERS["perceptron"], X, Y, test=(X[:50], Y[:50]), tick=moved.append)
    assert sum(moved) == 200
    assert len(moved) > 5


def test_a_bad_row_is_named_whichever_part_it_is_in(monkeypatch):
    monkeypatch.setattr(progress, "FIRST_PART", 16)
    spoilt = X.copy()
    spoilt[123, 2] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity in row 123:"):
        progressive(LEARNERS["perceptron"], spoilt, Y)
