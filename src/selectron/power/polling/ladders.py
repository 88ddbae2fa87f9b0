"""The experts of the poller: intervals that stay, and intervals that grow with the silence."""

from typing import NamedTuple

import numpy as np

from selectron.arrays import Vector

REACHES = (1.0, 4.0, 16.0, 64.0)  # how far an interval may grow; 1: it stays as it is


class Ladders(NamedTuple):
    """One expert an entry: wait as long as nothing has come, within its own bounds."""

    shortest: Vector
    longest: Vector

    def intervals(self, silence: float) -> Vector:
        """Return the interval each expert proposes after so many seconds without an item."""
        return np.minimum(self.longest, np.maximum(self.shortest, silence))


def make_ladders(min_interval: float, max_interval: float) -> Ladders:
    """Put an expert at every doubling from the shortest interval to the longest, and each reach.

    >>> make_ladders(1.0, 4.0).longest.tolist()
    [1.0, 4.0, 2.0, 4.0, 4.0]
    """
    rungs = []
    rung = min_interval
    while rung < max_interval * (1 - 1e-9):
        rungs.append(rung)
        rung *= 2
    rungs.append(max_interval)
    pairs = [(rung, min(max_interval, reach * rung)) for rung in rungs for reach in REACHES]
    shortest, longest = np.array(list(dict.fromkeys(pairs)), dtype=np.float64).T
    return Ladders(shortest.copy(), longest.copy())
