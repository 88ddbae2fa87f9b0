"""Ten million steps of LPSM's mixture, in memory that does not grow."""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json
import numpy as np
from selectron.experts import LearnAlpha

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

experts = LearnAlpha(12, horizon=27_000)
losses = np.random.default_rng(0).exponential(size=(100_000, 12))
experts.run(losses[:1000])
sizes, total = [], 0.0
for part in range(100):
    total += experts.run(np.roll(losses, part % 12, axis=1)).sum()
    sizes.append(resident())
early, late, weights = max(sizes[:10]), max(sizes[10:]), experts.weights
print(json.dumps([len(experts.alphas), early, late, total, weights.sum(), weights.min()]))
"""


@pytest.mark.slow
def test_ten_million_steps_in_flat_memory():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    rates, early, late, total, mass, least = json.loads(done.stdout)
    assert rates == 259
    assert late - early < 1_000_000  # the losses of one part alone are 10 MB
    assert 0 < total < 10_000_000
    assert mass == pytest.approx(1.0, abs=1e-12)
    assert least > 0
