"""The fast rules in dual form against slow ones written from the papers.

Compiling takes longer than running: every rule is compiled with one kernel, one query and dense
rows, and an exit that changes coefficients once; `test_bits.py` has sparse rows. The rest is plain
Python.
"""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from selectron.classifier.rows import read_rows
from selectron.numeric.coins import coins
from selectron.queries import Auto, Balanced, Margin
from selectron.updates import Ballseptron, Perceptron, Ridge, SecondOrder
from tests.kernels.subject import (
    LINEAR,
    POLY,
    RBF,
    SEED,
    classes_of,
    exit_coins,
    machine_of,
    play,
    play_classes,
    rings,
    twin_kernel,
)
from tests.oracles import kernels as twins
from tests.oracles import queries
from tests.oracles.run import run
from tests.rules.subject import play as play_linear

X, Y = rings()
N = len(Y)
COINS = coins(SEED, 0, N)
NO_BUDGET = {"budget": None, "removal": "random"}

TWO_CLASSES = {
    "perceptron": (
        Perceptron(eta=0.7), POLY, lambda k, **m: twins.DualBallseptron(k, eta=0.7, **m),
        Margin(b=0.5), lambda: queries.Margin(b=0.5),
    ),
    "ballseptron": (
        Ballseptron(r=0.3), RBF, lambda k, **m: twins.DualBallseptron(k, r=0.3, **m),
        Balanced(rho=0.3), lambda: queries.Balanced(rho=0.3),
    ),
    "ballseptron-mistakes-too": (
        Ballseptron(r=0.3, mistakes_too=True), RBF,
        lambda k, **m: twins.DualBallseptron(k, r=0.3, mistakes_too=True, **m),
        Balanced(rho=0.3), lambda: queries.Balanced(rho=0.3),
    ),
    "ridge": (
        Ridge(a=0.7), RBF, lambda k, **m: twins.DualRegression(k, a=0.7, **m),
        Auto(), queries.Auto,
    ),
    "second-order": (
        SecondOrder(a=1.5), POLY,
        lambda k, **m: twins.DualRegression(k, a=1.5, on_mistakes=True, **m),
        Margin(b=0.1), lambda: queries.Margin(b=0.1),
    ),
}  # fmt: skip


class Noted:
    """A twin whose forecasts are written down whole: margin, unit, norm and variance."""

    def __init__(self, learner):
        self.learner, self.forecasts = learner, []

    def __getattr__(self, name):
        return getattr(self.learner, name)

    def forecast(self, x):
        self.forecasts.append(self.learner.forecast(x))
        return self.forecasts[-1]


