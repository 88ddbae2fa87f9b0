"""What a trace tells, held against slow and obvious twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selectron import SelectiveClassifier
from selectron.evaluate import Trace, learning_curve, progressive
from selectron.queries import Margin
from selectron.updates import Perceptron

MOSTLY = st.sampled_from([True, True, True, False])
ROUNDS = st.lists(st.tuples(MOSTLY, MOSTLY, st.booleans(), st.integers(0, 4)), min_size=1)


def trace_of(rounds):
    """Build a trace from (asked, updated if asked, mistaken, tenths of error after it)."""
    asked = np.array([r[0] for r in rounds])
    updated = np.array([r[0] and r[1] for r in rounds])
    errors = np.array([r[3] / 10 for r in rounds])
    n = len(rounds)
    return Trace(
        margins=np.zeros(n),
        probabilities=np.ones(n),
        asked=asked,
        updated=updated,
        mistakes=np.array([r[2] for r in rounds]),
        learner=SelectiveClassifier(),
        rows=None,
        signs=np.ones(n),
        test_rounds=np.flatnonzero(updated) + 1,
        test_errors=errors[updated],
    )


def errors_by_label(trace):
    """The test error after label 1, 2, ...: it moves at updates; before the first there is none."""
    now, after = None, []
    tested = dict(zip(trace.test_rounds.tolist(), trace.test_errors.tolist(), strict=True))
    for t, asked in enumerate(trace.asked):
        now = tested.get(t + 1, now)
        if asked:
            after.append(now)
    return after


@given(ROUNDS)
def test_counts(rounds):
    trace = trace_of(rounds)
    assert len(trace) == len(rounds)
    assert trace.n_asked == sum(r[0] for r in rounds)
    assert trace.n_updates == sum(r[0] and r[1] for r in rounds)
    assert trace.n_mistakes == sum(r[2] for r in rounds)
    assert trace.error == trace.n_mistakes / len(rounds)
    spent = [sum(r[0] for r in rounds[:n]) for n in trace.test_rounds]
    assert trace.test_labels.tolist() == spent


@given(ROUNDS, st.integers(0, 4))
def test_labels_to_error(rounds, tenths):
    trace, eps = trace_of(rounds), tenths / 10
    if not len(trace.test_rounds):
        return
    after = errors_by_label(trace)
    good = [n for n, e in enumerate(after, start=1) if e is not None and e <= eps]
    assert trace.labels_to_error(eps) == (good[0] if good else None)


@given(ROUNDS, st.integers(0, 4), st.integers(0, 6))
def test_labels_to_hold(rounds, tenths, more):
    trace, eps = trace_of(rounds), tenths / 10
    if not len(trace.test_rounds):
        return
    after = errors_by_label(trace)
    held = [
        n
        for n in range(1, len(after) - more + 1)
        if all(e is not None and e <= eps for e in after[n - 1 : n + more])
    ]
    assert trace.labels_to_hold(eps, more) == (held[0] if held else None)


def test_a_first_passage_need_not_hold():
    by_error = [(True, True, False, e) for e in (4, 1, 3, 1, 1, 1)]
    trace = trace_of(by_error)
    assert trace.labels_to_error(0.1) == 2
    assert trace.labels_to_hold(0.1, 0) == 2
    assert trace.labels_to_hold(0.1, 1) == 4
    assert trace.labels_to_hold(0.1, 2) == 4
    assert trace.labels_to_hold(0.1, 3) is None
    assert trace.labels_to_error(0.05) is None


@pytest.mark.parametrize(
    "ask", [lambda t: t.labels_to_error(0.1), lambda t: t.labels_to_hold(0.1, 20)]
)
def test_without_test_rows_there_is_no_test_error(ask):
    trace = trace_of([(False, False, True, 0)])
    with pytest.raises(ValueError, match=r"pass test=\(X, y\) to progressive"):
        ask(trace)


@given(ROUNDS)
def test_learning_curve(rounds):
    trace = trace_of(rounds)
    labels, errors = learning_curve(trace)
    if len(trace.test_rounds):
        assert labels.tolist() == trace.test_labels.tolist()
        assert errors.tolist() == trace.test_errors.tolist()
    else:
        assert labels.tolist() == [sum(r[0] for r in rounds[: n + 1]) for n in range(len(rounds))]
        mistakes = [sum(r[2] for r in rounds[: n + 1]) for n in range(len(rounds))]
        assert errors.tolist() == [m / (n + 1) for n, m in enumerate(mistakes)]


def test_a_trace_knows_its_rules_and_hides_its_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    trace = progressive(SelectiveClassifier(Perceptron(), Margin(b=0.3)), X, X[:, 0] > 0)
    assert trace.learner_name == "Perceptron + Margin"
    assert "rows" not in repr(trace)
