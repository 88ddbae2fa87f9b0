"""Let worker processes load and use mutants, and list those by which one died or went wrong."""

import subprocess
import sys
from collections import Counter
from signal import Signals

from tests.other_process import environment


def play(folder, first, count, *kinds, **settings):
    """Return how many mutants ended in which way, and those that went wrong, in words."""
    ended, failed = Counter(), []
    stop = first + count
    while first < stop:
        span = str(folder), str(first), str(stop - first)
        done = subprocess.run(
            [sys.executable, "-m", "tests.hostile", *span, *kinds],
            env=environment(**settings),
            capture_output=True,
            text=True,
            check=False,
        )
        lines = done.stdout.splitlines()
        for mutant, outcome in zip(lines[::2], lines[1::2], strict=False):
            ended[outcome.split()[0]] += 1
            if outcome.startswith("FAILED"):
                failed.append(f"{mutant}\n    {outcome}")
        first += (len(lines) + 1) // 2
        if done.returncode < 0 and len(lines) % 2:
            ended["died"] += 1
            failed.append(f"{lines[-1]}\n    died: {Signals(-done.returncode).name}")
        elif done.returncode:  # the worker itself is wrong
            raise AssertionError(done.stderr[-3000:])
    return ended, failed
