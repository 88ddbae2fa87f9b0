"""Ten classes: digits of three kinds and clothes; twenty: news. Streams, and rows to judge by."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Matrix
from selectron.experiments.default_families_images import fashion
from selectron.experiments.newsgroups import newsgroups
from selectron.experiments.ocr_problems import read_pixels

Classes = NDArray[np.int64]

LONGEST, MOST_LABELS, SEED = 20_000, 1_200, 4
ABSENT_ROUNDS, ABSENT_CLASSES = 5_000, 2


class Problem(NamedTuple):
    """Where rows come from, how many judge, and the errors to be reached."""

    name: str
    read: Callable[[], tuple[Any, Classes]]
    n_test: int
    errors: tuple[float, ...]


class Stream(NamedTuple):
    rows: Any  # dense, or CSR
    classes: Classes
    test_rows: Any
    test_classes: Classes


def _pixels(file: str) -> tuple[Matrix, Classes]:
    pixels, classes = read_pixels(file)
    return pixels.astype(np.float32), classes.astype(np.int64)


def _mnist() -> tuple[Matrix, Classes]:
    return _pixels("mnist.npz")


def _usps() -> tuple[Matrix, Classes]:
    return _pixels("usps.npz")


@cache
def _fashion() -> tuple[Matrix, Classes]:
    X, classes = fashion()
    return X, classes.astype(np.int64)


@cache
def _digits() -> tuple[Matrix, Classes]:
    from sklearn.datasets import load_digits  # noqa: PLC0415 - costs half a second

    X, classes = load_digits(return_X_y=True)
    return X, classes.astype(np.int64)


MNIST, USPS, NEWS, FASHION, DIGITS = PROBLEMS = (
    Problem("MNIST", _mnist, 2_000, (0.20, 0.15, 0.12)),
    Problem("USPS", _usps, 2_000, (0.20, 0.15, 0.12, 0.10)),
    Problem("20news", newsgroups, 2_000, (0.50, 0.40, 0.35, 0.30)),
    Problem("fashion (dev)", _fashion, 2_000, (0.35, 0.28, 0.24, 0.20)),
    Problem("digits (dev)", _digits, 500, (0.20, 0.15, 0.10, 0.08)),
)


def draw(problem: Problem, seed: int) -> Stream:
    """Return a stream in an order of its own, and rows that are not in it."""
    X, classes = problem.read()
    order = np.random.default_rng([SEED, seed]).permutation(len(classes))
    test, learnt = np.split(order[: problem.n_test + LONGEST], [problem.n_test])
    rows, test_rows = X[learnt].astype(np.float64), X[test].astype(np.float64)
    return Stream(rows, classes[learnt], test_rows, classes[test])


def draw_late(seed: int) -> tuple[Stream, list[int]]:
    """Return clothes, two classes of which stay away for 5,000 rounds; and those two."""
    stream = draw(FASHION, seed)
    late = np.random.default_rng([SEED, seed, 1]).permutation(10)[:ABSENT_CLASSES]
    stays_away = np.isin(stream.classes, late)
    early = np.flatnonzero(~stays_away)[:ABSENT_ROUNDS]
    rest = np.arange(early[-1] + 1, len(stays_away))
    order = np.concatenate([early, rest])
    return stream._replace(rows=stream.rows[order], classes=stream.classes[order]), late.tolist()
