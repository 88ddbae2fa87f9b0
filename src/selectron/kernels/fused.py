"""x·s + total with one rounding, in plain numpy: what the compiled products do in one instruction.

[BM08]: the exact result is a sum of three doubles; rounding the two small ones to odd and adding
them to the large one rounds the whole as if at once.
"""

from typing import Any

import numpy as np

from selectron.arrays import Vector

SPLITTER = 134217729.0  # 2²⁷ + 1 cuts a double into halves whose products are exact


def fused(x: Any, s: Vector, total: Vector) -> Vector:
    """Return x s + total, rounded once to the type of `total`; overflow apart."""
    a, b, c = np.float64(x), s.astype(np.float64), total.astype(np.float64)
    high, low = _product(a, b)
    c_high, c_low = _sum(c, low)
    large, small = _sum(high, c_high)
    tail = _odd(*_sum(c_low, small))
    if total.dtype == np.float64:
        return np.asarray(large + tail)
    return np.asarray(_odd(*_sum(large, tail))).astype(np.float32)


def _product(a: Any, b: Vector) -> tuple[Vector, Vector]:
    p = a * b
    a_high = SPLITTER * a - (SPLITTER * a - a)
    b_high = SPLITTER * b - (SPLITTER * b - b)
    a_low, b_low = a - a_high, b - b_high
    return p, a_low * b_low - (((p - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _sum(a: Any, b: Any) -> tuple[Vector, Vector]:
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _odd(total: Vector, rest: Vector) -> Vector:
    """Round total + rest to odd: where there is a rest, an even last bit gives way towards it."""
    even = np.asarray(total).view(np.int64) & 1 == 0
    moved = np.nextafter(total, np.where(rest > 0.0, np.inf, -np.inf))
    return np.where((rest != 0.0) & even, moved, total)