def agree(machine, log, twin):
    np.testing.assert_array_equal(log.asked, twin.asked)
    np.testing.assert_allclose(log.forecasts, twin.learner.forecasts, rtol=1e-7, atol=2e-7)
    np.testing.assert_allclose(log.forecasts[:, 0], twin.margins, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(log.probabilities, twin.probabilities, rtol=1e-7, atol=1e-9)
    assert machine.states.now.update.n_updates == twin.learner.n_updates
    rows = machine.support_vectors()
    rows = rows.toarray() if hasattr(rows, "toarray") else rows
    np.testing.assert_array_equal(rows, np.array(twin.learner.rows))


@pytest.mark.parametrize("name", TWO_CLASSES)
def test_two_classes(name):
    check_two_classes(name, X)


@pytest.mark.plain
@pytest.mark.parametrize("name", TWO_CLASSES)
def test_two_classes_sparse(name):
    check_two_classes(name, csr_matrix(X))


def check_two_classes(name, rows):
    update, options, make, query, make_query = TWO_CLASSES[name]
    twin = run(Noted(make(twin_kernel(options))), make_query(), X, Y, COINS)
    machine = machine_of(rows, update, query, **options)
    log = play(machine, rows, Y)
    assert 5 < log.asked.sum() < N
    agree(machine, log, twin)
    again = machine_of(rows, update, query, **options)
    poisoned = play(again, rows, np.where(log.asked, Y, np.nan))
    assert poisoned.forecasts.tobytes() == log.forecasts.tobytes()


@pytest.mark.parametrize(
    ("name", "removal"),
    [
        ("ballseptron", "projection"),
        pytest.param("ballseptron", "random", marks=pytest.mark.plain),
        pytest.param("ballseptron", "smallest", marks=pytest.mark.plain),
        pytest.param("ridge", "random", marks=pytest.mark.plain),
        pytest.param("ridge", "smallest", marks=pytest.mark.plain),
    ],
)
def test_a_budget(name, removal):
    update, options, make, query, make_query = TWO_CLASSES[name]
    memory = {"budget": 9, "removal": removal}
    twin = run(
        Noted(make(twin_kernel(options), coins=exit_coins(N), **memory)), make_query(), X, Y, COINS
    )
    machine = machine_of(X, update, query, **options, **memory)
    agree(machine, play(machine, X, Y), twin)
    assert machine.store.support.n_support == len(twin.learner.rows) == 9


def test_a_projection_that_loses_little_needs_no_full_budget():
    update, options, make, query, make_query = TWO_CLASSES["ballseptron"]
    options = options | {"gamma": 0.05}
    memory = {"budget": 60, "removal": "projection"}
    twin = run(Noted(make(twin_kernel(options), **memory)), make_query(), X, Y, COINS)
    machine = machine_of(X, update, query, **options, **memory)
    agree(machine, play(machine, X, Y), twin)
    assert len(twin.learner.rows) < min(60, twin.learner.n_updates)


@pytest.mark.plain
@pytest.mark.parametrize("memory", [NO_BUDGET, {"budget": 12, "removal": "random"}], ids=str)
@pytest.mark.parametrize("rule", [Ballseptron(r=0.2), Ballseptron(r=0.2, mistakes_too=True)])
def test_many_classes(memory, rule):
    labels = classes_of(X, 4)
    knobs = rule.knobs() | memory
    twin = twins.DualPrototypes(twin_kernel(POLY), 4, coins=exit_coins(N), **knobs)
    query, asked, predicted, margins = queries.Balanced(rho=0.3), [], [], []
    for x, label, coin in zip(X, labels, COINS, strict=True):
        forecast = twin.forecast(x)
        predicted.append(twin.predict(x))
        margins.append(forecast.margin)
        asked.append(coin < query.probability(x, forecast))
        query.advance(forecast, asked[-1])
        if asked[-1]:
            query.observe(x, forecast, 1.0 if predicted[-1] == label else -1.0)
            twin.learn(x, label)
    machine = machine_of(X, rule, Balanced(rho=0.3), n_classes=4, **POLY, **memory)
    log, ours = play_classes(machine, X, np.where(asked, labels, -1))  # the others are not read
    np.testing.assert_array_equal(ours, predicted)
    np.testing.assert_array_equal(log.asked, asked)
    np.testing.assert_allclose(log.forecasts[:, 0], margins, rtol=1e-7, atol=1e-9)
    assert machine.states.now.update.n_margin_errors == twin.n_margin_errors > 0
    np.testing.assert_allclose(
        machine.dual_coefficients().T, np.array(twin.alphas), rtol=1e-7, atol=1e-9
    )
    np.testing.assert_array_equal(
        machine.scores(read_rows(X)).argmax(axis=1), [twin.predict(x) for x in X]
    )


@pytest.mark.plain
@pytest.mark.parametrize("name", TWO_CLASSES)
def test_the_linear_kernel_gives_the_linear_rule(name):
    update, _, _, query, _ = TWO_CLASSES[name]
    machine = machine_of(X, update, query, **LINEAR)
    log = play(machine, X, Y)
    primal = play_linear(update, query, read_rows(X), Y, COINS, d=X.shape[1])
    np.testing.assert_array_equal(log.asked, primal.asked)
    np.testing.assert_array_equal(log.updated, primal.updated)
    np.testing.assert_allclose(log.forecasts[:, 0], primal.margins, rtol=1e-7, atol=1e-9)


@pytest.mark.plain
def test_equal_scores_go_to_the_first_class():
    machine = machine_of(X, Perceptron(), n_classes=3, **POLY)
    _, predicted = play_classes(machine, X[:1], [0])
    assert predicted.tolist() == [0]
    assert machine.states.now.update.n_updates == 1  # right, but not ahead of anybody
