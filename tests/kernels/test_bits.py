"""The same bits for every size of block, processor and BLAS, compiled or not."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selectron.kernels.tiles import fused
from tests.kernels.digests import digests
from tests.other_process import CPUS, ONE_FAST, digests_of


@pytest.fixture(scope="module")
def here():
    return digests()


@pytest.mark.parametrize("largest_block", [1, 6, 64])  # a row tile holds 6
def test_the_size_of_a_block_does_not_show(here, largest_block):
    assert digests(largest_block) == here


SLOW = [pytest.param(core, marks=pytest.mark.slow) for core in ("SkylakeX", "Nehalem")]


@pytest.mark.parametrize("core", ["Haswell", "Prescott", *SLOW])
def test_the_blas_does_not_show(here, core):
    assert digests_of("tests.kernels.digests", OPENBLAS_CORETYPE=core) == here


@pytest.mark.parametrize("cpu", ONE_FAST)
def test_the_processor_does_not_show(here, cpu):
    # The generic one has no fused multiply-add: the C library's, slow and exact.
    assert digests_of("tests.kernels.digests", "few", **CPUS[cpu]) == {
        "many classes": here["many classes"]
    }


def test_the_compiler_does_not_show(here):
    assert digests_of("tests.kernels.digests", NUMBA_DISABLE_JIT="1") == here


numbers = st.floats(-1e30, 1e30).filter(lambda x: x == 0 or abs(x) > 1e-30)


@given(numbers, numbers, numbers)
def test_a_fused_step_rounds_once(x, s, total):
    got = fused(x, np.array([s]), np.array([total]))[0]
    assert got == float(Fraction(x) * Fraction(s) + Fraction(total))


def test_a_fused_step_rounds_once_just_below_a_tie():
    # The exact sum is 2⁻¹³³ below the middle of two doubles: a second rounding would go up.
    x, s, total = 1 + 2.0**-40, (1 - 2.0**-40) * 2.0**-53, 1 + 2.0**-52
    assert fused(x, np.array([s]), np.array([total]))[0] == total


narrow = st.floats(-(2.0**30), 2.0**30, width=32).filter(lambda x: x == 0 or abs(x) > 2.0**-30)


@given(narrow, narrow, narrow)
def test_a_fused_step_of_single_precision_rounds_once(x, s, total):
    got = fused(np.float32(x), np.array([s], np.float32), np.array([total], np.float32))[0]
    exact = Fraction(x) * Fraction(s) + Fraction(total)
    below, above = np.nextafter(got, np.float32(-np.inf)), np.nextafter(got, np.float32(np.inf))
    off = abs(Fraction(float(got)) - exact)
    assert off <= abs(Fraction(float(below)) - exact)
    assert off <= abs(Fraction(float(above)) - exact)
