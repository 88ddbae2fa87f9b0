"""Second-order rules of many classes with a kernel: against twins, and through every door.

Compiling takes longer than running: one learner is compiled, the others are plain Python.
"""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from selectron import SelectiveClassifier, load
from selectron.classifier.labels import Labels
from selectron.classifier.machine import LinearMachine
from selectron.classifier.rows import read_rows
from selectron.classifier.run import Run
from selectron.loop import NOT_GIVEN
from selectron.numeric.coins import coins
from selectron.queries import Always, Balanced, Capped, Margin
from selectron.scalings import Raw
from selectron.spec import Rules
from selectron.updates import Ridge, SecondOrder
from tests.kernels.subject import (
    LINEAR,
    POLY,
    RBF,
    SEED,
    classes_of,
    exit_coins,
    machine_of,
    play_classes,
    rings,
    twin_kernel,
)
from tests.kernels.test_learner import same
from tests.kernels.test_twins import Noted
from tests.oracles import kernels as twins
from tests.oracles import queries
from tests.oracles.many_run import run

K = 4
X, _ = rings(n=80)
X[7] = -X[3]  # of two equal coefficients the smaller would be a matter of rounding
LABELS = classes_of(X, K)
N = len(X)
COINS = coins(SEED, 0, N)
NO_BUDGET = {"budget": None, "removal": "random"}
RULES = {
    "ridge": (
        Ridge(a=0.7), RBF, {"a": 0.7},
        Balanced(rho=0.3), lambda: queries.Balanced(rho=0.3),
    ),
    "second-order": (
        SecondOrder(a=1.5), POLY, {"a": 1.5, "on_mistakes": True},
        Margin(b=0.3), lambda: queries.Margin(b=0.3),
    ),
}  # fmt: skip


def machine_for(name, rows=X, **more):
    update, options, _, query, _ = RULES[name]
    return machine_of(rows, update, query, n_classes=K, **options, **more)


def check_against_twin(name, rows, memory):
    _, options, knobs, _, make_query = RULES[name]
    learner = twins.DualClassRegression(
        twin_kernel(options), K, **knobs, coins=exit_coins(N), **memory
    )
    twin = run(Noted(learner), make_query(), X, LABELS, COINS)
    assert 5 < twin.asked.sum() < N
    machine = machine_for(name, rows, **memory)
    log, predicted = play_classes(machine, rows, np.where(twin.asked, LABELS, NOT_GIVEN))
    np.testing.assert_array_equal(log.asked, twin.asked)
    np.testing.assert_array_equal(predicted, twin.predicted)
    np.testing.assert_allclose(log.forecasts, twin.learner.forecasts, rtol=1e-7, atol=2e-7)
    assert machine.states.now.update.n_updates == learner.n_updates
    np.testing.assert_allclose(
        machine.dual_coefficients(), learner.weights().T, rtol=1e-6, atol=1e-9
    )
    rows = machine.support_vectors()
    rows = rows.toarray() if hasattr(rows, "toarray") else rows
    np.testing.assert_array_equal(rows, np.array(learner.rows))
    return machine


@pytest.mark.parametrize("name", ["ridge", pytest.param("second-order", marks=pytest.mark.plain)])
def test_dense_rows(name):
    check_against_twin(name, X, NO_BUDGET)


@pytest.mark.plain
@pytest.mark.parametrize("name", RULES)
def test_sparse_rows(name):
    check_against_twin(name, csr_matrix(X), NO_BUDGET)


@pytest.mark.plain
@pytest.mark.parametrize("removal", ["random", "smallest"])
@pytest.mark.parametrize("name", RULES)
def test_a_budget(name, removal):
    machine = check_against_twin(name, X, {"budget": 9, "removal": removal})
    assert machine.store.support.n_support == 9


def bits(machine, log):
    content = [log.forecasts, log.probabilities, log.asked, machine.dual_coefficients()]
    return [np.ascontiguousarray(part).tobytes() for part in content]


@pytest.mark.plain
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("name", RULES)
def test_neither_the_block_nor_a_budget_that_is_not_reached_shows(name, sparse):
    rows = csr_matrix(X) if sparse else X
    played = []
    for more in ({}, {"largest_block": 1}, {"largest_block": 7}, {"budget": 500},
                 {"budget": 500, "removal": "smallest", "largest_block": 1}):  # fmt: skip
        machine = machine_for(name, rows, **more)
        played.append(bits(machine, play_classes(machine, rows, LABELS)[0]))
    assert all(one == played[0] for one in played)


