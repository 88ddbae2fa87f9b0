"""Engines: jobs in their order, errors as they are, workers that die."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from selectron.cli import main
from selectron.engines import Here, Local, WorkersLost, engine_of
from tests.engines.files import write_csv
from tests.engines.jobs import dies, dies_once, square_root, weighed


def test_jobs_come_back_in_their_order():
    ticks = []
    with engine_of("local", 2) as engine:
        found = engine.map(square_root, [9.0, 4.0, 1.0], lambda: ticks.append(1))
        assert found == [3.0, 2.0, 1.0]
        assert len(ticks) == 3
        assert engine.map(square_root, []) == []
        with pytest.raises(ZeroDivisionError):
            engine.map(square_root, [4.0, -1.0, 1.0])
        assert engine.map(square_root, [16.0]) == [4.0]


@pytest.mark.parametrize("engine", [Here(), Local(1)])
def test_a_value_is_shared_by_all_jobs(engine, tmp_path):
    arrays = [np.arange(5.0), np.zeros((0, 3), np.float32), np.arange(7, dtype=np.int8)]
    with engine:
        for factor in (1, 2):
            shared = engine.share("arrays", {"arrays": arrays, "factor": factor})
            kept = engine.share("another", factor)
            assert engine.map(weighed, [(shared, 1), (shared, 3)]) == [31 * factor, 93 * factor]
        assert kept.get() == 2
        arrays[0][:] = 9.0  # what was shared stays as it was
        assert engine.map(weighed, [(shared, 1)]) == [62]


def test_a_job_whose_worker_is_killed_is_done_again(tmp_path):
    ticks = []
    with Local(2) as engine:
        jobs = [(str(tmp_path / name), name) for name in "abcd"]
        assert engine.map(dies_once, jobs, lambda: ticks.append(1)) == list("abcd")
    assert len(ticks) == 4


def test_a_job_that_kills_every_worker_is_given_up(monkeypatch):
    monkeypatch.setattr("selectron.engines.local.RETRIES", 1)
    with Local(1) as engine, pytest.raises(WorkersLost, match="2 workers died in a row"):
        engine.map(dies, [1])


def test_workers_end_with_a_driver_that_is_killed():
    code = (
        "import os, time; from selectron.engines import Local\n"
        "with Local(1) as engine:\n"
        "    engine.map(os.getpgid, [0])\n"
        "    print(*engine._pool._processes, flush=True); time.sleep(60)"
    )
    driver = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    worker = int(driver.stdout.readline())
    driver.kill()
    driver.communicate()
    deadline = time.monotonic() + 10
    while Path(f"/proc/{worker}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{worker}").exists()


def test_wrong_engines_are_refused():
    with pytest.raises(ValueError, match="known are local and ray"):
        engine_of("spark")
    with pytest.raises(ValueError, match="a worker at least"):
        engine_of("local", 0)
    with pytest.raises(ValueError, match="local has none"):
        engine_of("local", 1, "10.0.0.1:6379")


@pytest.mark.plain
def test_a_comparison_is_the_same_on_an_engine(tmp_path, capsys):
    data = write_csv(tmp_path / "people.csv", 100)
    options = [
        "compare", str(data), "iris", "perceptron+margin:b=0.5", "perceptron+always",
        "--seeds", "3", "--shuffle", "--test", "0.2", "--json", "-",
    ]  # fmt: skip
    assert main(options) == 0
    here = capsys.readouterr().out
    assert main([*options, "--engine", "local", "--workers", "2"]) == 0
    assert capsys.readouterr().out == here
    assert main([*options, "--workers", "2"]) == 2
    assert "--workers needs --engine" in capsys.readouterr().err
