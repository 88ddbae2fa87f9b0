"""Share between experiments how they run, what they read, what they count and what they show."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

Key = TypeVar("Key")
Value = TypeVar("Value")
Labels = list[int | None]  # labels to each level, or of each run; None where it was not reached


def first_passages(
    errors: Iterable[tuple[Value, float]], levels: Sequence[float]
) -> list[Value | None]:
    """Return the labels, or what else was counted, when the error was first at most each level.

    Parameters
    ----------
    errors : iterable of (labels so far, error now)
        No more of it is consumed than the lowest level needs: a step may cost seconds.
    levels : sequence of float
        They fall.
    """
    reached: list[Value | None] = []
    for labels, now in errors:
        while len(reached) < len(levels) and now <= levels[len(reached)]:
            reached.append(labels)
        if len(reached) == len(levels):
            break
    return reached + [None] * (len(levels) - len(reached))


class Reach(NamedTuple):
    """The mean and the deviation over the runs that reached an error, and the share that did."""

    mean: float | None
    sd: float | None
    reach: float

    @classmethod
    def of(cls, labels: Sequence[int | None]) -> "Reach":
        there = [n for n in labels if n is not None]
        share = len(there) / len(labels)
        return (
            cls(float(np.mean(there)), float(np.std(there)), share)
            if there
            else cls(None, None, share)
        )


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Collect the values of each key; keys and values keep their order."""
    groups: dict[Key, list[Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups
