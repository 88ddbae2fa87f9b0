"""Table 1 of [DKM09]: the version space is what the labels leave, and verdicts follow from fits."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import ks_2samp

from selectron.queries import Always
from selectron.reproduce import EXPERIMENTS
from selectron.reproduce.dkm09 import World, table_1
from selectron.reproduce.dkm09.counting import Counter
from selectron.reproduce.dkm09.counting import counted as counting
from selectron.reproduce.dkm09.table_1 import LEARNERS, QUANTITIES, Order, fit, verdicts
from selectron.reproduce.dkm09.version_space import (
    Keeper,
    VersionSpace,
    by_committee,
    by_consistency,
)
from selectron.streams.drifting import on_sphere
from selectron.updates import Perceptron

pytestmark = pytest.mark.plain  # the rules are compiled elsewhere

SPACES = {"d": st.integers(2, 5), "n_labels": st.integers(1, 30), "seed": st.integers(0, 10**6)}


def labelled(d, n_labels, seed):
    """A version space after labels of rows as they come, and the target."""
    rng = np.random.default_rng(seed)
    target, *rows = on_sphere(rng, n_labels + 1, d)
    space = VersionSpace(rng, d)
    for x in rows:
        space.learn(x, 1.0 if x @ target > 0.0 else -1.0)
    space.walk(5)
    return space, target


def farthest(space, x):
    """The largest margin of x in the version space inside a cube, by a linear program."""
    d = len(x)
    nothing = np.zeros(len(space.rows))
    return -linprog(-x, A_ub=-space.rows, b_ub=nothing, bounds=[(-1.0, 1.0)] * d).fun


@given(**SPACES)
@settings(max_examples=30, deadline=None)
def test_members_lie_in_the_version_space(d, n_labels, seed):
    space, target = labelled(d, n_labels, seed)
    assert (space.rows @ target > 0.0).all()
    assert (space.members @ space.rows.T > 0.0).all()
    np.testing.assert_allclose(np.linalg.norm(space.members, axis=1), 1.0)


@given(**SPACES)
@settings(max_examples=30, deadline=None)
def test_the_filter_asks_only_where_both_labels_are_consistent(d, n_labels, seed):
    """A linear program is the judge; the filter itself uses Farkas' lemma."""
    space, _ = labelled(d, n_labels, seed)
    X = on_sphere(space.rng, 20, d)
    asked = by_consistency(space, X)
    for x in X[:asked]:
        assert min(farthest(space, x), farthest(space, -x)) == pytest.approx(0.0, abs=1e-6)
    if asked < len(X):
        assert min(farthest(space, X[asked]), farthest(space, -X[asked])) > 0.0


@given(**SPACES)
@settings(max_examples=30, deadline=None)
def test_the_committee_asks_where_its_two_members_differ(d, n_labels, seed):
    space, _ = labelled(d, n_labels, seed)
    X = on_sphere(space.rng, 20, d)
    signs = np.sign(np.einsum("ij,kij->ki", X, space.members[:40].reshape(2, 20, d)))
    differ = signs[0] != signs[1]
    asked = by_committee(space, X)
    assert not differ[:asked].any()
    assert asked == 20 or differ[asked]


def test_the_walk_draws_uniformly():
    """As uniform points of the sphere do that keep to the labels."""
    space = VersionSpace(np.random.default_rng(0), 3, n_members=4000)
    for x in np.eye(3) + 0.3:
        space.learn(x, 1.0)
    space.members[:] = space.centre()
    space.walk(30)
    drawn = on_sphere(np.random.default_rng(1), 60_000, 3)
    drawn = drawn[(drawn @ space.rows.T > 0.0).all(axis=1)]
    for direction in (*np.eye(3), np.ones(3)):
        assert ks_2samp(space.members @ direction, drawn @ direction).pvalue > 0.01


