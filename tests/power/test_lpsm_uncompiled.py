"""The same bits whether Learn-α is compiled or not."""

import json
import os
import subprocess
import sys

PROGRAM = """
import json
from selectron.power import Fetch, INVERSE_LOG, Lpsm, Page, Workload, simulate

workload = Workload(tuple(Page(4.0, (Fetch(300, 9000), Fetch(300, 700, 0.1))) for _ in range(4)))
run = simulate(Lpsm(INVERSE_LOG, horizon=100), workload, diary=True)
print(json.dumps([run.latencies_s.tolist(), run.awake_s, run.diary.sleep_s.tolist()]))
"""


def outcome(disable_jit: str) -> list[object]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "NUMBA_DISABLE_JIT": disable_jit},
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[object] = json.loads(done.stdout)
    return found


def test_compiled_and_uncompiled_runs_are_the_same():
    assert outcome("0") == outcome("1")
