"""Budgets are kept to the label, spent to the end, and given back by questions that expire.

The random settings bring many rules together, and compiling takes longer than running: they are
plain Python, the others are compiled.
"""

import numpy as np
import pytest

from selectron import SelectiveClassifier, load
from selectron.queries import Always, Auto, Balanced, Budget, Margin, Uniform
from selectron.updates import Arow, Perceptron, Ridge

QUERIES = [Auto(), Balanced(), Margin(b=0.05), Uniform(rate=0.02), Always()]
UPDATES = [Perceptron(), Ridge(), None]


def settings(n):
    """Yield budgets, rules, streams and delays at random."""
    rng = np.random.default_rng(11)
    for _ in range(n):
        horizon = int(rng.integers(110, 260))
        total = int(rng.integers(5, horizon // 4))
        kind = rng.integers(3)
        if kind == 0:
            limits = {"total": total, "horizon": horizon}
        elif kind == 1:
            limits = {"rate": float(rng.uniform(0.02, 0.3))}
        else:
            price = float(rng.uniform(0.05, 2.0))
            limits = {"cost": total * price, "per_label": price, "horizon": horizon}
        query = Budget(QUERIES[rng.integers(len(QUERIES))], **limits)
        yield query, UPDATES[rng.integers(len(UPDATES))], horizon, int(rng.integers(4)), rng


def play(query, update, n, delay, rng):
    """Run a stream whose answers come after some rounds, or never; return what was asked when."""
    X = rng.standard_normal((n, 4))
    labels = np.where(X @ rng.standard_normal(4) > 0, "b", "a")
    clf = SelectiveClassifier(update, query, random_state=int(rng.integers(1000)))
    due, asked, given_up = [], np.zeros(n, bool), 0
    for t in range(n):
        answer = clf.ask_one(X[t])
        asked[t] = answer.asked
        if answer.asked:
            due.append((t + delay * 15, answer.tickets, labels[t]))
        while due and due[0][0] <= t:
            _, ticket, label = due.pop(0)
            if delay and rng.random() < 0.1:
                given_up += clf.forget(ticket)
            else:
                clf.tell(ticket, label)
    return asked, given_up


def most(query, rounds):
    return query.rate * rounds if query.rate else query.labels


@pytest.mark.plain
@pytest.mark.parametrize("part", range(4))
def test_two_hundred_random_settings(part):
    for number, (query, update, n, delay, rng) in enumerate(settings(200)):
        if number % 4 != part:
            continue
        asked, given_up = play(query, update, n, delay, rng)
        spent = np.cumsum(asked)
        limit = most(query, np.arange(1, n + 1))
        assert (spent - given_up <= limit + 1e-9).all(), query
        warm = 60  # the default asks nothing in its warm-up
        if delay == 0 and most(query, n) < n - warm:
            spare = 1.5 if query.rate else 0.0  # a rate has no last round to be on time for
            assert spent[-1] >= 0.99 * np.floor(most(query, n)) - spare, (query, update)


def test_the_line_is_kept_to():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 4))
    clf = SelectiveClassifier(Perceptron(), Budget(Always(), total=100, horizon=1000))
    asked = clf.ask(X).asked
    spent, line = np.cumsum(asked), 100 * np.arange(1, 1001) / 1000
    assert (spent <= line + 10).all()
    assert spent[-1] == 100
    assert spent[4] == 5  # ahead of the line from the start: early labels teach most


def test_a_question_that_expires_comes_back():
    X = np.random.default_rng(0).standard_normal((50, 3))
    clf = SelectiveClassifier(Perceptron(), Budget(Always(), total=5), random_state=0)
    first = clf.ask(X)
    assert first.asked.sum() == 5
    assert not clf.ask(X).asked.any()
    assert clf.forget(first.tickets[:2]) == 2
    assert clf.ask(X).asked.sum() == 2
    clf.tell(first.tickets[2:5], ["a", "b", "a"])
    assert not clf.ask(X).asked.any()


def test_a_budget_is_saved_with_the_rule_within(tmp_path):
    X = np.random.default_rng(0).standard_normal((100, 3))
    y = np.where(X[:, 0] > 0, "b", "a")
    query = Budget(Margin(b=0.3), total=40, horizon=200)
    clf = SelectiveClassifier(Perceptron(), query, random_state=3).fit(X, y)
    clf.save(tmp_path / "m.selectron")
    again = load(tmp_path / "m.selectron")
    assert again.query == query
    np.testing.assert_array_equal(again.ask(X).asked, clf.ask(X).asked)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({}, "give one of total"),
        ({"total": 5, "rate": 0.1}, "give one of total"),
        ({"cost": 5.0}, "give one of total"),
        ({"total": 0}, "total must be positive"),
        ({"total": 2.5}, "whole number"),
        ({"rate": 1.5}, "rate must lie in"),
        ({"rate": 0.1, "horizon": 10}, "no horizon"),
        ({"total": 5, "horizon": -3}, "horizon must be positive"),
    ],
)
def test_wrong_budgets(wrong, message):
    with pytest.raises(ValueError, match=message):
        Budget(**wrong)


@pytest.mark.parametrize("name", ["rate", "total"])
def test_a_budget_is_a_number(name):
    with pytest.raises(TypeError, match=f"{name} must be a number, got {name}='a'"):
        Budget(**{name: "a"})


def test_a_budget_of_a_budget():
    with pytest.raises(TypeError, match="must be a query rule"):
        Budget(Budget(total=3), total=5)


@pytest.mark.plain
@pytest.mark.parametrize("update", [Ridge(), Arow(r=1.0)])
@pytest.mark.parametrize(
    "query", [Budget(rate=0.1), Budget(Balanced(), total=40, horizon=600), Budget(total=20)]
)
def test_a_silent_pass_asks_what_single_rows_ask(update, query):
    """A pass that nobody writes down makes few forecasts exact; thresholds must not notice."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((600, 9))
    y = (X @ rng.standard_normal(9) + 0.5 * rng.standard_normal(600) > 0).tolist()
    silent, single = (SelectiveClassifier(update, query, random_state=5) for _ in range(2))
    silent.partial_fit(X, y)
    for x, label in zip(X, y, strict=True):
        if single.ask_one(x).asked:
            single.learn_one(x, label)
    assert silent.n_asked_ == single.n_asked_
    np.testing.assert_array_equal(silent.decision_function(X), single.decision_function(X))
