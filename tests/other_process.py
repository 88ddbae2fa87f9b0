"""Digests of runs as another process finds them: without the compiler, for another CPU or BLAS."""

import json
import os
import subprocess
import sys

# Processors that differ in their vectors and in fused multiply-add; they are compiled for anew.
CPUS = {
    "generic": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
    "haswell": {"NUMBA_CPU_NAME": "haswell"},
}


def digests_of(module, *arguments, **settings):
    """Run a module of the tests with these environment variables, and read what it prints."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")} | settings
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
