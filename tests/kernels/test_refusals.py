"""Bad input: an error that names the value and the remedy, and nothing half-learnt.

Compiling takes longer than running: a learner with a budget is compiled, the others are plain
Python.
"""

import numpy as np
import pytest

from selectron import SelectiveClassifier
from selectron.kernels import KernelChoice
from selectron.queries import Always, Margin
from selectron.scalings import Centred
from selectron.updates import Ballseptron, PassiveAggressive, Perceptron, Ridge
from tests.kernels.subject import rings

X, SIGNS = rings()
Y = np.where(SIGNS > 0, "out", "in")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"kernel": "sigmoid"}, "kernel='sigmoid' is unknown: use one of linear, poly, rbf"),
        ({"kernel": 3}, "kernel=3 is unknown"),
        ({"gamma": 0.0}, "gamma must be > 0, got gamma=0.0"),
        ({"gamma": -1}, "gamma must be > 0, got gamma=-1"),
        ({"gamma": np.nan}, "gamma must be a finite number"),
        ({"gamma": "wide"}, "gamma='wide': use a number > 0"),
        ({"degree": 0}, "degree must be a whole number >= 1, got degree=0"),
        ({"degree": 2.5}, "degree must be a whole number >= 1, got degree=2.5"),
        ({"coef0": np.inf}, "coef0 must be a finite number"),
        ({"budget": 0}, "budget must be a whole number >= 1, got budget=0"),
        ({"budget": True}, "budget must be a whole number"),
        ({"removal": "oldest"}, "removal='oldest' is unknown: use one of random, smallest"),
        ({"update": PassiveAggressive()}, "PassiveAggressive has no form with a kernel: use"),
        ({"update": Ridge(), "budget": 5, "removal": "projection"}, "projection.* Ridge is not"),
        ({"scaling": Centred()}, "do not go together: scale the rows before"),
        ({"fit_intercept": True}, 'use kernel="poly" with coef0 > 0'),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_by_name(wrong, message):
    clf = SelectiveClassifier(**{"kernel": "poly"} | wrong)
    with pytest.raises(ValueError, match=message):
        clf.fit(X, Y)
    assert not hasattr(clf, "classes_")


@pytest.mark.plain
def test_without_a_kernel_there_are_no_support_vectors():
    clf = SelectiveClassifier(Perceptron(), Always()).fit(X, Y)
    with pytest.raises(AttributeError, match="without a kernel"):
        _ = clf.support_vectors_
    with pytest.raises(AttributeError, match="use dual_coef_"):
        _ = SelectiveClassifier(Perceptron(), Always(), kernel="linear").fit(X, Y).coef_


def learner(**options):
    query = Margin(b=1e9)
    clf = SelectiveClassifier(
        Ballseptron(r=0.1), query, kernel="poly", degree=5, gamma=0.2, **options
    )
    return clf.partial_fit(X[:50], Y[:50], classes=["in", "out"])


def memory(clf):
    machine = clf._run.machine
    machine.settle()
    arrays = [a.tobytes() for a in machine.arrays()]
    return machine.room(), arrays, machine.states.numbers.tobytes(), clf.n_seen_, clf.n_asked_


@pytest.mark.parametrize(
    "options",
    [{"budget": 20}, pytest.param({}, marks=pytest.mark.plain)],
    ids=["budget", "no limit"],
)
@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e170])
def test_a_refused_batch_changes_nothing(options, wrong):
    clf, batch = learner(**options), np.tile(X, (3, 1))
    batch[-2, 1] = wrong
    before, predicted = memory(clf), clf.decision_function(X)
    with pytest.raises(ValueError, match=f"row {len(batch) - 2}"):
        clf.partial_fit(batch, np.tile(Y, 3))
    assert memory(clf) == before
    np.testing.assert_array_equal(clf.decision_function(X), predicted)
    labels = np.tile(Y, 3).astype(object)
    labels[-1] = "neither"
    with pytest.raises(ValueError, match="unknown label neither"):
        clf.partial_fit(np.tile(X, (3, 1)), labels)
    assert memory(clf) == before


def test_one_bad_row_changes_nothing():
    clf = learner(budget=20)
    before = memory(clf)
    with pytest.raises(ValueError, match="NaN or infinity"):
        clf.ask_one(np.full(X.shape[1], np.nan))
    with pytest.raises(ValueError, match="not finite"):
        clf.learn_one(np.full(X.shape[1], 1e170), "in")
    with pytest.raises(ValueError, match="5 features"):
        clf.learn_one(np.ones(3), "in")
    assert memory(clf) == before


@pytest.mark.plain
def test_a_function_must_give_a_value_a_pair():
    clf = SelectiveClassifier(Perceptron(), Always(), kernel=lambda A, B: A @ B[0])
    with pytest.raises(ValueError, match=r"shape \(64,\) for 64 and 64 rows: return one value"):
        clf.fit(X, Y)


@pytest.mark.plain
def test_a_function_that_fails_half_way_leaves_nothing_learnt():
    calls = []

    def kernel(A, B):
        calls.append(len(A))
        if len(calls) > 4:
            raise RuntimeError("no more")
        return A @ B.T

    clf = SelectiveClassifier(Perceptron(), Always(), kernel=kernel)
    clf.partial_fit(X[:10], Y[:10], classes=["in", "out"])
    before = memory(clf)
    with pytest.raises(RuntimeError):
        clf.partial_fit(np.tile(X, (3, 1)), np.tile(Y, 3))
    assert memory(clf) == before


def test_settings_are_checked_when_they_are_written():
    with pytest.raises(ValueError, match="degree"):
        KernelChoice("poly", degree=-1)
