"""What takes longer to compile than to run: the fast suite runs it in plain Python.

Plain Python gives the same bits as compiled code (`rules/test_determinism.py`,
`kernels/test_bits.py`), and tests beside those marked `plain` compile every rule with some partner.
What the compiler alone could get wrong elsewhere is left to `make slow`, which compiles all of
them.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from numba import config

from tests.other_process import environment


@pytest.mark.skipif(config.DISABLE_JIT, reason="they are run as they are")
def test_tests_marked_plain():
    command = [sys.executable, "-m", "pytest", "-m", "plain and not slow", "-p", "no:cacheprovider"]
    done = subprocess.run(
        command,
        cwd=Path(__file__).parents[1],
        env=environment(NUMBA_DISABLE_JIT="1"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
