"""Hindsight comparators: the best separator that a bound may be held against.

Every bound here trades the length of u, at margin one, against its hinge losses. Soft-margin
separators trace that frontier as C varies, so with their directions at every length the least
bound is come close to.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from selectron.arrays import Matrix, Vector

COSTS = np.logspace(-4, 6, 21)
LENGTHS = np.logspace(-4, 4, 41)
LONG = 1000  # rounds of a separator; of many classes they grow with the cost, in vain if they last
FINE = np.logspace(-0.2, 0.2, 21)  # between one length and its neighbours


def directions(X: Any, signs: Vector) -> Iterator[Vector]:
    """Yield separators through the origin, from the mean example to the largest margin."""
    mean = np.asarray(X.T @ signs).reshape(-1)
    if mean.any():
        yield mean
    if len(np.unique(signs)) < 2:
        return
    yield from _soft_margins(X, signs, loss="hinge")


def class_directions(X: Any, labels: Vector, n_classes: int) -> Iterator[Vector]:
    """Yield prototypes, side by side as one vector: those of the mean, and of [CS01]."""
    from scipy.sparse import csr_array, vstack  # noqa: PLC0415

    K, d = n_classes, X.shape[1]
    sums = np.asarray(X.T @ (labels[:, np.newaxis] == np.arange(K))).T
    mean: Vector = (sums - sums.mean(axis=0)).reshape(-1)
    if mean.any():
        yield mean
    # A row of zeros loses the same under every u, and lets a class without an update take part.
    rows = csr_array(vstack([X, csr_array((K, d))]))
    named = np.append(labels, np.arange(float(K)))
    yield from _soft_margins(rows, named, multi_class="crammer_singer")


def _soft_margins(X: Any, labels: Vector, **form: str) -> Iterator[Vector]:
    import warnings  # noqa: PLC0415

    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415
    from sklearn.svm import LinearSVC  # noqa: PLC0415 - costs seconds

    for cost in COSTS:
        machine = LinearSVC(C=cost, fit_intercept=False, random_state=0, **form)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # any u gives a valid bound
            machine.fit(X, labels)
        if machine.coef_.any():
            yield machine.coef_.reshape(-1)
        if form.get("multi_class") and machine.n_iter_ > LONG:
            return


def simplex_comparator(X: Any, signs: Vector, target_margin: float) -> Vector:
    """Return the u of the simplex with the least total hinge loss: a linear program."""
    from scipy.optimize import linprog  # noqa: PLC0415
    from scipy.sparse import csr_array, hstack, identity  # noqa: PLC0415

    n, d = X.shape
    # minimise Σ ξ subject to ξ_t >= γ - y_t u.x_t, ξ >= 0, u in the simplex
    signed = csr_array(X).multiply(signs[:, np.newaxis])
    constraints: Any = hstack([-signed, -identity(n)])
    found: Any = linprog(
        np.concatenate([np.zeros(d), np.ones(n)]),
        A_ub=constraints.tocsr(),
        b_ub=np.full(n, -target_margin),
        A_eq=np.concatenate([np.ones(d), np.zeros(n)])[np.newaxis],
        b_eq=np.ones(1),
    )
    u = np.clip(found.x[:d], 0.0, None) if found.x is not None else np.full(d, 1.0 / d)
    weights: Vector = u / u.sum()
    return weights


def given_comparator(comparator: Any, d: int, n_classes: int = 2) -> Vector:
    """Return the comparator of a user as d weights, of more than two classes a row of them each."""
    given = np.asarray(comparator, float)
    u: Vector = given.reshape(-1)
    if n_classes > 2 and given.shape != (n_classes, d):
        raise ValueError(
            f"the comparator has shape {given.shape}, and the update rule sees {d} features of "
            f"{n_classes} classes: give a row for each class, the intercept last"
        )
    if n_classes == 2 and len(u) != d:
        raise ValueError(
            f"the comparator has {len(u)} weights and the update rule sees {d} features: give one "
            "for each, the intercept last"
        )
    if not (np.isfinite(u).all() and u.any()):
        raise ValueError(f"the comparator must be finite and not 0, got {comparator!r}")
    return u


def on_simplex(u: Vector, *, balanced: bool) -> Vector:
    """Check that u is a distribution; for balanced rows, make one of any u with |u|₁ <= 1."""
    spare = 1.0 - float(np.abs(u).sum())
    if balanced and spare > -1e-9:
        rest = max(spare, 0.0) / (2 * len(u))
        return np.concatenate([np.maximum(u, 0.0) + rest, np.maximum(-u, 0.0) + rest])
    if balanced or (u < 0.0).any() or abs(spare) > 1e-9:
        wanted = "absolute weights that sum to 1 at most" if balanced else "a distribution"
        raise ValueError(f"[CBGZ06] Theorem 4 compares with {wanted}, got {u.tolist()}")
    return u


def hinge_losses(X: Any, signs: Vector, u: Vector, target_margin: float = 1.0) -> Vector:
    losses: Vector = np.maximum(0.0, target_margin - signs * np.asarray(X @ u).reshape(-1))
    return losses


def inverse_root(A: Matrix) -> Matrix:
    values, vectors = np.linalg.eigh(A)
    root: Matrix = (vectors / np.sqrt(values)) @ vectors.T
    return root
