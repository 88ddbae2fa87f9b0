"""Images for development: fashion-MNIST, and the digits that come with scikit-learn."""

import gzip
from pathlib import Path

import numpy as np

from selectron.arrays import Matrix, Signs
from selectron.experiments.default_families_problem import Problem, problem

FASHION = Path("/usr/share/datasets/fashion-mnist")
PIXELS = 28 * 28
# The errors to be reached are set by hand: cross-validation would take minutes.
PAIRS = {(0, 1): 0.03, (2, 4): 0.2, (5, 7): 0.12, (7, 9): 0.1}
AGAINST_ALL = {(0,): 0.06, (1,): 0.03, (8,): 0.04, (1, 4, 7): 0.14}
DIGITS_AGAINST_ALL = {(3,): 0.04, (2, 6, 8): 0.12}
# The class on which old SO-auto ends nearest to where the earlier study saw it end.
RARE_CLASS, RARE_SHARE, RARE_ERROR = 8, 0.02, 0.012


def fashion(folder: Path = FASHION) -> tuple[Matrix, Signs]:
    """Read the 60,000 rows of the training part, and their classes."""
    images, labels = (folder / f"train-{kind}-ubyte.gz" for kind in ("images-idx3", "labels-idx1"))
    if not images.is_file():
        raise ValueError(
            f"{images} is missing: install fashion-MNIST with apt-get install dataset-fashion-mnist"
        )
    pixels = np.frombuffer(gzip.decompress(images.read_bytes()), np.uint8, offset=16)
    classes = np.frombuffer(gzip.decompress(labels.read_bytes()), np.uint8, offset=8)
    return pixels.reshape(-1, PIXELS) / np.float32(255.0), classes.astype(np.int8)


def images() -> list[Problem]:
    X, classes = fashion()
    digits = _digits()
    return [
        *(_pair(X, classes, pair, error) for pair, error in PAIRS.items()),
        *(_against_all("fashion", X, classes, some, e) for some, e in AGAINST_ALL.items()),
        *(_against_all("digits", *digits, some, e) for some, e in DIGITS_AGAINST_ALL.items()),
    ]


def rare_fashion() -> Problem:
    """One class against all, thinned to one row in fifty."""
    X, classes = fashion()
    rng = np.random.default_rng(RARE_CLASS)
    rare, others = np.flatnonzero(classes == RARE_CLASS), np.flatnonzero(classes != RARE_CLASS)
    others = rng.permutation(others)[:9800]
    kept = rng.permutation(rare)[: round(len(others) * RARE_SHARE / (1.0 - RARE_SHARE))]
    chosen = rng.permutation(np.concatenate([kept, others]))
    return problem("fashion 2 %", X[chosen], classes[chosen] == RARE_CLASS, RARE_ERROR)


def _pair(X: Matrix, classes: Signs, pair: tuple[int, int], error: float) -> Problem:
    chosen = np.isin(classes, pair)
    name = f"fashion {pair[0]} v {pair[1]}"
    return problem(name, X[chosen], classes[chosen] == pair[0], error)


def _against_all(
    source: str, X: Matrix, classes: Signs, positive: tuple[int, ...], error: float
) -> Problem:
    rng = np.random.default_rng(len(positive))
    chosen = rng.permutation(len(classes))[:12_000]
    name = f"{source} {''.join(map(str, positive))} v all"
    return problem(name, X[chosen], np.isin(classes[chosen], positive), error)


def _digits() -> tuple[Matrix, Signs]:
    from sklearn.datasets import load_digits  # noqa: PLC0415 - costs half a second

    X, classes = load_digits(return_X_y=True)
    return X, classes.astype(np.int8)
