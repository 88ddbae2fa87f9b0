"""The same seed, the same bits: without the compiler, and for other CPUs.

Compiling takes longer than running: a spread of the pairs is enough here (`spread.py` says why).
"""

import pytest

from tests.other_process import CPUS, ONE_FAST, digests_of
from tests.rules.digests import every, few, several, spread


def test_plain_python_gives_the_same_bits():
    assert digests_of("tests.rules.digests", "spread", NUMBA_DISABLE_JIT="1") == spread()


@pytest.mark.parametrize("cpu", ONE_FAST)
def test_other_cpus_give_the_same_bits(cpu):
    assert digests_of("tests.rules.digests", "few", **CPUS[cpu]) == few()


@pytest.mark.slow
@pytest.mark.parametrize("cpu", CPUS)
def test_other_cpus_give_the_same_bits_for_several_pairs(cpu):
    assert digests_of("tests.rules.digests", "several", **CPUS[cpu]) == several()


@pytest.mark.slow
def test_plain_python_gives_the_same_bits_for_every_pair():
    assert digests_of("tests.rules.digests", "every", NUMBA_DISABLE_JIT="1") == every()
