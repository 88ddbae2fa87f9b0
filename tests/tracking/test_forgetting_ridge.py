"""The forgetting ridge: least squares with weights, symmetric for ever, bounded."""

import numpy as np
import pytest

from selectron import SelectiveClassifier
from selectron.queries import Always
from selectron.streams import drifting
from selectron.tracking import ForgettingRidge, TrackingClassifier


def fitted(rule, X, y):
    return SelectiveClassifier(rule, Always()).fit(X, y)


def state(clf):
    return clf._run.machine.states.now.update


@pytest.mark.parametrize(("memory", "a"), [(2.0, 1.0), (5.0, 0.3), (50.0, 4.0), (None, 1.0)])
def test_it_minimises_the_weighted_squares(memory, a):
    """The regulariser is forgotten with the labels: a f^n, as the recursion has it."""
    X, y, *_ = drifting("stationary", 1, n=150, d=4)
    X *= 2.0  # rows long enough for the trace never to be held
    f = 1.0 if memory is None else 1.0 - 1.0 / (memory * 4)
    shares = f ** np.arange(len(y) - 1, -1, -1.0)
    A = a * f ** len(y) * np.eye(4) + (X * shares[:, None]).T @ X
    wanted = np.linalg.solve(A, (X * shares[:, None]).T @ y)
    clf = fitted(ForgettingRidge(memory=memory, a=a), X, y)
    np.testing.assert_allclose(clf.coef_[0], wanted, rtol=1e-7)
    np.testing.assert_allclose(state(clf).A, np.linalg.inv(A), rtol=1e-6)


def careless(X, y, f):
    """Recursive least squares as it is often written: one triangle rounds unlike the other."""
    d = X.shape[1]
    A, w, wrong = np.eye(d), np.zeros(d), []
    with np.errstate(all="ignore"):
        for x, label in zip(X, y, strict=True):
            g = A @ x
            share = 1.0 / (f + x @ g)
            wrong.append((w @ x > 0) != (label > 0))
            w = w + g * (label - w @ x) * share
            A = (A - np.outer(g, g * share)) / f
    return A, np.array(wrong)


def test_the_trap_asymmetry_grows_until_it_rules():
    X, y, *_ = drifting("flips", 1)
    f = 0.99
    A, wrong = careless(X, y, f)
    assert not np.isfinite(A).all() or np.abs(A - A.T).max() > 1e-3 * np.abs(A).max()
    clf = SelectiveClassifier(ForgettingRidge(memory=5.0), Always())
    clf.partial_fit(X[:10_000], y[:10_000])
    late = np.array([clf.predict(X[t : t + 500]) != y[t : t + 500] for t in [10_000]]).mean()
    clf.partial_fit(X[10_000:], y[10_000:])
    ridge = state(clf)
    assert ridge.kept == f
    np.testing.assert_array_equal(ridge.A, ridge.A.T)
    assert np.linalg.eigvalsh(ridge.A).min() > 0
    assert late < 0.25
    assert wrong[15_000:].mean() > 0.3


def test_the_trace_never_grows_beyond_its_start():
    """Rows along one axis: along the others A would grow as f^-t."""
    X = np.zeros((3000, 5))
    X[:, 0] = 1.0
    y = np.where(np.arange(3000) % 7 == 0, 1, -1)
    clf = fitted(ForgettingRidge(memory=2.0, a=0.5), X, y)
    A = state(clf).A
    assert np.isfinite(A).all()
    assert np.trace(A) <= 5 / 0.5 * (1 + 1e-12)
    assert np.trace(A) > 5 / 0.5 * 0.9


def test_a_reset_forgets_all_but_the_labels_since():
    X, y, *_ = drifting("stationary", 2, n=950, d=4)
    clf = fitted(ForgettingRidge(memory=None, reset_every=400), X, y)
    since = fitted(ForgettingRidge(memory=None), X[800:], y[800:])
    np.testing.assert_array_equal(clf.coef_, since.coef_)
    assert state(clf).n_updates == 950


def test_it_stands_on_its_own_and_in_a_crew_of_one():
    X, y, *_ = drifting("slow rotation", 1, n=4000)
    names = np.where(y > 0, "up", "down")
    alone = fitted(ForgettingRidge(), X, names)
    crew = TrackingClassifier([ForgettingRidge()], query=Always()).fit(X, names)
    np.testing.assert_array_equal(alone.predict(X), crew.predict(X))
    clipped = np.clip(alone.decision_function(X), -1, 1)
    np.testing.assert_allclose(crew.decision_function(X), clipped, rtol=1e-14)


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"memory": 1.0}, "memory must be a number > 1"),
        ({"memory": float("nan")}, "memory must be a number > 1"),
        ({"memory": float("inf")}, "None to forget nothing"),
        ({"reset_every": 0}, "reset_every must be a whole number"),
        ({"reset_every": 2.5}, "reset_every must be a whole number"),
        ({"a": 0.0}, "a must lie in"),
    ],
)
def test_knobs_out_of_range_are_refused(knobs, message):
    with pytest.raises(ValueError, match=message):
        ForgettingRidge(**knobs)


def test_a_matrix_too_wide_is_refused():
    with pytest.raises(ValueError, match="first-order rule"):
        ForgettingRidge().begin(30_000, np.float64)
