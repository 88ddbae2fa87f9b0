"""The reproduction of stopping, on digits made up for it."""

import json

import numpy as np
import pytest

from selectron.reproduce import EXPERIMENTS
from selectron.reproduce.default.stop_when import GOALS, Job, digits, measure

EXPERIMENT = EXPERIMENTS["stop-when"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    labels = rng.integers(3, 8, 12_000).astype(np.uint8)
    pixels = rng.integers(0, 60, (len(labels), 2, 3)).astype(np.uint8)
    pixels[labels == 7, 0, 0] = 200
    half = len(labels) // 2
    np.savez(
        tmp_path / "mnist.npz",
        x_train=pixels[:half], y_train=labels[:half], x_test=pixels[half:], y_test=labels[half:],
    )  # fmt: skip
    monkeypatch.setenv("SELECTRON_DATA", str(tmp_path))
    digits.cache_clear()
    yield tmp_path
    digits.cache_clear()


def test_a_run_says_where_it_stopped(folder):
    found = measure(Job(0.05, 1))
    assert 0 < found["round"] < 2400
    assert found["labels"] < found["round"]
    assert found["error"] < 0.05
    assert measure(Job(0.001, 1))["round"] is None


def test_the_table_and_the_picture(folder):
    runs = [measure(Job(goal, 1)) for goal in GOALS]
    runs.append(runs[0] | {"seed": 2, "error": 0.5})
    result = json.loads(json.dumps({"runs": runs}))
    first = EXPERIMENT.text(result).splitlines()[1]
    assert "2 of 2" in first
    assert first.endswith("1 of 2")
    EXPERIMENT.plot(result, folder / "stops.png")
    assert (folder / "stops.png").stat().st_size > 5_000
