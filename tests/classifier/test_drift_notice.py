"""`readout` says when the error of late surely lies above the earlier one, and only then."""

import numpy as np
import pytest

from selectron import SelectiveClassifier
from selectron.queries import Uniform
from selectron.updates import Perceptron


def after(rows_flipped, seed=0):
    """Learn a stream whose labels are flipped from some row on, slowly enough to suffer."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((4000, 3))
    y = X[:, 0] > 0
    y[4000 - rows_flipped :] ^= True
    learner = SelectiveClassifier(
        Perceptron(eta=1e-9), Uniform(rate=0.5), explore=0.5, window=800, random_state=seed
    )
    learner.partial_fit(
        np.repeat([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]], 4, axis=0), [True] * 4 + [False] * 4
    )
    return learner.partial_fit(X, y).readout()


@pytest.mark.plain
def test_a_concept_that_moves_is_noticed_with_the_remedy():
    told = after(rows_flipped=700)
    assert "drift: the error of late is at least" in told
    assert "TrackingClassifier" in told


@pytest.mark.plain
@pytest.mark.parametrize("seed", range(3))
def test_a_steady_stream_is_not_said_to_move(seed):
    assert "drift" not in after(rows_flipped=0, seed=seed)
