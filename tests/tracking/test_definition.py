"""The tracker against its slow twin, compiled and not, dense and sparse."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from selectron import SelectiveClassifier
from selectron.experts import FixedShare, LearnAlpha, StaticExpert, optimal_alphas
from selectron.numeric.coins import coins
from selectron.queries import Always
from selectron.scalings import Raw, TextDirections, Winsorised
from selectron.streams import drifting
from selectron.tracking import ByMargin, ByMistakes, ForgettingRidge, TrackingClassifier, follow
from selectron.tracking.members import LINEAR_LEARNERS
from selectron.updates import Perceptron
from tests.tracking.twin import (
    AlwaysTwin,
    ByMarginTwin,
    ByMistakesTwin,
    LearnAlphaTwin,
    RidgeTwin,
    default_twins,
    track,
)

RULES = {
    "all": (Always(), AlwaysTwin, 1.0),
    "margin": (ByMargin(), ByMarginTwin, 0.1),
    "mistakes": (ByMistakes(), ByMistakesTwin, 0.1),
}


def stream(n=900, d=9, seed=3):
    """Drift within a few hundred rounds: the concept turns round twice."""
    found = drifting("new concepts", seed, n=n, d=d)
    found.y[n // 3 : 2 * n // 3] *= -1
    return found


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("seed", [0, 7])
def test_the_tracker_is_its_definition(name, seed):
    query, twin, eta = RULES[name]
    X, y, *_ = stream(seed=seed + 1)
    alphas = optimal_alphas(horizon=2000)
    alphas = alphas[alphas <= 0.5]
    assert len(alphas) == 36
    votes, asked, margins, weights = track(
        default_twins(9), LearnAlphaTwin(6, alphas, eta), twin(), X, y, coins(seed, 0, len(y))
    )
    run = follow(
        TrackingClassifier(LINEAR_LEARNERS, query=query, scaling=Raw(), random_state=seed), X, y
    )
    assert 0 < asked.sum() <= len(y)
    np.testing.assert_array_equal(run.asked, asked)
    np.testing.assert_array_equal(run.learner_mistakes, (margins > 0) != (y > 0)[:, None])
    np.testing.assert_array_equal(run.mistakes, (votes > 0) != (y > 0))
    np.testing.assert_allclose(run.weights, weights, rtol=1e-8, atol=1e-13)
    np.testing.assert_allclose(run.margins, votes, rtol=0, atol=1e-10)
    assert len(set(run.following.tolist())) > 1


def test_every_learner_is_its_twin_to_the_bit():
    X, y, *_ = stream()
    twins, machine = default_twins(9), fitted(X, y)._run.machine
    for x, label in zip(X.tolist(), y.tolist(), strict=True):
        for twin in twins:
            twin.learn(x, label)
    members = machine.states.now.update.members
    for twin in twins:
        np.testing.assert_array_equal(members.first.weights, twin.w)
        if isinstance(twin, RidgeTwin):
            np.testing.assert_array_equal(members.first.A, twin.A)
        members = members.rest


def fitted(X, y, **params):
    chosen = {"learners": LINEAR_LEARNERS, "query": Always(), "scaling": Raw()} | params
    return TrackingClassifier(**chosen).fit(X, y)


@pytest.mark.plain
def test_a_row_of_zeros_a_long_row_and_one_learner():
    X, y, *_ = stream(n=300, d=3)
    X[5] = 0.0
    X[6:9] *= 40.0
    learners = [ForgettingRidge(memory=2.0, a=0.5)]
    twin = RidgeTwin(3, 1.0 - 1.0 / (2.0 * 3), a=0.5)
    votes, _, _, weights = track(
        [twin], LearnAlphaTwin(1, [0.1], 1.0), AlwaysTwin(), X, y, np.zeros(300)
    )
    run = follow(TrackingClassifier(learners, LearnAlpha(1, alphas=[0.1]), query=Always()), X, y)
    np.testing.assert_array_equal(run.margins, votes)
    np.testing.assert_array_equal(run.weights, weights)


def test_rows_may_be_sparse():
    X, y, *_ = stream()
    X[np.abs(X) < 0.3] = 0.0
    few = [ForgettingRidge(), Perceptron()]
    dense, sparse = fitted(X, y, learners=few), fitted(csr_matrix(X), y, learners=few)
    np.testing.assert_allclose(dense.weights_, sparse.weights_, rtol=1e-8)
    found = sparse.decision_function(csr_matrix(X))
    np.testing.assert_allclose(dense.decision_function(X), found, atol=1e-9)


@pytest.mark.parametrize("query", [ByMargin(), ByMistakes()], ids=["margin", "mistakes"])
def test_learners_of_any_make_run_the_same_rounds(query):
    """Behind adapters the same rules give the same bits."""
    X, y, *_ = stream(n=400)
    rules = list(LINEAR_LEARNERS)
    mixed = [*rules[:3], SelectiveClassifier(Perceptron(), Always()), *rules[4:]]
    compiled = follow(TrackingClassifier(LINEAR_LEARNERS, query=query, scaling=Raw()), X, y)
    plain = follow(TrackingClassifier(mixed, query=query), X, y)
    assert compiled.asked.any()
    for name in ("margins", "probabilities", "asked", "weights", "learner_mistakes"):
        np.testing.assert_array_equal(getattr(compiled, name), getattr(plain, name))


@pytest.mark.parametrize("kind", ["fixed", "static", "adahedge"])
def test_other_mixtures(kind):
    X, y, *_ = stream(n=400)
    experts = {
        "fixed": FixedShare(6, 0.01, eta=0.1),
        "static": StaticExpert(6, eta=0.1),
        "adahedge": LearnAlpha(6, alphas=[0.01, 0.1], eta="adahedge"),
    }[kind]
    before = experts.weights
    run = follow(TrackingClassifier(LINEAR_LEARNERS, experts, scaling=Raw()), X, y)
    np.testing.assert_array_equal(experts.weights, before)
    for t in np.flatnonzero(run.asked):
        experts.update(run.learner_mistakes[t] / run.probabilities[t])
        if t + 1 < len(y):
            np.testing.assert_array_equal(run.weights[t + 1], experts.weights)
    np.testing.assert_array_equal(run.tracker.weights_, experts.weights)


UNCOMPILED = """
from tests.tracking.test_definition import digests_of_runs
print(*digests_of_runs())
"""


def digests_of_runs():
    X, y, *_ = stream(n=600, d=3)
    linear = TrackingClassifier(LINEAR_LEARNERS, query=ByMistakes(), scaling=Raw())
    runs = follow(linear, X[:120], y[:120]), follow(TrackingClassifier(), X, y)
    return [
        hashlib.sha256(b"".join(part.tobytes() for part in (r.margins, r.weights, r.asked)))
        .hexdigest()
        for r in runs
    ]  # fmt: skip


def test_the_bits_are_the_same_without_compilation():
    done = subprocess.run(
        [sys.executable, "-c", UNCOMPILED], capture_output=True, text=True, check=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
    )  # fmt: skip
    assert done.stdout.split() == digests_of_runs()


@pytest.mark.plain
def test_the_default_learners_see_scaled_rows_and_others_do_not():
    rng = np.random.default_rng(2)
    X = rng.random((300, 3)) * [10.0, 1000.0, 1.0]
    y = X[:, 0] + X[:, 1] / 100.0 > 10.0
    default = TrackingClassifier(query=Always()).fit(X, y)
    assert default.rules_.scaling == Winsorised(memory=1000)
    assert (default.predict(X) == y).mean() > 0.9
    assert TrackingClassifier([Perceptron()]).fit(X, y).rules_.scaling == Raw()
    assert TrackingClassifier([Perceptron()], scaling="centred").fit(X, y).rules_.scaling.EXTRA == 1
    with pytest.raises(ValueError, match="does not go with these learners"):
        TrackingClassifier(scaling="text").fit(X, y)
    with pytest.raises(ValueError, match="does not go with these learners"):
        TrackingClassifier(scaling=TextDirections(held_back=5)).fit(X, y)
    with pytest.raises(TypeError, match=r"one of selectron\.scalings"):
        TrackingClassifier(scaling=3).fit(X, y)
