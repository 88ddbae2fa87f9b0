"""Runs that are broken off: by Ctrl-C, by a row that is refused, by an oracle that fails."""

import signal

import numpy as np
import pytest

from selectron import SelectiveClassifier, load
from selectron.classifier.machine import LinearMachine
from selectron.classifier.run import Run
from selectron.classifier.tickets import Tickets
from selectron.loop import compiled, run_pass
from selectron.queries import Always, Balanced, Margin
from selectron.scalings import Centred
from selectron.updates import Ballseptron, Perceptron, PNorm, Ridge

pytestmark = pytest.mark.plain


class Interrupted(BaseException):
    """As Ctrl-C."""


def memory_of(clf):
    machine = clf._run.machine
    arrays = [a.tobytes() for a in machine.arrays()]
    return (
        arrays,
        machine.states.numbers.tobytes(),
        clf.n_seen_,
        clf.n_asked_,
        clf._run.tickets.n_asked,
    )


@pytest.mark.parametrize(
    ("door", "owner", "step"),
    [
        ("partial_fit", Run, "_coins"),
        ("ask", Run, "_coins"),
        ("ask", Tickets, "keep"),
    ],
)
def test_a_batch_that_is_broken_off_leaves_nothing(door, owner, step, monkeypatch):
    X = np.random.default_rng(0).standard_normal((400, 3))
    y = X[:, 0] > 0
    clf = SelectiveClassifier(Perceptron(), Margin(b=0.5), random_state=0).fit(X[:50], y[:50])
    clf.ask(X[:20])
    before, waiting = memory_of(clf), dict(clf._run.tickets.waiting)
    usual, calls = getattr(owner, step), []

    def break_off_at_the_third(*args):
        calls.append(1)
        if len(calls) == 3:
            raise Interrupted
        return usual(*args)

    monkeypatch.setattr("selectron.classifier.machine.CHUNK", 100)
    monkeypatch.setattr(owner, step, break_off_at_the_third)
    with pytest.raises(Interrupted):
        clf.partial_fit(X, y) if door == "partial_fit" else clf.ask(X)
    assert memory_of(clf) == before
    assert clf._run.tickets.waiting == waiting


@pytest.mark.parametrize("door", ["partial_fit", "ask"])
def test_a_small_batch_is_finished_before_ctrl_c_is_heard(door, monkeypatch):
    X = np.random.default_rng(0).standard_normal((80, 40))
    y = X[:, 0] > 0
    clf, twin = (
        SelectiveClassifier(Ridge(), Margin(b=0.5), random_state=0).fit(X[:50], y[:50])
        for _ in range(2)
    )
    loop = compiled(run_pass, clf._run.machine.states.kinds)

    def interrupted(*args):
        outcome = loop(*args)
        signal.raise_signal(signal.SIGINT)  # heard before the outcome has a name
        return outcome

    monkeypatch.setattr("selectron.classifier.machine.compiled", lambda *_: interrupted)
    usual = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        clf.partial_fit(X[50:], y[50:]) if door == "partial_fit" else clf.ask(X[50:])
    assert signal.getsignal(signal.SIGINT) is usual
    monkeypatch.undo()
    twin.partial_fit(X[50:], y[50:]) if door == "partial_fit" else twin.ask(X[50:])
    assert memory_of(clf) == memory_of(twin)


def interrupting(clf, monkeypatch):
    """Let Ctrl-C come with every call of the kernel, 100 rows each; return what counts them."""
    loop, calls = compiled(run_pass, clf._run.machine.states.kinds), []

    def interrupted(*args):
        calls.append(1)
        outcome = loop(*args)
        signal.raise_signal(signal.SIGINT)
        return outcome

    monkeypatch.setattr("selectron.classifier.machine.CHUNK", 100)
    monkeypatch.setattr("selectron.classifier.machine.compiled", lambda *_: interrupted)
    return calls


