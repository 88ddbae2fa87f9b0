"""Handwriting as tables of sixteen numbers, and pictures of which there are few."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Matrix, Vector
from selectron.reproduce.default.family_problems import Problem
from selectron.reproduce.harness.problems import (
    Classes,
    Flags,
    data_file,
    fashion,
    read_pixels,
    small_digits,
)

Kinds = NDArray[np.int8] | NDArray[np.int64]

SIDE = 16  # pixels of a side of USPS
FEW = 2000  # rows of a problem with few pictures
PAIRS_OF_MOMENTS = ((4, 9), (3, 5), (7, 9), (2, 3), (5, 8), (1, 4))
PAIRS_OF_BLOCKS = ((3, 5), (4, 9), (8, 9), (2, 7))
PAIRS_OF_PIXELS = ((2, 8), (3, 8), (5, 6))
DIGITS_IN_BLOCKS = (6, 9)
PAIRS_OF_CLOTHES = ((0, 3), (2, 3), (3, 6), (4, 6), (5, 9))


def handwriting() -> list[Problem]:
    """Return digits as sixteen numbers each; those of USPS where its file is."""
    X, classes = small_digits()
    means = blocks(X.reshape(-1, 8, 8))
    found = [Problem.of(f"digits {k} v all, blocks", means, classes == k) for k in DIGITS_IN_BLOCKS]
    if data_file("usps.npz") is None:
        return found
    pixels, names = usps()
    kinds = (
        ("moments", moments(pixels), PAIRS_OF_MOMENTS),
        ("blocks", blocks(pixels), PAIRS_OF_BLOCKS),
    )
    return found + [
        _pair(f"usps {a} v {b}, {word}", rows, names, a, b)
        for word, rows, pairs in kinds
        for a, b in pairs
    ]


def few_pictures() -> list[Problem]:
    """Return pairs of clothes, and of digits where USPS is, with few rows each."""
    X, classes = fashion()
    found = [_pair(f"fashion {a} v {b}, few", X, classes, a, b) for a, b in PAIRS_OF_CLOTHES]
    if data_file("usps.npz") is None:
        return found
    pixels, names = usps()
    rows = pixels.reshape(len(pixels), -1)
    return found + [_pair(f"usps {a} v {b}", rows, names, a, b) for a, b in PAIRS_OF_PIXELS]


def _pair(name: str, X: Matrix, classes: Kinds, a: int, b: int) -> Problem:
    either = np.flatnonzero(np.isin(classes, (a, b)))
    few = np.random.default_rng([a, b]).permutation(either)[:FEW]
    return Problem.of(name, X[few], classes[few] == a)


@cache
def usps() -> tuple[Matrix, Classes]:
    """Read the pictures of USPS, 16 x 16 shades in [0, 1], and their classes."""
    pixels, classes = read_pixels("usps.npz")
    return pixels.reshape(-1, SIDE, SIDE) / 2000.0, classes.astype(int)


def blocks(pictures: Matrix) -> Matrix:
    """Return the mean shades of 4 x 4 blocks of each picture."""
    n, side, _ = pictures.shape
    step = side // 4
    means: Matrix = pictures.reshape(n, 4, step, 4, step).mean(axis=(2, 4)).reshape(n, -1)
    return means


def moments(pictures: Matrix, dark: float = 0.5) -> Matrix:
    """Return position and size, ink, moments and edges of each picture, as whole numbers to 15.

    They are of the kind by which letters were once described to a classifier.
    """
    return np.array([_moments(picture > dark) for picture in pictures])


def _moments(ink: Flags) -> Vector:
    if not ink.any():
        return np.zeros(16)
    y, x = np.nonzero(ink)
    left, top = x.min(), y.min()
    width, height = x.max() - left + 1, y.max() - top + 1
    u, v = (x - left) / width - 0.5, (y - top) / height - 0.5
    across = ink & ~np.pad(ink, ((0, 0), (1, 0)))[:, :-1]
    down = ink & ~np.pad(ink, ((1, 0), (0, 0)))[:-1]
    rows_of_edges, columns_of_edges = np.nonzero(across)[0], np.nonzero(down)[1]
    side = len(ink)
    shares = [
        (left + width / 2) / side, (top + height / 2) / side, width / side, height / side,
        ink.mean() * 2, u.mean() + 0.5, v.mean() + 0.5, 6 * (u * u).mean(), 6 * (v * v).mean(),
        4 * (u * v).mean() + 0.5, 8 * (u * u * v).mean() + 0.5, 8 * (u * v * v).mean() + 0.5,
        across.sum() / height / 4, rows_of_edges.mean() / side,
        down.sum() / width / 4, columns_of_edges.mean() / side,
    ]  # fmt: skip
    whole: Vector = np.clip(np.rint(15 * np.array(shares)), 0, 15)
    return whole
