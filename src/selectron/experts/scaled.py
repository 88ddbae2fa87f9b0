"""Positive numbers of any size: a mantissa in [1, 2) and a power of two, kept apart.

A weight that gets no share can fall to e^-1000000 and rise again. As mantissa · 2^exponent a weight
keeps all 53 bits on the way, and needs no logarithm. Zero has mantissa 0.
"""

import numpy as np

from selectron.arrays import Indices, Vector
from selectron.numeric.elementary import LN2_HIGH, LN2_LOW, LOG2_E, exponential, jitable, logarithm

MANTISSA_BITS = np.int64(0x000FFFFFFFFFFFFF)
ONE_BITS = np.int64(0x3FF0000000000000)
LOWEST = -(2**62)  # below every exponent


def plain_numbers(mantissas: Vector, exponents: Indices) -> Vector:
    """Return the numbers as plain ones, which are 0 where they are too small."""
    return np.ldexp(mantissas, exponents.clip(-2000, 1000).astype(np.int32))


@jitable
def power_of_two(k: int) -> float:
    """Return 2^k for k ≤ 0 (a greater k counts as 0), and 0 where that is no normal number."""
    return np.int64((min(max(k, -1023), 0) + 1023) << 52).view(np.float64)


@jitable
def split(value: float) -> tuple[float, int]:
    """Return mantissa and exponent of a normal number > 0, or of 0."""
    bits = np.float64(value).view(np.int64)
    mantissa = np.int64((bits & MANTISSA_BITS) | ONE_BITS).view(np.float64)
    exponent = int(bits >> 52) - 1023
    return (mantissa, exponent) if value > 0.0 else (0.0, 0)


@jitable
def scaled_exponential(x: float) -> tuple[float, int]:
    """Return e^x, x ≤ 0, as mantissa and exponent: exact to an ulp also where e^x is 0."""
    inside = max(x, -1e12)
    k = np.floor(inside * LOG2_E + 0.5)
    mantissa, exponent = split(exponential((inside - k * LN2_HIGH) - k * LN2_LOW))
    return mantissa, exponent + int(k)


@jitable
def log_scaled(mantissa: float, exponent: int) -> float:
    return logarithm(mantissa) + (exponent * LN2_HIGH + exponent * LN2_LOW)


@jitable
def align(mantissas: Vector, exponents: Indices, out: Vector) -> int:
    """Write all numbers at the largest exponent, which is returned; tiny ones become 0."""
    largest = LOWEST
    for i in range(len(mantissas)):
        largest = max(largest, int(exponents[i]) if mantissas[i] > 0.0 else LOWEST)
    for i in range(len(mantissas)):
        out[i] = mantissas[i] * power_of_two(exponents[i] - largest)
    return largest
