"""The same seed, the same bits: without the compiler, and for other CPUs."""

import json
import os
import subprocess
import sys

import pytest

from tests.rules.catalogue import PAIRS
from tests.rules.digests import digests, spread_of_pairs


def run_with(*arguments, **settings):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")} | settings
    done = subprocess.run(
        [sys.executable, "-m", "tests.rules.digests", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_plain_python_gives_the_same_bits_for_every_pair():
    assert run_with("all", NUMBA_DISABLE_JIT="1") == digests(PAIRS)


@pytest.mark.parametrize("cpu", ["generic", "haswell"])
def test_other_cpus_give_the_same_bits(cpu, tmp_path):
    settings = {"NUMBA_CPU_NAME": cpu, "NUMBA_CACHE_DIR": str(tmp_path)}
    if cpu == "generic":
        settings["NUMBA_CPU_FEATURES"] = ""
    assert run_with(**settings) == digests(spread_of_pairs())
