"""Exponential, logarithm, square root and the normal distribution, with the same bits everywhere.

The C library picks another exp and log for every kind of processor, and they differ in the last
bit. The functions here are made of + - * / and bit operations only, in a fixed order. So they give
the same bits in Python and compiled, on every IEEE machine. Exponential and logarithm have no
branch, so that loops over them vectorise.
"""

import math

import numpy as np
from llvmlite import ir
from numba import types

from selectron.compiler.emitting import Emission, Site, compiled_form_of
from selectron.compiler.verbs import helper

LOG2_E = 1.4426950408889634
LN2_HIGH = 6.93147180369123816490e-01  # 33 bits of log 2: its product with an exponent is exact
LN2_LOW = 1.90821492927058770002e-10
ROUNDER = 6755399441055744.0  # 1.5 × 2⁵²: adding it leaves the nearest integer in the low bits
ROUNDER_BITS = 4843621399236968448
MODEST = 500.0  # of a weight as large as 1e60 the product is still a number
LARGEST, SMALLEST = 709.782712893384, -745.1332191019412  # beyond: infinity, zero
ROOT_HALF_BITS = 4604544271217802189  # of √½, where the mantissas of `logarithm` begin
EXPONENT_BITS = -4503599627370496  # sign and exponent: all but the last 52 bits
LEAST_NORMAL, TWO_54 = 2.2250738585072014e-308, 18014398509481984.0
PER_ROOT_TWO_PI = 0.3989422804014327
TAIL = 3.0  # beyond, the continued fraction of the normal tail converges faster than the series
SERIES_TERMS, FRACTION_TERMS = 45, 60


jitable = helper  # the name for functions that loops outside the rules call too


@helper
def taylor_tail(r: float) -> float:
    """Return (eʳ - 1 - r)/r² for |r| ≤ ½ log 2, by Taylor's series."""
    high = (1.0 / 6227020800.0 * r + 1.0 / 479001600.0) * r + 1.0 / 39916800.0
    high = ((high * r + 1.0 / 3628800.0) * r + 1.0 / 362880.0) * r + 1.0 / 40320.0
    low = ((high * r + 1.0 / 5040.0) * r + 1.0 / 720.0) * r + 1.0 / 120.0
    return ((low * r + 1.0 / 24.0) * r + 1.0 / 6.0) * r + 0.5


@helper
def exponential(x: float) -> float:
    """Return eˣ within 1 ulp; 0 below -745.13 (subnormal from -708.4), infinity above 709.78.

    eˣ = 2ᵏ eʳ with k = round(x / log 2) and |r| ≤ ½ log 2, where Taylor's series needs 14 terms.

    Examples
    --------
    >>> print(exponential(2.0), exponential(0.0), exponential(-1e6))
    7.38905609893065 1.0 0.0
    """
    inside = np.float64(LARGEST if x > LARGEST else (SMALLEST if x < SMALLEST else x))
    shifted = np.float64(inside * LOG2_E + ROUNDER)
    k = shifted - ROUNDER
    r = (inside - k * LN2_HIGH) - k * LN2_LOW
    mantissa = 1.0 + (r + r * r * taylor_tail(r))
    # 2ᵏ in two factors: both are normal numbers, also where the result is not
    exponent = shifted.view(np.int64) - ROUNDER_BITS
    half = exponent >> 1
    first = np.int64((half + 1023) << 52).view(np.float64)
    second = np.int64((exponent - half + 1023) << 52).view(np.float64)
    scaled = mantissa * first * second
    return np.inf if x > LARGEST else (0.0 if x < SMALLEST else scaled)


@helper
def even_tail(square: float, fourth: float) -> float:
    """Return (cosh r - 1)/r² for |r| ≤ ½ log 2 from r² and r⁴, by Taylor's series.

    The function adds the terms in pairs, so that no step waits for many others.
    """
    first = 0.5 + square * (1.0 / 24.0)
    second = 1.0 / 720.0 + square * (1.0 / 40320.0)
    third = 1.0 / 3628800.0 + square * (1.0 / 479001600.0)
    return (first + fourth * second) + fourth * fourth * third


@helper
def odd_tail(square: float, fourth: float) -> float:
    """Return (sinh r - r)/r³ for |r| ≤ ½ log 2 from r² and r⁴, as `even_tail` does."""
    first = 1.0 / 6.0 + square * (1.0 / 120.0)
    second = 1.0 / 5040.0 + square * (1.0 / 362880.0)
    third = 1.0 / 39916800.0 + square * (1.0 / 6227020800.0)
    return (first + fourth * second) + fourth * fourth * third


