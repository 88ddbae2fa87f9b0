"""Numbers, arrays and states that users hand in: read, or refused by name."""

from collections.abc import Callable
from math import inf, nan
from reprlib import repr as short_repr
from typing import Any, SupportsFloat, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from selectron.arrays import Indices, Vector

State = dict[str, Any]  # arrays and numbers by name, as `state()` returns them
NORMAL = 1e-6  # far above what rounding leaves, far below what damage does


def as_float(value: object) -> float:
    """Return a number as a float; nan for text, for no number, and for one too large."""
    if isinstance(value, str | bytes | bytearray):
        return nan
    try:
        return float(cast(SupportsFloat, value))
    except (TypeError, ValueError, OverflowError):
        return nan


def read_array(name: str, values: ArrayLike | None, remedy: str) -> NDArray[np.float64]:
    """Return an array of floats in the order of C, a number as one of length 1."""
    try:
        return np.ascontiguousarray(cast(ArrayLike, values), dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} is {short_repr(values)}; {remedy}") from None


def field(state: State, name: str) -> Any:
    """Return a field of a state, or say that it is missing."""
    if not isinstance(state, dict):
        raise ValueError(f"a state is a dict, got {short_repr(state)}; pass what state() returned")
    if name not in state:
        raise ValueError(f"the state has no {name!r}; pass what state() returned")
    return state[name]


def field_length(state: State, name: str) -> int:
    """Return how many entries a field has, which is the number of experts."""
    value = field(state, name)
    if not (isinstance(value, list | tuple | np.ndarray) and np.shape(value)[:1] > (0,)):
        raise _damaged(name, f"is {short_repr(value)} and has no entry an expert")
    return len(value)


def field_number(state: State, name: str, above: float, most: float) -> float:
    """Return a number that is greater than `above` and at most `most`."""
    value = field(state, name)
    number = as_float(value)
    if not above < number <= most:
        raise _damaged(name, f"is {short_repr(value)}")
    return number


def restore(into: Vector | Indices, state: State, name: str, least: float = 0.0) -> None:
    """Write a field into an array of the same shape; its numbers are finite, from `least` on."""
    value = field(state, name)
    try:
        found = np.asarray(value, dtype=np.float64 if into.dtype.kind == "f" else None)
    except (TypeError, ValueError, OverflowError):
        raise _damaged(name, f"is {short_repr(value)}, which is not numbers") from None
    if found.shape != into.shape and not found.size == into.size == 0:  # as a list, (0, n) is []
        raise _damaged(name, f"has shape {found.shape} instead of {into.shape}")
    if into.dtype.kind == "i" and found.size and found.dtype.kind != "i":
        raise _damaged(name, f"is {short_repr(value)}, which is not whole numbers")
    bad = found[~((found >= least) & (found < inf))]
    if len(bad):
        raise _damaged(name, f"holds {bad[0]}")
    into[...] = found.reshape(into.shape)


def check_shares(name: str, shares: Callable[[], Vector]) -> None:
    """Refuse a state whose weights are no distribution: its fields do not belong together."""
    with np.errstate(all="ignore"):
        found = shares()
        total = float(found.sum())
    if not ((found >= 0).all() and abs(total - 1) <= NORMAL):
        raise _damaged(name, f"add up to {total} instead of 1")


def _damaged(name: str, what: str) -> ValueError:
    return ValueError(f"{name!r} of the state {what}; it is damaged: pass what state() returned")
