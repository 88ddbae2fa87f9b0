"""exp and log of our own: as good as the C library's, and the same everywhere."""

from math import exp, inf, log, nan, nextafter, ulp

import numpy as np
import pytest
from numba import njit

from selectron.numeric.elementary import exponential, logarithm, opposite_exponentials


@njit(error_model="numpy")
def exponentials(x, out):
    for i in range(len(x)):
        out[i] = exponential(x[i])


@njit(error_model="numpy")
def logarithms(x, out):
    for i in range(len(x)):
        out[i] = logarithm(x[i])


@njit(error_model="numpy")
def raised(x, out):
    for i in range(len(x)):
        out[i], _ = opposite_exponentials(x[i])


@njit(error_model="numpy")
def lowered(x, out):
    for i in range(len(x)):
        _, out[i] = opposite_exponentials(-x[i])


def compiled(kernel, x):
    out = np.empty_like(x)
    kernel(x, out)
    return out


def worst_ulps(got, exact):
    return max(abs(a - b) / ulp(b) for a, b in zip(got.tolist(), exact, strict=True))


RNG = np.random.default_rng(0)
ARGUMENTS = np.concatenate(
    [RNG.uniform(-708, 709.7, 4000), RNG.uniform(-1, 1, 4000), RNG.uniform(-1e-8, 1e-8, 100)]
)
MODEST = ARGUMENTS[np.abs(ARGUMENTS) <= 500]
POSITIVE = np.concatenate(
    [
        np.exp(RNG.uniform(-708, 709, 4000)),
        RNG.uniform(0.4, 2.5, 4000),
        1 + RNG.uniform(-1e-8, 1e-8, 100),
        np.exp(RNG.uniform(-743, -709, 100)),
    ]
)


def test_exponential_is_within_two_ulps_of_the_c_library():
    assert worst_ulps(compiled(exponentials, ARGUMENTS), [exp(x) for x in ARGUMENTS]) <= 2


def test_logarithm_is_within_two_ulps_of_the_c_library():
    assert worst_ulps(compiled(logarithms, POSITIVE), [log(x) for x in POSITIVE]) <= 2


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="no extended precision here")
def test_both_are_within_one_ulp_of_the_truth():
    truth = np.exp(ARGUMENTS.astype(np.longdouble))
    error = np.abs(compiled(exponentials, ARGUMENTS) - truth) / np.spacing(truth.astype(float))
    assert error.max() < 1
    truth = np.exp(MODEST.astype(np.longdouble))
    for kernel in (raised, lowered):
        error = np.abs(compiled(kernel, MODEST) - truth) / np.spacing(truth.astype(float))
        assert error.max() < 1
    truth = np.log(POSITIVE.astype(np.longdouble))
    error = np.abs(compiled(logarithms, POSITIVE) - truth)
    assert (error / np.spacing(np.abs(truth).astype(float))).max() < 1


def test_opposite_exponentials_end_at_500():
    for x, end in ((500.5, 500.0), (1e9, 500.0), (-1e9, -500.0)):
        assert opposite_exponentials(x) == opposite_exponentials(end)
    assert opposite_exponentials(0.0) == (1.0, 1.0)  # entries that are 0 change no weight


def test_python_and_compiled_agree_to_the_bit():
    some, positive = ARGUMENTS[::9], POSITIVE[::9]
    assert [opposite_exponentials(x)[0] for x in some] == compiled(raised, some).tolist()
    assert [opposite_exponentials(-x)[1] for x in some] == compiled(lowered, some).tolist()
    assert [exponential(x) for x in some] == compiled(exponentials, some).tolist()
    assert [logarithm(x) for x in positive] == compiled(logarithms, positive).tolist()


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (0.0, 1.0),
        (-0.0, 1.0),
        (1e-300, 1.0),
        (inf, inf),
        (-inf, 0.0),
        (710.0, inf),
        (1e308, inf),
        (-745.2, 0.0),
        (-1e308, 0.0),
        (709.782712893384, 1.7976931348622732e308),
        (nextafter(709.782712893384, inf), inf),
        (-745.1332191019411, 5e-324),
        (-745.1332191019412, 0.0),
        (-744.0, exp(-744.0)),
        (nan, nan),
    ],
)
def test_exponential_at_the_ends(x, expected):
    for got in (exponential(x), compiled(exponentials, np.array([x]))[0]):
        assert got == expected or (np.isnan(got) and np.isnan(expected))


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (1.0, 0.0),
        (0.0, -inf),
        (-0.0, -inf),
        (inf, inf),
        (-inf, nan),
        (-1.0, nan),
        (nan, nan),
        (5e-324, log(5e-324)),
        (2.2250738585072014e-308, log(2.2250738585072014e-308)),
        (1.7976931348623157e308, log(1.7976931348623157e308)),
        (2.0, log(2.0)),
        (0.5, -log(2.0)),
    ],
)
def test_logarithm_at_the_ends(x, expected):
    for got in (logarithm(x), compiled(logarithms, np.array([x]))[0]):
        assert got == expected or (np.isnan(got) and np.isnan(expected))


def test_they_undo_each_other():
    x = RNG.uniform(-700, 700, 2000)
    np.testing.assert_allclose(compiled(logarithms, compiled(exponentials, x)), x, rtol=1e-13)


def test_both_are_monotonic_around_their_seams():
    seams = np.arange(-20, 20) * 0.5 * log(2)  # where the reduction changes its power of two
    near = np.sort(np.concatenate([seams + k * 1e-15 for k in range(-40, 40)]))
    assert (np.diff(compiled(exponentials, near)) >= 0).all()
    seams = 2.0 ** np.arange(-20, 20) * np.sqrt(0.5)
    near = np.sort(np.concatenate([seams * (1 + k * 2.3e-16) for k in range(-40, 40)]))
    assert (np.diff(compiled(logarithms, near)) >= 0).all()
