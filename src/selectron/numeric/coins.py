"""Coins: random numbers of which number t of seed s is computed from (s, t) alone.

The generator is SplitMix64 of a counter, so there is no state to save: a run that stops after t
rounds goes on with coin t + 1. The arithmetic is that of integers, so the coins are the same on
every machine.
"""

import numpy as np
from numba import njit

from selectron.arrays import Vector
from selectron.compiler.verbs import helper

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_UNIT = 2.0**-53


def coins(seed: int, start: int, count: int) -> Vector:
    """Return coins start, start + 1, ... of this seed: uniform on [0, 1).

    >>> coins(0, 0, 3).round(6).tolist()
    [0.281761, 0.652448, 0.701212]
    >>> bool((coins(0, 1, 2) == coins(0, 0, 3)[1:]).all())
    True
    """
    return toss(seed, start, np.empty(count))


def toss(seed: int, start: int, room: Vector) -> Vector:
    """Fill the room with coins start, start + 1, ... of this seed; return it."""
    with np.errstate(over="ignore"):  # uint64 wraps around, as it should
        key = _scramble((np.uint64(seed) + np.uint64(1)) * _GOLDEN)
        _toss(key, np.uint64(start), room)
    return room


@helper
def _scramble(z: np.uint64) -> np.uint64:
    z = (z ^ (z >> _S30)) * _FIRST
    z = (z ^ (z >> _S27)) * _SECOND
    return z ^ (z >> _S31)


@njit(cache=True)
def _toss(key: np.uint64, start: np.uint64, tossed: Vector) -> None:
    for t in range(len(tossed)):
        z = _scramble((start + np.uint64(t)) * _GOLDEN + key)
        tossed[t] = np.float64(z >> _S11) * _UNIT
