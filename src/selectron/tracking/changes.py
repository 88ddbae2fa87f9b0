"""Notice that a concept has changed: a learner's mistakes of late are too many to be chance.

The last mistakes of a learner stand in a ring. Every label compares the newest 8, 12, 18, … of them
with all that are older. Where the newest are worse by more than `bound` standard deviations, the
older labels are of another concept and count no more.
"""

from typing import NamedTuple

import numpy as np

from selectron.arrays import Vector
from selectron.compiler.verbs import helper
from selectron.numeric.elementary import sqrt
from selectron.protocol import constants, flaw

FEWEST = 8  # labels on either side of a change
NEVER = 0.0  # the bound of a learner that does not watch


class Mistakes(NamedTuple):
    """Whether the learner was wrong at each of its last labels, in a ring."""

    ring: Vector  # 1 for a mistake, else 0
    bound: float  # standard deviations
    end: int  # where the next label is written
    size: int  # how many labels count, the newest ones


def no_mistakes(room: int, bound: float) -> Mistakes:
    """Begin with room for so many labels."""
    return Mistakes(np.zeros(room), float(bound), 0, 0)


@helper
def unread(x: Vector) -> float:
    """Return 0, or NaN for a row that cannot be read: NaN must reach the margin."""
    total = 0.0
    for i in range(len(x)):
        total += 0.0 * x[i]
    return total


@helper
def place_of(mistakes: Mistakes, age: int) -> int:
    """Return where the label of this age stands; the newest has age 0."""
    place = mistakes.end - 1 - age
    return place if place >= 0 else place + len(mistakes.ring)


@helper
def noted(mistakes: Mistakes, mistaken: bool) -> Mistakes:
    """Write the next label down; the oldest leaves where there is no more room."""
    room = len(mistakes.ring)
    mistakes.ring[mistakes.end] = 1.0 if mistaken else 0.0
    end = mistakes.end + 1
    return mistakes._replace(end=0 if end == room else end, size=min(mistakes.size + 1, room))


@helper
def size_since_change(mistakes: Mistakes) -> int:
    """Return how many of the newest labels are of the present concept: all, if none has changed."""
    size, kept, worst = mistakes.size, mistakes.size, mistakes.bound
    if worst == NEVER:
        return size
    total = 0.0
    for age in range(size):
        total += mistakes.ring[place_of(mistakes, age)]
    share = (total + 1.0) / (size + 2.0)
    late, newest, age = 0.0, FEWEST, 0
    while newest + FEWEST <= size:
        while age < newest:
            late += mistakes.ring[place_of(mistakes, age)]
            age += 1
        older = size - newest
        deviation = sqrt(share * (1.0 - share) * (1.0 / newest + 1.0 / older))
        worse = (late / newest - (total - late) / older) / deviation
        if worse > worst:
            worst, kept = worse, newest
        newest += newest // 2
    return kept


@flaw.of(Mistakes)
def mistakes_flaw(mistakes: Mistakes) -> str:
    room = len(mistakes.ring)
    inside = 0 <= mistakes.end < room and 0 <= mistakes.size <= room
    return "" if inside else f"{mistakes.size} labels up to {mistakes.end} in a ring of {room}"


constants.of(Mistakes)(lambda mistakes: ("bound",))
