"""Ray: the same results as the local engine, whatever the workers, nodes and kills.

Every test starts Ray in a network namespace of its own, where there is no other machine.
"""

import json
import os
import subprocess
import sys

import pytest

from tests.engines.files import command, facts, write_csv

pytest.importorskip("ray", reason="Ray is not installed: pip install 'selectron[cluster]'")

ALONE = ["unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
MAP = """
import json, sys
from math import sqrt
from selectron.engines import engine_of
from tests.engines.jobs import dies_once
with engine_of("ray", 2) as engine:
    found = engine.map(sqrt, [9.0, 4.0, 1.0]) + engine.map(dies_once, [(sys.argv[1], 0.0)])
    try:
        engine.map(sqrt, [4.0, -1.0])
    except ValueError as error:
        print(json.dumps([found, str(error)]))
"""


def may_be_alone():
    try:
        return subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


needs_namespace = pytest.mark.skipif(
    not may_be_alone(), reason="this user may not make a network namespace (unshare -n)"
)
pytestmark = [needs_namespace, pytest.mark.filterwarnings("ignore")]


def alone(arguments, home):
    token = {"RAY_AUTH_TOKEN": "0123456789abcdef" * 2}  # a cluster makes none by itself
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "HOME": str(home)} | token
    return subprocess.Popen(
        [*ALONE, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def said(process, timeout=170):
    out, err = process.communicate(timeout=timeout)
    assert process.returncode == 0, err
    return out


def last_line(said):
    """Return the JSON of a script's last line: Ray prints of workers that died before it."""
    return json.loads(said.splitlines()[-1])


def test_jobs_come_back_in_their_order_though_a_worker_dies(tmp_path):
    process = alone([sys.executable, "-c", MAP, str(tmp_path / "died")], tmp_path)
    found, error = last_line(said(process))
    assert found == [3.0, 2.0, 1.0, 0.0]
    assert (tmp_path / "died").exists()
    assert error in ("math domain error", "expected a nonnegative input, got -1.0")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_csv(tmp_path_factory.mktemp("ray") / "people.csv", 1600)


@pytest.fixture(scope="module")
def local(table):
    return facts(table, "--engine", "local", "--workers", "1")


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_the_digest_is_that_of_the_local_engine(table, local, workers, tmp_path):
    options = "--engine", "ray", "--workers", str(workers), "--json", "-"
    out = said(alone(command(table, *options), tmp_path))
    assert json.loads(out)["results"] == [local]


@pytest.mark.slow
def test_a_comparison_is_that_of_the_local_engine(tmp_path):
    """Every number of the JSON is the same: here, in local processes, and on Ray."""
    tables = [str(write_csv(tmp_path / f"{n}.csv", n)) for n in (200, 300)]
    words = [
        *tables, "perceptron+margin:b=0.5", "default", "--shuffle", "--test", "0.3", "--seeds", "3",
        "--json", "-",
    ]  # fmt: skip
    compare = [*command("")[:3], "compare", *words]
    engines = [], ["--engine", "local"], ["--engine", "ray"]
    here, local, ray = (
        json.loads(
            said(alone([*compare, *engine, *(["--workers", "2"] if engine else [])], tmp_path))
        )
        for engine in engines
    )
    assert len(here["results"]) == 2 * 2 * 2
    assert len(here["f1_averages"]) == 2 * 2
    assert here == local == ray


@pytest.mark.slow
@pytest.mark.parametrize("what", ["worker", "node", "driver"])
def test_ten_kills_change_nothing(what, tmp_path):
    """The same digest and the same labels, never more than the budget."""
    table = write_csv(tmp_path / "people.csv", 6000)
    budget = "--budget", "300"
    undisturbed = facts(table, "--engine", "local", "--workers", "1", *budget)
    options = *budget, "--checkpoint", str(tmp_path / "people.checkpoint")
    kills = [sys.executable, "-m", "tests.engines.ray_kills", what, "10", str(table), *options]
    found = last_line(said(alone(kills, tmp_path), timeout=600))
    assert found["facts"] == undisturbed
    assert undisturbed["labels"][0] <= 300
    assert found["kills"] == 10
