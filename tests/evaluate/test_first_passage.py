"""Labels to an error: against the full trace, and held against the definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selectron import SelectiveClassifier
from selectron.evaluate import Curve, first_passage, progressive
from selectron.evaluate.first_passage import most_errors
from selectron.queries import Auto, Halving, RateTracking
from selectron.scalings import Centred
from selectron.updates import HalfStep, Perceptron, Probit

LEARNERS = [
    SelectiveClassifier(Perceptron(), Halving(5, start=1.0)),
    SelectiveClassifier(HalfStep(), RateTracking(rate=0.3), scaling=Centred(warmup=5)),
    SelectiveClassifier(Probit(), Auto()),
]


def stream(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((900, 6))
    y = X @ rng.standard_normal(6) + 0.2 * rng.standard_normal(900) > 0
    return X[:600], y[:600], (X[600:], y[600:])


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: repr(learner.update))
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("error", [0.3, 0.12, 0.0])
def test_a_run_that_ends_early_tells_what_the_whole_run_tells(learner, seed, error):
    X, y, test = stream(seed)
    curve = first_passage(learner, X, y, test, error, seed=seed, hold=10)
    trace = progressive(learner, X, y, seed=seed, test=test)
    labels = np.cumsum(trace.asked)[trace.test_rounds - 1]
    errors = np.rint(trace.test_errors * 300).astype(int)
    whole = Curve(labels, errors, trace.n_asked)
    allowed = int(300 * error)
    assert curve.passage(allowed) == whole.passage(allowed)
    assert curve.held(allowed, 10) == whole.held(allowed, 10)
    n = len(curve.labels)
    assert curve.labels.tolist() == labels[:n].tolist()
    known = errors[:n] <= allowed
    assert curve.errors[known].tolist() == errors[:n][known].tolist()
    assert (curve.errors[~known] > allowed).all()
    if whole.held(allowed, 10) is None:
        assert n == len(labels)
    elif whole.n_labels > curve.held(allowed, 10) + 40:
        assert n < len(labels)


def held_by_definition(labels, errors, n_labels, allowed, hold):
    """Look at every label: the error after it is that of the last update."""
    after = {}
    for count in range(labels[0], n_labels + 1) if labels else ():
        after[count] = [e for k, e in zip(labels, errors, strict=True) if k <= count][-1]
    for start in after:
        span = range(start, min(start + hold, n_labels) + 1)
        if all(after[count] <= allowed for count in span):
            return start
    return None


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 6)), max_size=25),
    st.integers(0, 5),
    st.integers(0, 12),
    st.integers(0, 9),
)
def test_held_as_defined(steps, allowed, hold, more):
    labels = np.cumsum([step for step, _ in steps]).astype(int).tolist()
    errors = [error for _, error in steps]
    n_labels = (labels[-1] if labels else 0) + more
    curve = Curve(np.array(labels, int), np.array(errors, int), n_labels)
    assert curve.held(allowed, hold) == held_by_definition(labels, errors, n_labels, allowed, hold)
    first = [k for k, e in zip(labels, errors, strict=True) if e <= allowed]
    assert curve.passage(allowed) == (first[0] if first else None)


def test_shares_that_are_whole_numbers_of_rows():
    assert most_errors(0.15, 1000) == 150
    assert most_errors(0.29, 100) == 29  # 28.999999999999996 in floating point
    assert most_errors(0.025, 987) == 24
    assert most_errors(1.0, 7) == 7


def test_bad_arguments_name_the_value():
    X, y, test = stream(0)
    with pytest.raises(ValueError, match=r"in \[0, 1\], got 5"):
        first_passage(LEARNERS[0], X, y, test, 5)
    with pytest.raises(ValueError, match=">= 0, got -1"):
        first_passage(LEARNERS[0], X, y, test, 0.1, hold=-1)
