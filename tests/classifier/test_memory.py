"""Ten million examples in a stream, and memory stays where it was."""

from pathlib import Path

import numpy as np
import pytest

from selectron import SelectiveClassifier
from selectron.queries import Margin
from selectron.updates import Perceptron


def resident_megabytes():
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="resident memory is read there")
def test_memory_is_flat_over_ten_million_examples():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200_000, 8))
    y = X[:, 0] > 0
    clf = SelectiveClassifier(Perceptron(), Margin(b=0.1), random_state=0)
    clf.partial_fit(X, y, classes=[False, True])
    before = resident_megabytes()
    for _ in range(50):
        clf.partial_fit(X, y)
    assert clf.n_seen_ == 10_200_000
    assert resident_megabytes() - before < 8


def test_one_row_at_a_time_keeps_nothing_that_is_answered():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 50))
    clf = SelectiveClassifier(random_state=0)
    for _ in range(3):
        for x in X:
            if clf.ask_one(x).asked:
                clf.learn_one(x, bool(x[0] > 0))
    assert clf._run.tickets.waiting == {}
    assert clf.n_seen_ == 3000
