"""Numbers and arrays of numbers that users hand in: read, or refused by name."""

from math import nan
from reprlib import repr as short_repr
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray


def as_float(value: Any) -> float:
    """Return a number as a float; nan for text, for no number, and for one too large."""
    if isinstance(value, str | bytes | bytearray):
        return nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return nan


def read_array(name: str, values: ArrayLike | None, remedy: str) -> NDArray[np.float64]:
    """Return an array of floats in the order of C, a number as one of length 1."""
    try:
        return np.ascontiguousarray(cast(ArrayLike, values), dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} is {short_repr(values)}; {remedy}") from None
