"""Numbers that users hand in: read as floats, or refused with their name and the remedy."""

from collections.abc import Callable
from math import inf, isfinite, nan
from reprlib import repr as short_repr
from typing import Any

from selectron.experts.readings import as_float


def read_number(name: str, value: Any, remedy: str, least: float = 0.0, most: float = inf) -> float:
    """Return a finite number between two bounds; text that looks like one is none."""
    number = as_float(value)
    if not (isfinite(number) and least <= number <= most):
        raise ValueError(f"{name} is {short_repr(value)}; {remedy}")
    return number


def read_clock(clock: Callable[[], float]) -> float:
    """Return what the clock says now, which may be any number."""
    told = clock() if callable(clock) else nan
    now = as_float(told)
    if not isfinite(now):
        what = f"clock() is {told!r}" if callable(clock) else f"clock is {clock!r}"
        raise ValueError(
            f"{what}; give a function that tells the time in seconds, such as time.monotonic"
        )
    return now