def test_ctrl_c_in_a_long_pass_is_heard_between_two_chunks(monkeypatch):
    X = np.random.default_rng(0).standard_normal((400, 3))
    clf = SelectiveClassifier(Perceptron(), Margin(b=0.5), random_state=0)
    clf.fit(X[:50], X[:50, 0] > 0)
    before, calls = memory_of(clf), interrupting(clf, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        clf.partial_fit(X, X[:, 0] > 0)
    assert len(calls) == 1
    assert memory_of(clf) == before


def test_a_handler_of_the_users_own_need_not_stop_the_pass(monkeypatch):
    X = np.random.default_rng(0).standard_normal((400, 3))
    clf, twin = (
        SelectiveClassifier(Perceptron(), Margin(b=0.5), random_state=0).fit(X[:50], X[:50, 0] > 0)
        for _ in range(2)
    )
    twin.partial_fit(X, X[:, 0] > 0)
    heard, calls = [], interrupting(clf, monkeypatch)
    usual = signal.signal(signal.SIGINT, lambda *how: heard.append(how))
    try:
        clf.partial_fit(X, X[:, 0] > 0)
    finally:
        signal.signal(signal.SIGINT, usual)
    assert len(calls) == len(heard) == 4
    assert memory_of(clf) == memory_of(twin)


@pytest.mark.parametrize("call", range(1, 7))
def test_answers_paid_for_are_counted_whenever_ctrl_c_comes(call, monkeypatch):
    X = np.random.default_rng(0).standard_normal((120, 4))
    y = X[:, 0] > 0
    clf, twin = (SelectiveClassifier(Ridge(), Balanced(), random_state=0) for _ in range(2))
    for learner in (clf, twin):
        learner.partial_fit(X[:50], y[:50], classes=[False, True])
    loop, calls = compiled(run_pass, clf._run.machine.states.kinds), []

    def interrupted(*args):
        outcome = loop(*args)
        calls.append(1)
        if len(calls) == call:
            signal.raise_signal(signal.SIGINT)
        return outcome

    monkeypatch.setattr("selectron.classifier.machine.compiled", lambda *_: interrupted)
    with pytest.raises(KeyboardInterrupt):
        clf.partial_fit(X[50:], lambda t: y[50 + t])
    monkeypatch.undo()
    clf.partial_fit(X[clf.n_seen_ :], y[clf.n_seen_ :])
    twin.partial_fit(X[50:], y[50:])
    assert memory_of(clf) == memory_of(twin)


def test_an_answer_is_no_longer_waited_for_when_ctrl_c_comes(monkeypatch):
    X = np.random.default_rng(0).standard_normal((52, 4))
    y = X[:, 0] > 0
    clf, twin = (SelectiveClassifier(Ridge(), Always(), random_state=0) for _ in range(2))
    for learner in (clf, twin):
        learner.partial_fit(X[:50], y[:50])
    tickets = clf.ask(X[50:]).tickets
    twin.tell(twin.ask(X[50:]).tickets, y[50:])
    lesson = LinearMachine.lesson

    def interrupted(*args, **options):
        status = lesson(*args, **options)
        signal.raise_signal(signal.SIGINT)
        return status

    monkeypatch.setattr(LinearMachine, "lesson", interrupted)
    with pytest.raises(KeyboardInterrupt):
        clf.tell(tickets, y[50:])
    monkeypatch.undo()
    assert not clf._run.tickets.waiting
    assert memory_of(clf) == memory_of(twin)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_rows_refused_ahead_of_an_oracle_leave_the_learner_of_before(bad):
    X = np.random.default_rng(0).standard_normal((60, 3))
    y = X[:, 0] > 0
    broken = X.copy()
    broken[7, 1] = bad
    clf = SelectiveClassifier(Perceptron(), Margin(b=0.5), random_state=0).fit(X, y)
    before = memory_of(clf)
    with pytest.raises(ValueError, match="row 7"):
        clf.fit(broken, lambda t: y[t])
    assert memory_of(clf) == before
    fresh = SelectiveClassifier(Perceptron(), Margin(b=0.5), random_state=0)
    with pytest.raises(ValueError, match="row 7"):
        fresh.partial_fit(broken, lambda t: y[t])
    fresh.partial_fit(X[:, :2], y)  # no width was fixed


@pytest.mark.parametrize("door", ["learn_one", "ask_one", "tell"])
@pytest.mark.parametrize("options", [{}, {"update": Perceptron(), "scaling": Centred(warmup=0)}])
def test_single_rows_go_on_after_an_oracle_has_failed(door, options):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((160, 4)) + 2.0
    y = X[:, 0] > X[:, 1]
    whole = SelectiveClassifier(query=Always(), random_state=0, **options)
    whole.partial_fit(X, y, classes=[False, True])

    def oracle(t):
        if t[0] == 40:
            raise Interrupted
        return y[60 + t]

    clf = SelectiveClassifier(query=Always(), random_state=0, **options)
    clf.partial_fit(X[:60], y[:60], classes=[False, True])
    clf.predict_one(X[0])  # binds the path of single rows
    with pytest.raises(Interrupted):
        clf.partial_fit(X[60:], oracle)
    assert clf.n_seen_ == 100
    for x, label in zip(X[100:], y[100:], strict=True):
        if door == "learn_one":
            clf.learn_one(x, label)
            continue
        answer = clf.ask_one(x)
        assert answer.asked
        clf.learn_one(x, label) if door == "ask_one" else clf.tell(answer.tickets, label)
    assert clf.n_seen_ == whole.n_seen_
    np.testing.assert_array_equal(clf.decision_function(X), whole.decision_function(X))


@pytest.mark.parametrize(
    "later", [{"explore": 0.1}, {"stop_when": "error<=0.1"}, {"query": Always()}]
)
def test_a_file_has_the_parameters_that_the_run_began_with(later, tmp_path):
    X = np.random.default_rng(0).standard_normal((200, 3))
    y = X[:, 0] > 0
    clf = SelectiveClassifier(Perceptron(), Margin(b=0.5), random_state=0).partial_fit(X, y)
    clf.set_params(**later).save(tmp_path / "learner")
    loaded = load(tmp_path / "learner").partial_fit(X, y)
    clf.partial_fit(X, y)
    assert loaded.n_asked_ == clf.n_asked_
    np.testing.assert_array_equal(loaded.coef_, clf.coef_)


@pytest.mark.parametrize("update", [Perceptron(), Ballseptron(r=0.1), PNorm(p=3.0)])
def test_answers_of_which_one_is_refused_are_not_learnt(update):
    X = np.random.default_rng(0).standard_normal((60, 3))
    y = X[:, 0] > 0
    clf = SelectiveClassifier(update, Always(), random_state=0).fit(X[:50], y[:50])
    answer = clf.ask(X[50:53] * 1e155)
    before, waiting = memory_of(clf), dict(clf._run.tickets.waiting)
    with pytest.raises(ValueError, match="not finite"):
        clf.tell(answer.tickets, ~answer.labels)
    assert memory_of(clf) == before
    assert clf._run.tickets.waiting == waiting
    assert clf._run.tickets.answers == 0