@helper
def opposite_exponentials(x: float) -> tuple[float, float]:
    """Return eˣ and e⁻ˣ within 1 ulp for |x| ≤ 500; beyond, those of ±500.

    They are the sum and the difference of cosh and sinh, so two cost little more than one.

    Examples
    --------
    >>> print(*opposite_exponentials(2.0), *opposite_exponentials(0.0))
    7.38905609893065 0.1353352832366127 1.0 1.0
    """
    inside = np.float64(MODEST if x > MODEST else (-MODEST if x < -MODEST else x))
    shifted = np.float64(inside * LOG2_E + ROUNDER)
    k = shifted - ROUNDER
    r = (inside - k * LN2_HIGH) - k * LN2_LOW
    square = r * r
    fourth = square * square
    even, odd = square * even_tail(square, fourth), r * square * odd_tail(square, fourth)
    up, down = np.float64(1.0 + (r + (even + odd))), np.float64(1.0 + ((even - odd) - r))
    # Neither is near the end of the range: adding k to the exponent is multiplying by 2ᵏ.
    exponent = np.int64(shifted.view(np.int64) << 52)
    up_bits, down_bits = up.view(np.int64) + exponent, down.view(np.int64) - exponent
    return np.int64(up_bits).view(np.float64), np.int64(down_bits).view(np.float64)


@helper
def logarithm(x: float) -> float:
    """Return log x within 1 ulp, subnormal x included; -infinity at 0, nan below.

    log x = k log 2 + log(1 + f) with √½ ≤ 1 + f < √2, and by s = f / (2 + f)
    log(1 + f) = f - f²/2 + s (f²/2 + 2s²/3 + 2s⁴/5 + ...), where s² < 0.03 needs 11 terms.

    Examples
    --------
    >>> print(logarithm(10.0), logarithm(1.0), logarithm(0.0))
    2.302585092994046 0.0 -inf
    """
    positive = x if 0.0 < x < np.inf else 1.0  # nan fails every comparison
    tiny = positive < LEAST_NORMAL
    normal = np.float64(positive * TWO_54 if tiny else positive)
    bits = normal.view(np.int64)
    exponent = (bits - ROOT_HALF_BITS) & EXPONENT_BITS
    f = np.int64(bits - exponent).view(np.float64) - 1.0
    k = np.float64((exponent >> 52) - (54 if tiny else 0))
    s = f / (2.0 + f)
    z = s * s
    series = ((2.0 / 23.0 * z + 2.0 / 21.0) * z + 2.0 / 19.0) * z + 2.0 / 17.0
    series = (((series * z + 2.0 / 15.0) * z + 2.0 / 13.0) * z + 2.0 / 11.0) * z + 2.0 / 9.0
    series = ((series * z + 2.0 / 7.0) * z + 2.0 / 5.0) * z + 2.0 / 3.0
    half_square = 0.5 * f * f
    tail = s * (half_square + z * series) + k * LN2_LOW
    inside = k * LN2_HIGH - ((half_square - tail) - f)
    return inside if 0.0 < x < np.inf else (-np.inf if x == 0.0 else (x if x > 0.0 else np.nan))


def sqrt(x: float) -> float:
    """Return √x for x >= 0, without a side effect.

    Numba would call the C library's sqrt, which may set errno. The compiler would then compute it
    in every round, also where nobody uses it. The instruction itself is exact on every IEEE
    machine.
    """
    return math.sqrt(x)


@compiled_form_of(sqrt)
def _emit_sqrt(x: types.Type) -> Emission:
    def generate(site: Site, value: ir.Value) -> ir.Value:
        wide = site.context.cast(site.builder, value, x, types.float64)
        instruction = site.builder.module.declare_intrinsic("llvm.sqrt", [ir.DoubleType()])
        return site.builder.call(instruction, [wide])

    return types.float64, generate


@helper
def normal_density(z: float) -> float:
    """Return φ(z).

    Examples
    --------
    >>> print(f"{normal_density(1.0):.6f}")
    0.241971
    """
    return PER_ROOT_TWO_PI * exponential(-0.5 * z * z)


@helper
def normal_distribution(z: float) -> float:
    """Return Φ(z), to 13 digits in either tail.

    Examples
    --------
    >>> print(f"{normal_distribution(1.0):.6f} {normal_distribution(-10.0):.6e}")
    0.841345 7.619853e-24
    """
    size = abs(z)
    density = normal_density(size)
    if size > TAIL:
        beyond = density / _mills_fraction(size)
        return beyond if z < 0.0 else 1.0 - beyond
    inside = density * _odd_series(size)
    return 0.5 - inside if z < 0.0 else 0.5 + inside


@helper
def _odd_series(z: float) -> float:
    """Return z + z³/3 + z⁵/(3·5) + ...: the area from 0 to z in units of φ(z)."""
    term = z
    total = z
    for k in range(1, SERIES_TERMS):
        term *= z * z / (2 * k + 1)
        total += term
    return total


@helper
def _mills_fraction(z: float) -> float:
    """Return z + 1/(z + 2/(z + 3/(z + ...))): φ(z) over the tail beyond z."""
    fraction = z
    for k in range(FRACTION_TERMS, 0, -1):
        fraction = z + k / fraction
    return fraction
