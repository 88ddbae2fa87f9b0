"""Streams whose concept drifts: half-spaces on the unit sphere, with some labels flipped."""

from collections.abc import Callable

import numpy as np

from selectron.arrays import Indices, Matrix, Vector
from selectron.streams.files import Stream

Paths = Callable[[np.random.Generator, int, int], Matrix]


def drifting(kind: str, seed: int, *, n: int = 20_000, d: int = 20, noise: float = 0.05) -> Stream:
    """Draw rows and labels -1 or +1 of a concept that drifts, from a seed.

    Rows are uniform on the unit sphere. A label is the side of the concept's half-space, flipped
    with probability `noise`.

    Parameters
    ----------
    kind : str
        "stationary": the concept stays the same; "flips": the concept turns into its opposite every
        500 to 5,000 rounds; "new concepts": another concept is drawn as often; "slow rotation" and
        "fast rotation": the concept turns in a plane, once in 20,000 or in 2,000 rounds; "half
        rotating": the concept is still for the first half, then turns once in 4,000 rounds.

    Examples
    --------
    >>> stream = drifting("flips", seed=0, n=1000, d=5)
    >>> print(stream.name, stream.X.shape, int((stream.y == 1).sum()))
    flips (1000, 5) 486
    """
    if kind not in KINDS:
        raise ValueError(f"unknown kind of drift {kind!r}; known are {', '.join(KINDS)}")
    if n < 1 or d < 2:
        raise ValueError(f"a drifting stream needs n >= 1 rows and d >= 2 features, got {n=}, {d=}")
    if not 0 <= noise < 0.5:
        raise ValueError(f"noise must lie in [0, 0.5), got {noise=}")
    rng = np.random.default_rng(seed)
    concepts = KINDS[kind](rng, n, d)
    X = on_sphere(rng, n, d)
    y = np.where((X * concepts).sum(axis=1) > 0.0, 1, -1)
    y[rng.random(n) < noise] *= -1
    return Stream(X, y, kind)


def on_sphere(rng: np.random.Generator, n: int, d: int) -> Matrix:
    """Draw points of the unit sphere."""
    X: Matrix = rng.standard_normal((n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X


def _pieces(rng: np.random.Generator, n: int) -> Indices:
    """Return for every round the number of its piece, of 500 to 5,000 rounds each."""
    lengths = rng.integers(500, 5001, size=n // 500 + 1)
    return np.repeat(np.arange(len(lengths)), lengths)[:n]


def _still(rng: np.random.Generator, n: int, d: int) -> Matrix:
    return np.repeat(on_sphere(rng, 1, d), n, axis=0)


def _flips(rng: np.random.Generator, n: int, d: int) -> Matrix:
    signs = 1.0 - 2.0 * (_pieces(rng, n) % 2)
    return signs[:, np.newaxis] * on_sphere(rng, 1, d)


def _new_concepts(rng: np.random.Generator, n: int, d: int) -> Matrix:
    pieces = _pieces(rng, n)
    concepts: Matrix = on_sphere(rng, int(pieces[-1]) + 1, d)[pieces]
    return concepts


def _turning(rng: np.random.Generator, angles: Vector, d: int) -> Matrix:
    """Return the concept at each angle, in a plane drawn at random."""
    ahead, aside = on_sphere(rng, 2, d)
    aside -= (ahead * aside).sum() * ahead
    aside /= np.sqrt((aside * aside).sum())
    concepts: Matrix = np.outer(np.cos(angles), ahead) + np.outer(np.sin(angles), aside)
    return concepts


def _rotation(rounds_a_turn: int, still: float = 0.0) -> Paths:
    def path(rng: np.random.Generator, n: int, d: int) -> Matrix:
        moved = np.maximum(np.arange(n) - int(still * n), 0)
        return _turning(rng, 2.0 * np.pi * moved / rounds_a_turn, d)

    return path


KINDS: dict[str, Paths] = {
    "stationary": _still,
    "flips": _flips,
    "new concepts": _new_concepts,
    "slow rotation": _rotation(20_000),
    "fast rotation": _rotation(2_000),
    "half rotating": _rotation(4_000, still=0.5),
}
