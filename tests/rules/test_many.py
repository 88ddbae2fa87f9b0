"""Rules on many classes: equal to their twins, the same bits everywhere, two classes as before."""

import numpy as np
import pytest

from selectron import queries, updates
from selectron.classifier.rules import has_many_form
from selectron.numeric.rows import DenseRow
from selectron.protocol import ManyForecast, ask_probability, glance, learn, predict
from selectron.updates.first_order import lead
from tests.oracles.multiclass import MulticlassBallseptron
from tests.other_process import CPUS, ONE_FAST, digests_of
from tests.rules.catalogue import QUERIES, UPDATES
from tests.rules.many import (
    ALL_PAIRS,
    MANY,
    SPREAD,
    check_pair,
    every,
    few,
    play,
    stream,
    wide,
)
from tests.rules.spread import compiled_or_plain
from tests.rules.streams import as_dense


def test_the_rules_with_a_form_for_many_classes():
    assert {type(rule).__name__ for rule in MANY.values()} == {
        "Perceptron", "Ballseptron", "PassiveAggressive", "SecondOrder", "Ridge", "HalfStep",
        "Reflection", "ClassRidge", "Rehearsal", "DualProbit",
    }  # fmt: skip


@pytest.mark.parametrize(("update", "query"), compiled_or_plain(ALL_PAIRS, SPREAD))
def test_a_pair(update, query):
    check_pair(update, query)


def test_plain_python_gives_the_same_bits():
    assert digests_of("tests.rules.many", "wide", NUMBA_DISABLE_JIT="1") == wide()


@pytest.mark.parametrize("cpu", ONE_FAST)
def test_other_cpus_give_the_same_bits(cpu):
    assert digests_of("tests.rules.many", "few", **CPUS[cpu]) == few()


@pytest.mark.slow
@pytest.mark.parametrize("cpu", CPUS)
def test_other_cpus_give_the_same_bits_for_the_spread(cpu):
    assert digests_of("tests.rules.many", "wide", **CPUS[cpu]) == wide()


@pytest.mark.slow
def test_plain_python_gives_the_same_bits_for_every_pair():
    assert digests_of("tests.rules.many", "every", NUMBA_DISABLE_JIT="1") == every()


@pytest.mark.plain
@pytest.mark.parametrize("update", MANY)
def test_float32_agrees_to_rounding(update):
    X, labels = stream()
    log = play(MANY[update], queries.Margin(b=1e6), as_dense(X), labels)[1]
    small = play(
        MANY[update], queries.Margin(b=1e6), as_dense(X.astype(np.float32)), labels, np.float32
    )[1]
    np.testing.assert_allclose(small.forecasts[:, 0], log.forecasts[:, 0], rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("update", MANY)
@pytest.mark.parametrize("query", QUERIES)
def test_a_glance_never_gives_smaller_odds_than_the_forecast(update, query):
    X, labels = stream()
    update, query = MANY[update].many(X.shape[1], np.float64, 4), QUERIES[query].begin(X.shape[1])
    for x, label in zip(X[:40], labels, strict=False):
        row = DenseRow(x)
        seen = glance(update, row)
        exact = predict(update, row, seen)
        assert isinstance(exact, ManyForecast)
        assert exact.exact
        assert (seen.best, seen.second) == (exact.best, exact.second)
        assert ask_probability(query, row, seen) >= ask_probability(query, row, exact)
        update = learn(update, row, float(label), exact)


@pytest.mark.parametrize("scores", [[0, 0, 0], [1, 3, 3], [2, 2, 5], [5, 5, 5, 7], [4, 1, 4, 4]])
def test_of_equal_scores_the_lowest_class_comes_first(scores):
    margin, best, second = lead(np.array(scores, float))
    order = sorted(range(len(scores)), key=lambda k: (-scores[k], k))
    assert (best, second, margin) == (*order[:2], scores[order[0]] - scores[order[1]])


@pytest.mark.parametrize("broken", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_score_that_is_not_finite_reaches_the_margin(broken, place):
    scores = np.array([1.0, 3.0, 2.0])
    scores[place] = broken
    assert np.isnan(lead(scores).margin)


@pytest.mark.plain
def test_the_ballseptron_is_that_of_the_theorems():
    X, labels = stream()
    twin = MulticlassBallseptron(X.shape[1], 4, 0.3)
    for x, label in zip(X, labels, strict=True):
        twin.learn(x, label)
    machine, _ = play(updates.Ballseptron(r=0.3), queries.Always(), as_dense(X), labels)
    state = machine.states.now.update
    np.testing.assert_allclose(state.prototypes, twin.prototypes, rtol=1e-12, atol=1e-12)
    assert state.n_margin_errors == twin.n_margin_errors > 0
    assert state.n_updates == twin.n_margin_errors + twin.n_mistakes


@pytest.mark.plain
def test_radius_zero_is_the_perceptron():
    X, labels = stream()
    balls = play(updates.Ballseptron(r=0.0), queries.Always(), as_dense(X), labels)[1]
    plain = play(updates.Perceptron(), queries.Always(), as_dense(X), labels)[1]
    np.testing.assert_array_equal(balls.forecasts[:, 4], plain.forecasts[:, 4])
    np.testing.assert_allclose(balls.forecasts[:, 0], plain.forecasts[:, 0], rtol=1e-12)


@pytest.mark.parametrize("name", [name for name in UPDATES if name not in MANY])
def test_other_rules_refuse_by_name(name):
    rule = UPDATES[name]
    assert not has_many_form(rule)
    with pytest.raises(ValueError, match=f"{rule.label} is for two classes and there are 5"):
        rule.many(3, np.float64, 5)
