"""The papers to the letter where we read them differently: rows that tie often, against twins."""

import numpy as np
import pytest

from selectron import SelectiveClassifier, load
from selectron.classifier.rows import read_rows
from selectron.evaluate import progressive
from selectron.numeric.coins import coins
from selectron.queries import Always, Halving, Margin
from selectron.updates import Perceptron, PNorm, Reflection, SecondOrder, Winnow
from tests.kernels.subject import LINEAR, machine_of
from tests.kernels.subject import play as play_kernel
from tests.kernels.subject import play_classes as play_kernel_classes
from tests.oracles import learners, many_learners, queries
from tests.oracles.run import run
from tests.rules.subject import play

pytestmark = pytest.mark.plain  # the rules are compiled elsewhere, with the same knobs
N, D = 80, 9
RNG = np.random.default_rng(7)
X = np.eye(D)[RNG.integers(0, D, N)] * RNG.choice([-1.0, 1.0], (N, 1))  # exact ties in any rule
Y = np.where(X @ np.resize([1.0, -1.0], D) > 0, 1.0, -1.0)
COINS = coins(5, 0, N)
TIES = {
    "perceptron": Perceptron(eta=0.5),
    "second order": SecondOrder(a=2.0),
    "winnow": Winnow(eta=0.5, balanced=True),
    "p-norm": PNorm(p=2.0),
}


def with_knob(rule, **knob):
    return type(rule)(**rule.knobs() | knob)


def two_of(rule):
    return getattr(learners, type(rule).__name__)(D, **rule.knobs())


@pytest.mark.parametrize("name", TIES)
def test_a_tie_predicts_the_first_class(name):
    ours, literal = TIES[name], with_knob(TIES[name], literal_ties=True)
    for rule in (ours, literal):
        twin = run(two_of(rule), queries.Margin(b=0.5), X, Y, COINS)
        played = play(rule, Margin(b=0.5), read_rows(X), Y, COINS, d=D)
        np.testing.assert_array_equal(played.asked, twin.asked)
        np.testing.assert_allclose(played.weights, twin.learner.weights, rtol=1e-9, atol=1e-12)
        assert played.machine.states.now.update.n_updates == twin.learner.n_updates
    # On the first row, a tie of label -1, only the default learns.
    first = [play(rule, Always(), read_rows(X[:1]), [-1.0], [0.0], d=D) for rule in (ours, literal)]
    assert [each.updated.tolist() for each in first] == [[True], [False]]
    again = play(literal, Always(), read_rows(X[:1]), [1.0], [0.0], d=D)
    assert again.updated.tolist() == [True]


@pytest.mark.parametrize("name", ["perceptron", "second order"])
@pytest.mark.parametrize("kernel", [{}, LINEAR], ids=["rows", "kernel"])
def test_of_many_classes_the_first_that_ties_is_predicted(name, kernel):
    rule = with_knob(TIES[name], literal_ties=True)
    classes = (X @ RNG.integers(-1, 2, (D, 3))).argmax(axis=1)
    twin = getattr(many_learners, type(rule).__name__)(D, 3, **rule.knobs())
    learnt = []
    for x, label in zip(X, classes, strict=True):
        before = twin.n_updates
        twin.learn(x, label)
        learnt.append(twin.n_updates > before)
    if kernel:
        log, _ = play_kernel_classes(machine_of(X, rule, n_classes=3, **kernel), X, classes)
        assert log.updated.tolist() == learnt
    else:
        trace = progressive(SelectiveClassifier(rule, Always()), X, classes)
        assert trace.updated.tolist() == learnt
        np.testing.assert_allclose(trace.learner.coef_, twin.weights, rtol=1e-9, atol=1e-12)
    as_ours = progressive(SelectiveClassifier(TIES[name], Always()), X, classes)
    assert 5 < sum(learnt) < as_ours.n_updates < N


@pytest.mark.parametrize("name", ["perceptron", "second order"])
def test_a_kernel_reads_ties_as_the_rule_without_one(name):
    rule = with_knob(TIES[name], literal_ties=True)
    log = play_kernel(machine_of(X, rule, Margin(b=0.5), **LINEAR), X, Y)
    plain = play(rule, Margin(b=0.5), read_rows(X), Y, COINS, d=D)
    np.testing.assert_array_equal(log.updated, plain.updated)


def test_a_run_that_goes_on_halves_with_every_right_answer():
    rows = np.array([[1.0, 0.0]] * 7)
    signs = [1.0] * 7  # the first label makes v, the others are right
    found = {}
    for new_run in (True, False):
        rule = Halving(patience=2, start=1.0, new_run=new_run)
        clf = play(Reflection(), rule, read_rows(rows), signs, np.zeros(7), d=2)
        found[new_run] = clf.asked.sum(), clf.machine.states.now.query.threshold
    # |v·x| = 1 is asked while s >= 1: both ask until the first halving.
    assert found == {True: (3, 0.5), False: (3, 0.5)}
    near = np.array([[1.0, 0.0]] + [[0.0, 1.0]] * 6)  # margins of 0 are right answers
    for new_run, halvings in ((True, 3), (False, 5)):
        rule = Halving(patience=2, start=1.0, new_run=new_run)
        clf = play(Reflection(), rule, read_rows(near), signs, np.zeros(7), d=2)
        assert clf.machine.states.now.query.threshold == 0.5**halvings


def test_a_file_keeps_the_knobs(tmp_path):
    pairs = [(with_knob(rule, literal_ties=True), Margin(b=0.5)) for rule in TIES.values()]
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    for update, query in [*pairs, (Reflection(), Halving(patience=2, start=1.0, new_run=False))]:
        clf = SelectiveClassifier(update, query, random_state=1).fit(unit[:40], Y[:40])
        clf.save(tmp_path / "x")
        back = load(tmp_path / "x")
        assert back.rules_[1:] == (update, query)
        for each in (clf, back):
            each.partial_fit(unit[40:], Y[40:])
        assert back.coef_.tobytes() == clf.coef_.tobytes()
