"""Code that writes its own vectors does to every length what the plain body does, bit for bit."""

import mmap

import numpy as np
import pytest
from numba import njit

from selectron.numeric.exponential_step import LEAST_WEIGHT, tilt_entries
from selectron.numeric.sums import fresh_dot, gather_dot, lane_dot, lane_sum, largest, three_dots

LENGTHS = [*range(20), 31, 32, 33, 63, 64, 65, 100, 147]
FLOATS = (np.float64, np.float32)


def numbers(n, dtype=np.float64, seed=0):
    return np.random.default_rng(seed + n).standard_normal(n).astype(dtype)


@njit
def compiled_dot(x, w):
    return lane_dot(x, w)


@njit
def compiled_fresh_dot(x, w):
    return fresh_dot(x, w)


@njit
def compiled_three_dots(x, a, b, c):
    return three_dots(x, a, b, c)


@njit
def compiled_sum(x):
    return lane_sum(x)


@njit
def compiled_gather(values, columns, w):
    return gather_dot(values, columns, w)


@njit
def compiled_largest(columns):
    return largest(columns)


@njit(error_model="numpy")
def compiled_tilt(values, rate, positive, negative, difference):
    return tilt_entries(values, rate, positive, negative, difference)


@pytest.mark.parametrize("left", FLOATS)
@pytest.mark.parametrize("right", FLOATS)
def test_inner_products_and_sums(left, right):
    for n in LENGTHS:
        x, w = numbers(n, left), numbers(n, right, seed=1)
        assert compiled_dot(x, w) == compiled_fresh_dot(x, w) == lane_dot(x, w)
        others = w.astype(float), numbers(n, seed=2), x  # a row is multiplied with itself too
        assert compiled_three_dots(x, *others) == three_dots(x, *others)
        assert compiled_sum(x) == lane_sum(x)
        np.testing.assert_allclose(lane_sum(x), x.sum(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("left", FLOATS)
@pytest.mark.parametrize("right", FLOATS)
def test_gathered_inner_products(left, right):
    for n in LENGTHS:
        columns = np.random.default_rng(n).permutation(160)[:n].astype(np.uint32)
        x, w = numbers(n, left), numbers(160, right, seed=1)
        w[np.setdiff1d(np.arange(160), columns)] = np.inf  # not to be touched
        assert compiled_gather(x, columns, w) == gather_dot(x, columns, w)
        np.testing.assert_allclose(gather_dot(x, columns, w), x @ w[columns], rtol=1e-4, atol=1e-4)


def test_largest_column():
    for n in LENGTHS:
        columns = np.random.default_rng(n).integers(0, 2**32, n, dtype=np.uint32)
        assert compiled_largest(columns) == largest(columns) == max(columns.tolist(), default=0)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("rate", [0.7, -3.0, 400.0, -1e6])
def test_tilting(dtype, balanced, rate):
    for n in LENGTHS:
        values = numbers(n, dtype)
        values[np.random.default_rng(n).random(n) < 0.3] = 0.0
        values[8:16] = 0.0  # a block that is passed over
        weights = np.abs(numbers(3 * n, seed=2)).reshape(3, n)
        weights[2] = weights[0] - weights[1]
        plain, fast = weights.copy(), weights.copy()
        sums = []
        for body, (up, down, difference) in ((tilt_entries, plain), (compiled_tilt, fast)):
            sums.append(body(values, rate, up, down if balanced else down[:0], difference))
        np.testing.assert_array_equal(fast, plain)
        assert sums[0] == sums[1] == lane_sum(plain[0]) + (lane_sum(plain[1]) if balanced else 0.0)
        assert (plain[0] >= LEAST_WEIGHT).all()
        if abs(rate) < 5:
            np.testing.assert_allclose(plain[0], weights[0] * np.exp(rate * values), rtol=1e-6)


@pytest.mark.parametrize("balanced", [False, True])
def test_places_past_the_end_of_a_row_have_no_weight(balanced):
    for n in LENGTHS[1:]:
        weights = np.full((3, n), LEAST_WEIGHT)
        down = weights[1] if balanced else weights[1][:0]
        total = compiled_tilt(np.ones(n), 0.0, weights[0], down, weights[2])
        assert total == lane_sum(weights[0]) + lane_sum(down)


def test_hints_past_the_end_of_memory_do_no_harm():
    n = mmap.PAGESIZE // 8
    page = np.frombuffer(mmap.mmap(-1, mmap.PAGESIZE))  # what lies behind may be nobody's
    page[:] = np.abs(numbers(n))
    columns = np.frombuffer(mmap.mmap(-1, mmap.PAGESIZE), np.uint32)
    assert compiled_fresh_dot(page, page) == lane_dot(page, page)
    assert compiled_gather(page, columns[-n:], page) == gather_dot(page, columns[-n:], page)
    assert compiled_largest(columns) == 0
    assert compiled_tilt(page, 0.0, page, page[:0], page) == lane_sum(page)
