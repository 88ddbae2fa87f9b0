"""The seven problems of [Mon06], section 4.6.2: handwritten digits, a hold-out, and the folds."""

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Matrix, Signs, Vector

Places = NDArray[np.int64]

HOLD_OUT, MOST_ROWS = 2_000, 12_000
FOLDS = 10
SHADES = 1_000  # USPS has its pixels in thousandths of [-1, 1]


class Digits(NamedTuple):
    """A problem: these digits against those, to an error that [Mon06] chose."""

    name: str
    file: str
    positive: tuple[int, ...]
    negative: tuple[int, ...]  # empty: all others
    error: float


PROBLEMS = (
    Digits("0v1", "mnist.npz", (0,), (1,), 0.01),
    Digits("0vAll", "mnist.npz", (0,), (), 0.05),
    Digits("4v7", "mnist.npz", (4,), (7,), 0.05),
    Digits("6v9", "mnist.npz", (6,), (9,), 0.025),
    Digits("147vAll", "mnist.npz", (1, 4, 7), (), 0.15),
    Digits("USPS 0vAll", "usps.npz", (0,), (), 0.05),
    Digits("USPS 147vAll", "usps.npz", (1, 4, 7), (), 0.1),
)


class Sample(NamedTuple):
    """Rows as whole numbers, whose products are exact in any order; and their lengths."""

    pixels: Matrix
    lengths: Vector
    signs: Signs

    @property
    def rows(self) -> Matrix:
        """The rows as learners see them: of unit length."""
        rows: Matrix = self.pixels / self.lengths[:, np.newaxis]
        return rows

    def part(self, places: Places | slice) -> "Sample":
        return Sample(self.pixels[places], self.lengths[places], self.signs[places])


class Fold(NamedTuple):
    """Which rows to learn from, in their order, and which to judge by."""

    train: Places
    test: Places
    seed: int  # of the coins


def require_files() -> None:
    """Refuse to begin where the data are not."""
    files = sorted({digits.file for digits in PROBLEMS})
    missing = [file for file in files if not (_folder() / file).is_file()]
    if missing:
        raise ValueError(
            f"{' and '.join(missing)} not found in {_folder()}: set SELECTRON_DATA, or --data, to "
            "the folder that has them"
        )


def draw(digits: Digits, seed: int) -> tuple[Sample, Sample]:
    """Return the hold-out for tuning, and the problem itself; they share no row."""
    pixels, classes = read_pixels(digits.file)
    wanted = digits.positive + digits.negative
    places = np.flatnonzero(np.isin(classes, wanted)) if digits.negative else np.arange(len(pixels))
    places = np.random.default_rng([seed, _number(digits)]).permutation(places)[:MOST_ROWS]
    drawn = pixels[places].astype(float)
    signs = np.where(np.isin(classes[places], digits.positive), 1, -1).astype(np.int8)
    whole = Sample(drawn, np.sqrt((drawn * drawn).sum(axis=1)), signs)
    apart = min(HOLD_OUT, len(signs) // 4)
    return whole.part(slice(apart)), whole.part(slice(apart, None))


def folds(
    digits: Digits, n_rows: int, runs: int, seed: int, *, own_order: bool = True
) -> Iterator[Fold]:
    """Yield the folds of each run: rows permuted anew for a run, and once more for each fold.

    Without an order of its own a fold begins with the very rows that others begin with: fifty
    folds are then hardly more than ten streams.
    """
    for run in range(runs):
        rng = np.random.default_rng([seed, _number(digits), n_rows, run])
        parts = np.array_split(rng.permutation(n_rows), FOLDS)
        for k, test in enumerate(parts):
            train = np.concatenate(parts[:k] + parts[k + 1 :])
            order = rng.permutation(train)
            yield Fold(order if own_order else train, test, int(rng.integers(2**31)))


def _number(digits: Digits) -> int:
    return PROBLEMS.index(digits)


def _folder() -> Path:
    return Path(os.environ.get("SELECTRON_DATA", "."))


@cache
def read_pixels(file: str) -> tuple[NDArray[np.int16], NDArray[np.uint8]]:
    """Read MNIST's training rows, or all of USPS, as whole numbers from 0 on."""
    with np.load(_folder() / file) as stored:
        if file == "mnist.npz":
            pixels, classes = stored["x_train"], stored["y_train"]
        else:
            shades = np.concatenate([stored["x_train"], stored["x_test"]])
            pixels = np.rint((shades.astype(float) + 1.0) * SHADES)
            classes = np.concatenate([stored["y_train"], stored["y_test"]])
    return pixels.reshape(len(pixels), -1).astype(np.int16), classes
