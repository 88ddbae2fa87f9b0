"""Reading a state back: every field there, of its shape, and of numbers that can be."""

from collections.abc import Callable
from math import inf
from reprlib import repr as short_repr
from typing import Any

import numpy as np

from selectron.arrays import Vector
from selectron.experts.readings import as_float

NORMAL = 1e-6  # far above what rounding leaves, far below what damage does


def field(state: dict[str, Any], name: str) -> Any:
    if not isinstance(state, dict):
        raise ValueError(f"a state is a dict, got {short_repr(state)}; pass what state() returned")
    if name not in state:
        raise ValueError(f"the state has no {name!r}; pass what state() returned")
    return state[name]


def field_length(state: dict[str, Any], name: str) -> int:
    """Return how many entries a field has, which is how many experts there are."""
    value = field(state, name)
    if not (isinstance(value, list | tuple | np.ndarray) and np.shape(value)[:1] > (0,)):
        raise _damaged(name, f"is {short_repr(value)} and has no entry an expert")
    return len(value)


def field_number(state: dict[str, Any], name: str, above: float, most: float) -> float:
    """Return a number greater than one bound and not beyond the other."""
    value = field(state, name)
    number = as_float(value)
    if not above < number <= most:
        raise _damaged(name, f"is {short_repr(value)}")
    return number


def restore(into: Any, state: dict[str, Any], name: str, least: float = 0.0) -> None:
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
    """Refuse a state whose weights are no distribution: what it holds does not belong together."""
    with np.errstate(all="ignore"):
        found = shares()
        total = float(found.sum())
    if not ((found >= 0).all() and abs(total - 1) <= NORMAL):
        raise _damaged(name, f"add up to {total} instead of 1")


def _damaged(name: str, what: str) -> ValueError:
    return ValueError(f"{name!r} of the state {what}; it is damaged: pass what state() returned")
