"""Ray: the same results as the local engine, whatever the workers, nodes and kills.

Every test starts Ray in a network namespace of its own, where there is no other machine.
"""

import json
import os
import random
import subprocess
import sys
import time

import pytest

from tests.engines.files import command, facts, kill_a_worker, write_csv

pytest.importorskip("ray", reason="Ray is not installed: pip install 'selectron[cluster]'")

ALONE = ["unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
MAP = """
import json, sys
from math import sqrt
from selectron.engines import engine_of
with engine_of("ray", 2) as engine:
    found = engine.map(sqrt, [9.0, 4.0, 1.0])
    try:
        engine.map(sqrt, [4.0, -1.0])
    except ValueError as error:
        print(json.dumps([found, str(error)]))
"""
TWO_NODES = """
import sys
import selectron.engines.on_ray
from ray.cluster_utils import Cluster
from selectron.cli import main
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
if "--lose" in sys.argv:
    sys.argv.remove("--lose")
    from threading import Timer
    Timer(3.0, lambda: cluster.remove_node(nodes[0], allow_graceful=False)).start()
code = main([*sys.argv[1:], "--address", cluster.address])
sys.exit(code)
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


def said(process):
    out, err = process.communicate(timeout=170)
    assert process.returncode == 0, err
    return json.loads(out[out.index("[") if out.lstrip().startswith("[") else out.index("{") :])


def test_jobs_come_back_in_their_order(tmp_path):
    found, error = said(alone([sys.executable, "-c", MAP], tmp_path))
    assert found == [3.0, 2.0, 1.0]
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
    assert said(alone(command(table, *options), tmp_path))["results"] == [local]


@pytest.mark.slow
def test_killed_workers_change_nothing(table, local, tmp_path):
    draw = random.Random(0)
    process = alone(command(table, "--engine", "ray", "--workers", "2", "--json", "-"), tmp_path)
    kills = 0
    for _ in range(3):
        kills += kill_a_worker(process, draw)
        time.sleep(draw.uniform(0.0, 1.0))
    assert said(process)["results"] == [local]
    assert kills


@pytest.mark.slow
@pytest.mark.parametrize("lose", [[], ["--lose"]])
def test_a_cluster_of_nodes_one_of_which_is_lost(table, local, lose, tmp_path):
    run = command(table, "--engine", "ray", "--json", "-")
    process = alone([sys.executable, "-c", TWO_NODES, *lose, *run[3:]], tmp_path)
    assert said(process)["results"] == [local]
