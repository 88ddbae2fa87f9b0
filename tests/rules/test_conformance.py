"""What every rule must do, found by walking the shelves: a new rule is tested by being there."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selectron import queries, scalings, updates
from selectron.numeric.rows import DenseRow
from selectron.protocol import (
    Forecast,
    absorb,
    advance,
    ask_probability,
    glance,
    has_statistics,
    hypothesis,
    learn,
    observe,
    predict,
    present,
    ready,
)
from tests.rules.catalogue import QUERIES, UPDATES
from tests.rules.streams import stream

ROW = DenseRow(np.array([0.6, -0.8, 0.0]))
X, Y = stream(n=30, d=3)


def test_the_catalogue_has_every_rule():
    assert {type(rule).__name__ for rule in UPDATES.values()} == set(updates.__all__)
    assert {type(rule).__name__ for rule in QUERIES.values()} == set(queries.__all__)


@pytest.mark.parametrize("name", UPDATES)
def test_an_update_rule_has_all_its_verbs(name):
    kind = type(UPDATES[name].begin(3, np.float64))
    for verb in (glance, predict, learn, hypothesis):
        assert kind in verb.bodies, f"{kind.__name__} has no {verb.__name__}"
    assert "n_updates" in kind._fields


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_rule_has_all_its_verbs(name):
    kind = type(QUERIES[name].begin(3))
    for verb in (ask_probability, advance, observe):
        assert kind in verb.bodies, f"{kind.__name__} has no {verb.__name__}"


@pytest.mark.parametrize("name", scalings.__all__)
def test_a_scaling_has_all_its_verbs(name):
    spec = getattr(scalings, name)()
    kind = type(spec.begin(3, np.float64))
    for verb in (absorb, has_statistics, present, ready):
        assert kind in verb.bodies, f"{kind.__name__} has no {verb.__name__}"
    z = present(spec.begin(3, np.dtype(np.float64)), ROW)
    assert len(z.values if spec.WRITTEN_OUT else z.total) + (not spec.WRITTEN_OUT) == 3 + spec.EXTRA


margins = st.floats(-1e3, 1e3)


@pytest.mark.parametrize("name", QUERIES)
@given(p=margins, q=margins, variance=st.floats(0, 10), unit=st.floats(1e-3, 1e3))
def test_certainty_never_raises_the_odds_of_asking(name, p, q, variance, unit):
    query = QUERIES[name].begin(3)
    query = observe(query, ROW, Forecast(0.5, 1.0, 1.0, 0.0), 1.0)  # past the first label
    query = advance(query, Forecast(2.0, 1.0, 1.0, 0.0), False)
    unsure, sure = sorted([abs(p), abs(q)])
    odds = [
        ask_probability(query, ROW, Forecast(m, unit, unit, variance, True)) for m in (sure, unsure)
    ]
    assert 0.0 <= odds[0] <= odds[1] <= 1.0


@pytest.mark.parametrize("query_name", QUERIES)
@pytest.mark.parametrize("name", UPDATES)
def test_a_glance_never_gives_smaller_odds_than_the_forecast(name, query_name):
    update, query = UPDATES[name].begin(3, np.float64), QUERIES[query_name].begin(3)
    for x, y in zip(X, Y, strict=True):
        row = DenseRow(x)
        seen = glance(update, row)
        exact = predict(update, row, seen)
        assert exact.exact
        assert ask_probability(query, row, seen) >= ask_probability(query, row, exact)
        assert (seen.margin > 0) == (exact.margin > 0)
        query = observe(advance(query, exact, True), row, exact, y)
        update = learn(update, row, y, exact)


@pytest.mark.parametrize("name", UPDATES)
def test_the_hypothesis_has_the_sign_of_the_margin(name):
    update = UPDATES[name].begin(3, np.float64)
    for x, y in zip(X, Y, strict=True):
        row = DenseRow(x)
        forecast = predict(update, row, glance(update, row))
        assert np.sign(x @ hypothesis(update)) == np.sign(forecast.margin) or (
            abs(forecast.margin) < 1e-12
        )
        update = learn(update, row, y, forecast)
