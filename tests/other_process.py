"""Digests of runs as another process finds them: without the compiler, for another CPU or BLAS."""

import json
import os
import subprocess
import sys

import pytest

# Processors that differ in their vectors and in fused multiply-add; they are compiled for anew.
CPUS = {
    "generic": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
    "haswell": {"NUMBA_CPU_NAME": "haswell"},
}
# The one that has least in common with this one is among the fast tests.
ONE_FAST = ["generic", pytest.param("haswell", marks=pytest.mark.slow)]


def environment(**settings):
    """Return the variables of this process, those of Numba replaced by these settings."""
    return {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")} | settings


def digests_of(module, *arguments, **settings):
    """Run a module of the tests with these environment variables, and read what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env=environment(**settings),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
