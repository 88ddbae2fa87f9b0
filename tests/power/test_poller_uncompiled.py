"""The same intervals to the bit, whether Learn-α is compiled or not."""

import json
import os
import subprocess
import sys

PROGRAM = """
import json
from selectron.power import AdaptivePoller
from selectron.power.polling import back_off_bill, bursts, replay

arrivals = bursts(3, duration=3000.0)
poller = AdaptivePoller(1.0, 64.0, 1.0, 0.1, random_state=5)
bill = replay(poller, *arrivals)
print(json.dumps([bill, back_off_bill(*arrivals, 2.0, 32.0), poller.state()]))
"""


def outcome(disable_jit: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "NUMBA_DISABLE_JIT": disable_jit},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_compiled_and_uncompiled_runs_are_the_same():
    compiled = outcome("0")
    assert json.loads(compiled)[0][0] > 100
    assert compiled == outcome("1")