def test_a_label_that_no_member_expects_is_learnt():
    space, target = labelled(3, 5, 0)
    space.members[:] = target
    x = on_sphere(space.rng, 50, 3)
    x = next(row for row in x if not space.implies(row, 1.0) and not space.implies(row, -1.0))
    sign = -1.0 if x @ target > 0.0 else 1.0
    space.learn(x, sign)
    assert (space.members @ space.rows.T > 0.0).all()


def test_an_implied_label_is_never_a_mistake():
    """All mistakes of the filter are among its labels, and the seed decides."""
    for asks in (by_committee, by_consistency):
        runs = [list(Keeper(asks, 3, seed).by_rows(500)) for seed in (0, 0, 1)]
        assert runs[0] == runs[1] != runs[2]
        last, error = runs[0][-1]
        assert last.labels == len(runs[0]) <= last.rows
        assert error < 0.03
    assert last.mistakes <= last.labels


# --- the experiment


def test_the_experiment_on_a_tiny_grid(monkeypatch):
    tiny = {
        name: learner._replace(errors=np.array([0.2, 0.1]), dimensions=(3, 4))
        for name, learner in LEARNERS.items()
    }
    monkeypatch.setattr(table_1, "LEARNERS", tiny)
    experiment = EXPERIMENTS["dkm09-table-1"]
    result = json.loads(json.dumps(experiment.run(1, lambda: None)))
    assert len(result["curves"]) == len(LEARNERS) * 2 == experiment.steps(1)
    for curve in result["curves"]:
        assert curve["reached"] == [1.0, 1.0]
        rows, mistakes, labels = (np.array(curve[quantity]) for quantity in QUANTITIES)
        assert (np.diff([rows, mistakes, labels]) >= 0).all()
        assert (rows >= labels).all()
        assert (rows >= mistakes).all()
        if curve["learner"].endswith("Always"):
            np.testing.assert_array_equal(rows, labels)
    assert len(result["verdicts"]) == len(LEARNERS) + 2
    printed = experiment.text(result)
    for name in LEARNERS:
        assert f"{name}, d = 3" in printed
    assert "at most d^1.5 (1/eps) log(1/eps)" in printed


def counted(learner, d, errors, count):
    """A curve that has the same counts of rows, mistakes, labels and work."""
    curve = {"learner": learner, "d": d, "errors": errors}
    return curve | dict.fromkeys((*QUANTITIES, "work"), count)


def grown(order, log=0):
    """Curves of every learner that follow an order exactly."""
    return [
        counted(name, d, errors, (d**order.d * errors**-order.error * np.log(1 / errors) ** log))
        for name, (errors, dimensions, *_) in LEARNERS.items()
        for d in dimensions
    ]


def test_the_fit_finds_powers():
    found = fit("Reflection + Halving", "labels", grown(Order(1.5, 0.3), log=1))
    assert found == pytest.approx((1.5, 0.3, 1))
    assert fit("Perceptron + Always", "rows", grown(Order(1, 2.5))) == pytest.approx((1, 2.5, 0))
    nowhere = [counted("Perceptron + Always", d, [0.1, 0.01], [None] * 2) for d in (5, 10)]
    assert fit("Perceptron + Always", "rows", nowhere) is None


def judged(order, name):
    growth = [{"learner": name, "quantity": q, "order": order} for q in QUANTITIES]
    said = verdicts({"curves": [], "growth": growth})
    return said[list(LEARNERS).index(name)]["verdict"]


def test_the_verdicts_follow_from_the_powers():
    assert judged(Order(1.1, 0.1, 1), "query by committee") == "holds"
    assert judged(Order(1.4, 0.1, 1), "query by committee") == "does not hold"
    assert judged(Order(1.4, 0.1, 1), "version-space filter") == "holds"
    assert judged(Order(1.0, 1.0, 1), "Reflection + Halving") == "holds in part (1 of 3)"
    assert judged(Order(1.0, 2.0), "Perceptron + Always") == "holds"
    assert judged(Order(1.0, 1.0), "Perceptron + Always") == "holds in part (2 of 5)"
    assert judged(None, "Perceptron + Always") == "not measured"


