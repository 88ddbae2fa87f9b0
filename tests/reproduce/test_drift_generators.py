"""`selectron reproduce drift-generators`: streams of River's, where it is installed; the report."""

from importlib.util import find_spec

import numpy as np
import pytest

from selectron.reproduce import EXPERIMENTS
from selectron.reproduce.peers import drift
from selectron.reproduce.peers.drift import ALL, OURS, REGRESSION, RIVER, TENTH, Counted, Job
from selectron.reproduce.peers.generators import GENERATORS, draw_stream

EXPERIMENT = EXPERIMENTS["drift-generators"]


def found(error_of):
    return [
        (Job(stream, 11, name), Counted(error_of(name), 0.1 if name == TENTH else 1.0))
        for stream in GENERATORS
        for name in (*OURS, *RIVER)
    ]


def test_every_learner_runs_on_every_stream():
    jobs = drift.jobs(2)
    assert len(jobs) == len(set(jobs)) == 2 * 5 * len(GENERATORS)
    assert len(GENERATORS) >= 12


def test_the_report_compares_with_the_best_of_river():
    errors = {TENTH: 0.2, ALL: 0.1, REGRESSION: 0.4}
    result = drift.report(found(lambda name: errors.get(name, 0.25)), 1)
    assert (round(result["ratio"], 6), round(result["linear_ratio"], 6)) == (0.8, 0.8)
    assert result["beaten"] == len(GENERATORS)
    assert result["cells"][0]["ratio_to_regression"] == 0.25
    assert result["cells"][0]["labels"] == 0.1


def test_text_and_picture(tmp_path):
    result = drift.report(found(lambda name: 0.125), 1)
    shown = EXPERIMENT.text(result)
    assert "SEA *" in shown
    assert "geometric mean: 1.00" in shown
    EXPERIMENT.plot(result, tmp_path / "drift.png")
    assert (tmp_path / "drift.png").stat().st_size > 10_000


def test_river_missing_is_named(monkeypatch):
    monkeypatch.setattr(drift, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"river not installed: pip install selectron\[peers\]"):
        EXPERIMENT.run(1, lambda: None)


@pytest.mark.skipif(find_spec("river") is None, reason="an extra")
@pytest.mark.parametrize("name", GENERATORS)
def test_a_stream_is_the_same_again_and_changes_at_its_seed(name):
    first = draw_stream(name, 3, 600)
    draw_stream.cache_clear()
    again, other = draw_stream(name, 3, 600), draw_stream(name, 4, 600)
    assert first.X.shape[0] == 600
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.y, again.y)
    assert (first.X != other.X).any()
    assert len(np.unique(first.y)) >= 2