@pytest.mark.plain
@pytest.mark.parametrize("query", [Margin(b=0.2), Capped(covers=False)], ids=["margin", "capped"])
@pytest.mark.parametrize("update", [Ridge(a=0.7), SecondOrder(a=1.5)], ids=["ridge", "second"])
def test_the_linear_kernel_gives_the_rule_without_one(update, query):
    machine = machine_of(X, update, query, n_classes=K, **LINEAR)
    log, predicted = play_classes(machine, X, LABELS)
    primal = LinearMachine(Rules(Raw(), update, query), X.shape[1], X.dtype, SEED, K)
    primal_run = Run(primal, Labels())
    theirs = primal_run.log(N)
    primal_run.play(read_rows(X), LABELS.astype(np.int32), theirs)
    np.testing.assert_array_equal(log.asked, theirs.asked)
    np.testing.assert_array_equal(log.updated, theirs.updated)
    np.testing.assert_array_equal(predicted, theirs.predicted)
    np.testing.assert_allclose(log.forecasts, theirs.forecasts, rtol=1e-7, atol=2e-7)
    prototypes = machine.dual_coefficients() @ machine.support_vectors()
    weights = primal.states.now.update.store.weights
    np.testing.assert_allclose(prototypes, weights, rtol=1e-7, atol=1e-9)


# --- the estimator


Y = np.array(["a", "b", "c", "d"])[LABELS.astype(int)]
CLASSES = sorted(set(Y))


def make(name, **more):
    update, options, _, query, _ = RULES[name]
    chosen = {"update": update, "query": query, "random_state": 4}
    return SelectiveClassifier(**chosen | options | more)


@pytest.mark.plain
@pytest.mark.parametrize("budget", [None, 11])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("name", RULES)
def test_every_door_leads_to_the_same_learner(name, sparse, budget, tmp_path):
    rows = csr_matrix(X) if sparse else X
    whole = make(name, budget=budget).partial_fit(rows, Y, classes=CLASSES)
    assert 10 < whole.n_asked_ < N
    assert whole.dual_coef_.shape[0] == K
    oracle = make(name, budget=budget).fit(rows, lambda i: Y[i], classes=CLASSES)
    assert same(oracle, whole)
    saved = make(name, budget=budget).partial_fit(rows[:37], Y[:37], classes=CLASSES)
    saved.save(tmp_path / "m")
    for part in (load(tmp_path / "m"), pickle.loads(pickle.dumps(saved))):
        assert same(part.partial_fit(rows[37:], Y[37:]), whole)
    single = make(name, budget=budget).partial_fit(rows[:1], Y[:1], classes=CLASSES)
    for t in range(1, N):
        if single.ask_one(rows[t]).asked:
            single.learn_one(rows[t], Y[t])
    assert same(single, whole)
    scores = whole.decision_function(rows)
    assert (whole.classes_[scores.argmax(axis=1)] == whole.predict(rows)).all()


@pytest.mark.plain
@pytest.mark.parametrize("name", RULES)
def test_classes_that_come_later_join(name, tmp_path):
    """A ridge regression on 0/1 targets does not mind when its classes were named."""
    order = np.argsort(Y, kind="stable")
    clf = make(name, query=Always())
    for start in range(0, N, 23):
        clf.partial_fit(X[order[start : start + 23]], Y[order[start : start + 23]])
        clf.save(tmp_path / "m")
        clf = load(tmp_path / "m")
    assert clf.classes_.tolist() == CLASSES
    assert clf.n_asked_ == N
    single = make(name, query=Always())
    for t in order:
        single.learn_one(X[t], Y[t])
    assert same(single, clf)
    if name == "ridge":
        known = make(name, query=Always()).partial_fit(X[order], Y[order], classes=CLASSES)
        np.testing.assert_allclose(clf.dual_coef_, known.dual_coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.plain
@pytest.mark.parametrize("name", RULES)
def test_a_refused_batch_changes_nothing(name):
    clf = make(name).partial_fit(X[:40], Y[:40], classes=CLASSES)
    predicted = clf.decision_function(X)
    batch = X[40:].copy()
    batch[-1, 0] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity in row 39"):
        clf.partial_fit(batch, Y[40:])
    assert clf.decision_function(X).tobytes() == predicted.tobytes()
    assert same(clf.partial_fit(X[40:], Y[40:]), make(name).partial_fit(X, Y, classes=CLASSES))
