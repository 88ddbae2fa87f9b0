"""Who predicts in another thread does not disturb a learner at its work."""

import sys
from threading import Event, Thread
from time import sleep

import numpy as np
import pytest
from numba import config

from selectron import SelectiveClassifier
from selectron.queries import Margin
from selectron.tracking import TrackingClassifier
from selectron.updates import Perceptron

pytestmark = pytest.mark.skipif(
    config.DISABLE_JIT, reason="plain Python changes threads within a round"
)

LEARNERS = {
    "default": lambda: SelectiveClassifier(random_state=0),
    "kernel": lambda: SelectiveClassifier(
        Perceptron(), Margin(b=0.1), kernel="poly", degree=5, random_state=0
    ),
    "tracking": lambda: TrackingClassifier(random_state=0),
}


@pytest.fixture
def restless():
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("restless")
@pytest.mark.parametrize("name", LEARNERS)
def test_predictions_beside_a_run_do_not_change_it(name):
    X = np.random.default_rng(0).standard_normal((8000, 20))
    y = X[:, 0] * X[:, 1] > 0
    alone, watched = (LEARNERS[name]().partial_fit(X[:60], y[:60]) for _ in range(2))
    over, seen = Event(), [0]

    def watch():
        while not over.is_set():
            watched.predict(X[:200])
            seen[0] += 1

    thread = Thread(target=watch)
    thread.start()
    for start in range(0, len(y), 500):
        rows, before = slice(start, start + 500), seen[0]
        while seen[0] == before and thread.is_alive():
            sleep(1e-4)
        watched.partial_fit(X[rows], y[rows])
        alone.partial_fit(X[rows], y[rows])
    over.set()
    thread.join()
    assert watched.n_asked_ == alone.n_asked_
    assert np.array_equal(watched.decision_function(X), alone.decision_function(X))