def online(powers):
    """The verdict on who is online, by the powers of log(1/eps) in the work of each learner."""
    growth = [
        {"learner": name, "quantity": "work", "order": Order(1.0, 0.0, power)}
        for name, power in zip(LEARNERS, powers, strict=True)
    ]
    found = verdicts({"curves": [], "growth": growth})
    assert found[-2]["verdict"] == "not measured"
    return found[-1]["verdict"]


def test_who_is_online_follows_from_the_work():
    assert online([0.0, -0.1, 0.2, 1.0, 1.0]) == "holds"
    assert online([0.0, 0.0, 0.0, 0.0, 0.0]) == "holds in part (3 of 5)"
    assert online([0.0, 0.0, 1.0, 1.0, 1.0]) == "holds in part (4 of 5)"
    assert online([1.0, 1.0, 1.0, 0.0, 0.0]) == "does not hold"


def test_the_fit_of_work_finds_a_power_of_the_logarithm():
    found = fit("query by committee", "work", grown(Order(3, 0), log=1))
    assert found == pytest.approx((3, 0, 1))
    found = fit("Perceptron + Always", "work", grown(Order(1, 0)))
    assert found == pytest.approx((1, 0, 0), abs=1e-9)


def test_products_are_counted_in_arrays_and_in_loops():
    counter = Counter()
    A = counting(np.ones((3, 4)), counter)
    for product, cost in (
        (lambda: A * 2.0, 12),
        (lambda: A / 2.0, 12),
        (lambda: A + A, 0),
        (lambda: np.ones((5, 3)) @ A, 60),
        (lambda: (A + 1.0) @ np.ones(4), 12),
        (lambda: np.einsum("ij,ij->i", A, A), 12),
        (lambda: np.linalg.norm(A, axis=1), 12),
        (lambda: sum(2.0 * x for x in (A[0, 0], A[0][1])), 2),
        (lambda: np.float64(2.0) * A[0, 0], 1),
        (lambda: np.vstack([A, A]) * A[0], 24),
    ):
        before = counter.n
        product()
        assert counter.n - before == cost


def test_the_perceptron_costs_a_margin_and_at_mistakes_an_update():
    d, n = 6, 40
    world = World(Perceptron(), Always(), d, seed=0)
    for _ in world.by_rows(1):
        break
    X, weights = on_sphere(np.random.default_rng(1), n, d), world.weights().copy()
    cost, w, updates = world.cost(X), weights.copy(), 0
    for x, sign in zip(X, world.signs(X), strict=True):
        if sign * (x @ w) <= 0.0:
            w, updates = w + sign * x, updates + 1
    assert 0 < updates < n
    # A mistake costs the sum of the squares of the row too, for the length of the hypothesis.
    assert cost == d * (n + 2 * updates)
    np.testing.assert_array_equal(world.weights(), weights)


@pytest.mark.parametrize("asks", [by_committee, by_consistency])
def test_a_row_costs_a_keeper_more_with_every_label(asks):
    keeper = Keeper(asks, 4, seed=0)
    X, costs = on_sphere(np.random.default_rng(1), 8, 4), {}
    for tally, _ in keeper.by_rows(10_000):
        if tally.labels in (6, 12, 24):
            costs[tally.labels] = keeper.cost(X)
            assert keeper.space.rows.shape == (tally.labels, 4)
    assert costs[6] < 0.8 * costs[12] < 0.8 * 0.8 * costs[24]


def test_theorem_3_is_held_against_its_bounds():
    for count, said in ((100.0, "holds"), (1e15, "does not hold")):
        curves = [counted("Reflection + Halving", 10, [0.1], [count])]
        assert verdicts({"curves": curves, "growth": []})[-2]["verdict"] == said


def test_orders_are_written_as_in_the_paper():
    assert str(Order(1.5, 1, 1)) == "d^1.5 (1/eps) log(1/eps)"
    assert str(Order(0.0, 2.0)) == "(1/eps)^2"
