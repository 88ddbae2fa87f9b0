"""The reproduction of certified stopping, on a stream made up for it."""

import json

import numpy as np
import pytest

from selectron.reproduce import EXPERIMENTS
from selectron.reproduce.default import certified_stopping as study
from selectron.reproduce.default.certified_stopping import Job, Stream, jobs, measure, simulate

EXPERIMENT = EXPERIMENTS["certified-stopping"]


def rows():
    X = np.random.default_rng(0).standard_normal((4000, 5))
    return X, X @ np.arange(1.0, 6.0) > 0


@pytest.fixture
def stream(monkeypatch):
    monkeypatch.setattr(study, "STREAMS", {"small": Stream("small", (0.05,), rows, times=2)})
    monkeypatch.setattr(study, "RUNS", 50)
    monkeypatch.setattr(study, "ROUNDS", 100)


def test_a_run_says_when_it_stopped_and_what_was_true(stream):
    found = measure(Job("small", 0.05, "error", 1))
    assert 0 < found["before"] < found["labels"] < found["round"] < 4000
    assert found["share"] <= 0.05
    assert found["after"] <= 0.05


def test_the_table_and_the_picture(stream, tmp_path):
    listed = jobs(1)
    assert [job.measure for job in listed[:3]] == ["error", "error", "risk"]
    found = [(job, measure(job)) for job in listed]
    found.append((listed[0], found[0][1] | {"round": None}))
    found.append((listed[0], found[0][1] | {"share": 0.06}))
    result = json.loads(json.dumps(EXPERIMENT.study.report(found, 1)))
    lines = EXPERIMENT.text(result).splitlines()
    assert lines[1].split()[:4] == ["small", "error<=0.05", "4", "3"]
    assert lines[1].split()[-2] == "1"
    assert lines[-1].startswith("feedback on coins")
    EXPERIMENT.plot(result, tmp_path / "stops.png")
    assert (tmp_path / "stops.png").stat().st_size > 5_000


def test_a_simulation_finds_out_who_is_wrong():
    """Half of the level breaks far more runs than a twentieth."""
    case = study.CASES["held at the goal"]
    few, many = (simulate(case, 200, 800, share=share) for share in (0.05, 0.6))
    assert few["error"] < 0.1 < many["error"]


def test_without_the_data_it_refuses(monkeypatch, tmp_path):
    monkeypatch.setenv("SELECTRON_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"mnist\.npz not found"):
        study.require_streams()
