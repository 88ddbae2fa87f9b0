"""Synthetic tables for development: what real ones are feared for, one fear each."""

from collections.abc import Callable

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.experiments.default_families_images import rare_fashion
from selectron.experiments.default_families_problem import Flags, Problem, problem

ROWS, WIDTH = 6000, 20
SEED = 2006
# Set so that old SO-auto alone needs about as many labels on these sets as in the earlier study.
UNITS = 0.4  # the deviation of the features' units, in powers of ten
N_RARE = 4

Rows = Callable[[np.random.Generator], Matrix]


def synthetic() -> list[Problem]:
    """Return the sets; those with a rare class, whose share is in the name, come last."""
    rare = [_rare(share) for share in (0.01, 0.03, 0.05)]
    return [*_by_rows(), _clusters(), _nonlinear(), *rare, rare_fashion()]


def _in_units(rng: np.random.Generator, X: Matrix) -> Matrix:
    """Give each feature a unit of its own, most of them within a few times of each other."""
    scaled: Matrix = X * 10.0 ** (UNITS * rng.standard_normal(X.shape[1]))
    return scaled


def _wild(rng: np.random.Generator) -> Matrix:
    """Each feature has a unit of its own, and an offset in that unit."""
    scale = 10.0 ** rng.uniform(-3.0, 3.0, WIDTH)
    return scale * (rng.standard_normal((ROWS, WIDTH)) + rng.normal(0.0, 3.0, WIDTH))


def _heavy(rng: np.random.Generator) -> Matrix:
    return rng.standard_t(1.5, (ROWS, WIDTH)) * 10.0 ** rng.uniform(-1.0, 1.0, WIDTH)


def _lognormal(rng: np.random.Generator) -> Matrix:
    spread = rng.uniform(0.5, 1.5, WIDTH)
    return np.exp(spread * rng.standard_normal((ROWS, WIDTH)) + rng.normal(0.0, 2.0, WIDTH))


def _correlated(rng: np.random.Generator) -> Matrix:
    """Five causes shine through twenty features."""
    causes = rng.standard_normal((ROWS, 5)) @ rng.standard_normal((5, WIDTH))
    return _in_units(rng, causes + 0.5 * rng.standard_normal((ROWS, WIDTH)))


def _binary(rng: np.random.Generator) -> Matrix:
    return (rng.random((ROWS, 2 * WIDTH)) < rng.uniform(0.05, 0.5, 2 * WIDTH)).astype(float)


def _mixed(rng: np.random.Generator) -> Matrix:
    """Counts, amounts, shares and flags side by side."""
    quarter = WIDTH // 4
    return np.hstack(
        [
            rng.poisson(rng.uniform(1.0, 20.0, quarter), (ROWS, quarter)),
            np.exp(rng.normal(5.0, 1.0, (ROWS, quarter))),
            rng.beta(2.0, 5.0, (ROWS, quarter)),
            rng.random((ROWS, quarter)) < rng.uniform(0.1, 0.5, quarter),
        ]
    ).astype(float)


KINDS: dict[str, Rows] = {
    "wild scales": _wild,
    "heavy tails": _heavy,
    "lognormal": _lognormal,
    "correlated": _correlated,
    "binary": _binary,
    "mixed": _mixed,
}


def _by_rows() -> list[Problem]:
    """Cut each kind of rows by a plane in ranks' units, so that no feature decides alone."""
    found = []
    for k, (name, rows) in enumerate(KINDS.items()):
        rng = np.random.default_rng([SEED, k])
        X = rows(rng)
        found.append(problem(name, X, _halves(_robust(X) @ rng.standard_normal(X.shape[1]))))
    return found


def _robust(X: Matrix) -> Matrix:
    """Return the features over their usual size, cut at five of it."""
    middle = np.median(X, axis=0)
    size = np.maximum(np.mean(np.abs(X - middle), axis=0), 1e-12)
    return np.clip((X - middle) / np.minimum(size, _half_range(X)), -5.0, 5.0)


def _half_range(X: Matrix) -> Vector:
    low, high = np.quantile(X, [0.16, 0.84], axis=0)
    return np.where(high > low, (high - low) / 2.0, np.inf)


def _halves(score: Vector) -> Flags:
    upper: Flags = score > np.median(score)
    return upper


def _clusters() -> Problem:
    """Twelve clouds of different weight, each of one class."""
    rng = np.random.default_rng([SEED, 20])
    n_clouds = 12
    cloud = rng.choice(n_clouds, ROWS, p=rng.dirichlet(np.full(n_clouds, 2.0)))
    centres = 2.0 * rng.standard_normal((n_clouds, WIDTH))
    side = np.arange(n_clouds) % 3 == 0
    X = centres[cloud] + rng.standard_normal((ROWS, WIDTH))
    return problem("clusters", _in_units(rng, X), side[cloud])


def _nonlinear() -> Problem:
    """A plane bent by products of features, and one label in twenty at random."""
    rng = np.random.default_rng([SEED, 21])
    X = rng.standard_normal((ROWS, WIDTH))
    score = X @ rng.standard_normal(WIDTH) + 0.7 * X[:, 0] * X[:, 1] + 0.7 * X[:, 2] ** 2
    positive = _halves(score) ^ (rng.random(ROWS) < 0.05)
    return problem("nonlinear, noisy", _in_units(rng, X), positive)


def _rare(share: float) -> Problem:
    """A rare class in a cloud of its own, four deviations from the others."""
    rng = np.random.default_rng([SEED, round(100 * share)])
    X = rng.standard_normal((ROWS, WIDTH))
    rare = rng.random(ROWS) < share
    towards = rng.standard_normal(WIDTH)
    X[rare] += 4.0 * towards / np.linalg.norm(towards)
    return problem(f"rare {share:.0%}", _in_units(rng, X), rare)
