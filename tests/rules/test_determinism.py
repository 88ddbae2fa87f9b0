"""The same seed, the same bits: without the compiler, and for other CPUs."""

import pytest

from tests.other_process import digests_of
from tests.rules.catalogue import PAIRS
from tests.rules.digests import digests, spread_of_pairs


def test_plain_python_gives_the_same_bits_for_every_pair():
    assert digests_of("tests.rules.digests", "all", NUMBA_DISABLE_JIT="1") == digests(PAIRS)


@pytest.mark.parametrize("cpu", ["generic", "haswell"])
def test_other_cpus_give_the_same_bits(cpu, tmp_path):
    settings = {"NUMBA_CPU_NAME": cpu, "NUMBA_CACHE_DIR": str(tmp_path)}
    if cpu == "generic":
        settings["NUMBA_CPU_FEATURES"] = ""
    assert digests_of("tests.rules.digests", **settings) == digests(spread_of_pairs())
