"""Comparators in hindsight: the separator with which a theorem says most about a run.

Every bound here trades the length of a separator u, at margin one, against the hinge losses of u.
Soft-margin separators trace that frontier as C varies. So the least bound is searched for among the
directions of these separators, each at every length.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from selectron.arrays import Matrix, Vector
from selectron.kernels import Gaussian, Kernel, Polynomial
from selectron.kernels.machine import KernelMachine
from selectron.numeric.rows import Dense, Rows

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from selectron.evaluate.trace import Trace

    Sparse = csr_array[np.float64, tuple[int, int]]

COSTS = np.logspace(-4, 6, 21)
LENGTHS = np.logspace(-4, 4, 41)
FINE = np.logspace(-0.2, 0.2, 21)  # from one of the lengths to its neighbours
SPAN = 1e-12  # directions of less than this share of the largest are rounding
LONG = 1000  # iterations: with many classes a fit that takes longer is the last one tried


@dataclass(frozen=True)
class Evidence:
    """The rounds on which the hypothesis changed, as the update rule saw them."""

    X: "Sparse"
    signs: Vector  # with more than two classes, their numbers
    n_classes: int
    max_norm: float
    max_entry: float
    longest: Callable[[float], float]  # the largest p-norm of a row
    n_margin_errors: int
    comparator: ArrayLike | None  # None: search for the best

    @property
    def many(self) -> bool:
        return self.n_classes > 2

    @property
    def reach(self) -> tuple[float, float]:
        """The shortest comparator of margin one, and the largest margin of a unit one."""
        longest = max(self.max_norm, 1e-300)
        return (1.0 + 1e-9) / longest, longest

    def leads(self, u: Vector) -> Vector:
        """Return, for each round, by how much u prefers the right class to the best other one."""
        if not self.many:
            signed: Vector = self.signs * np.asarray(self.X @ u).reshape(-1)
            return signed
        scores = np.asarray(self.X @ u.reshape(self.n_classes, -1).T)
        rounds, right = np.arange(len(scores)), self.signs.astype(np.intp)
        own = scores[rounds, right]
        scores[rounds, right] = -np.inf
        ahead: Vector = own - scores.max(axis=1)
        return ahead

    def candidates(self) -> Iterable[Vector]:
        """Return the user's comparator, or else the directions among which to search."""
        if self.comparator is not None:
            return [given_comparator(self.comparator, self.X.shape[1], self.n_classes)]
        return self.directions(self.X)

    def directions(self, X: "Sparse | Matrix") -> Iterator[Vector]:
        """Return the directions of separators of these rows, which stand for those of the run."""
        if self.many:
            return class_directions(X, self.signs, self.n_classes)
        return directions(X, self.signs)


def gather(trace: "Trace", comparator: ArrayLike | None, *, with_constant: bool) -> Evidence:
    """Collect from a trace what the theorems need; rows get a constant feature on demand."""
    from scipy.sparse import csr_array, hstack  # noqa: PLC0415

    X = _matrix(trace.rows)
    chosen = np.flatnonzero(trace.updated)
    squares = _square_lengths(X)
    extra = 1.0 if with_constant else 0.0
    seen = X[chosen]
    if with_constant:
        seen = csr_array(hstack([seen, csr_array(np.ones((len(chosen), 1)))]))
    machine = trace.learner._started().machine
    if isinstance(machine, KernelMachine):
        if comparator is not None:
            raise ValueError("with a kernel the comparator is searched for: leave it out")
        seen = cast("Sparse", csr_array(in_span(machine, seen)))
        squares = kernel_squares(machine, X)
    state = machine.states.now.update
    return Evidence(
        X=seen,
        signs=trace.signs[chosen].astype(float),
        n_classes=max(2, len(trace.learner.classes_)),
        max_norm=float(np.sqrt(squares.max() + extra)),
        max_entry=float(max(abs(X).max(), extra)),
        longest=lambda p: float((_power(X, p).sum(axis=1).max() + extra) ** (1.0 / p)),
        n_margin_errors=int(getattr(state, "n_margin_errors", 0)),
        comparator=comparator,
    )


def in_span(machine: KernelMachine, X: "Sparse") -> Matrix:
    """Return rows as vectors whose products are the kernel's values: coordinates in their span."""
    values, vectors = np.linalg.eigh(kernel_values(machine, X, X))
    kept = values > SPAN * max(values.max(initial=0.0), 1e-300)
    coordinates: Matrix = vectors[:, kept] * np.sqrt(values[kept])
    return coordinates


def kernel_squares(machine: KernelMachine, X: "Sparse") -> Vector:
    """Return the kernel's value of each row with itself."""
    if callable(machine.choice.kernel):
        rows = (X[t : t + 1] for t in range(X.shape[0]))
        return np.array([kernel_values(machine, row, row)[0, 0] for row in rows])
    lengths = _square_lengths(X)
    return _values(machine.store.kernel, lengths, 2.0 * lengths)


def kernel_values(machine: KernelMachine, X: "Sparse", Y: "Sparse") -> Matrix:
    """Return the kernel's value of every pair of rows."""
    asked = machine.choice.kernel
    if callable(asked):
        both = (X, Y) if machine.sparse else (X.toarray(), Y.toarray())
        return np.asarray(asked(*both), float)
    squares = np.add.outer(_square_lengths(X), _square_lengths(Y))
    return _values(machine.store.kernel, (X @ Y.T).toarray(), squares)


def _values(kernel: Kernel, products: Vector, squares: Vector) -> Vector:
    """Return kernel values from products of rows and the sums of their squared lengths."""
    if isinstance(kernel, Polynomial):
        return (kernel.gamma * products + kernel.coef0) ** kernel.degree
    if isinstance(kernel, Gaussian):
        return np.exp(-kernel.gamma * np.maximum(squares - 2.0 * products, 0.0))
    return products


def _square_lengths(X: "Sparse") -> Vector:
    return np.asarray(X.multiply(X).sum(axis=1)).reshape(-1)


def _power(X: "Sparse", p: float) -> "Sparse":
    return abs(X) ** p  # type: ignore[operator,no-any-return] # the stubs know whole powers only


def _matrix(rows: Rows) -> "Sparse":
    from scipy.sparse import csr_array  # noqa: PLC0415

    if isinstance(rows, Dense):
        return csr_array(rows.values.astype(np.float64))
    shape = (len(rows.starts) - 1, rows.width)
    # scikit-learn's separators want signed 32 bits, which suffice up to billions of entries.
    kind = np.int32 if rows.starts[-1] < 2**31 else np.int64
    indices, starts = rows.indices.astype(kind), rows.starts.astype(kind)
    parts = rows.values.astype(np.float64), indices, starts
    return csr_array(parts, shape=shape)  # type: ignore[arg-type] # either kind of indices will do


class Least(NamedTuple):
    """The least bound found, and the margin and hinge loss of its comparator."""

    bound: float
    gamma: float
    hinge: float


def least_bound(
    evidence: Evidence,
    candidates: Iterable[Vector],
    bound_of: Callable[[float, Vector], float],
    size_of: Callable[[Vector], float] = lambda u: 1.0,
    shortest: float = 1.0,
    most_margin: float = inf,
) -> Least:
    """Minimise a bound over directions and lengths.

    Parameters
    ----------
    bound_of : callable
        Takes the size of a comparator, in the metric of its theorem, and its hinge losses at
        margin one.
    size_of : callable
        Returns the size of a comparator of length one.
    shortest : float
        Lengths around this one are tried too, whatever the grid.
    most_margin : float
        Larger margins are left out. A comparator that goes to 0 loses in every update, and a bound
        that takes every label then says that there are as many mistakes as updates.
    """

    def scan(u: Vector, lengths: Vector) -> Least:
        size, signed = size_of(u), evidence.leads(u)
        best = Least(inf, 0.0, 0.0)
        for length in lengths[lengths * most_margin >= 1.0].tolist():
            losses = np.maximum(0.0, 1.0 - length * signed)
            bound = bound_of(length * size, losses)
            best = min(best, Least(bound, 1.0 / length, float(losses.sum()) / length))
        return best

    best = Least(inf, 0.0, 0.0)
    for candidate in candidates:
        u = candidate / np.linalg.norm(candidate)
        coarse = scan(u, np.append(LENGTHS, shortest))
        if coarse.bound < inf:
            best = min(best, coarse, scan(u, FINE / coarse.gamma))
    return best


def directions(X: "Sparse | Matrix", signs: Vector) -> Iterator[Vector]:
    """Yield separators through the origin, from the mean example to the largest margin."""
    mean = np.asarray(X.T @ signs).reshape(-1)
    if mean.any():
        yield mean
    if len(np.unique(signs)) < 2:
        return
    yield from _soft_margins(X, signs, loss="hinge")


def class_directions(X: "Sparse | Matrix", labels: Vector, n_classes: int) -> Iterator[Vector]:
    """Yield prototypes, side by side as one vector: of the mean, then of [CS01]."""
    from scipy.sparse import csr_array, vstack  # noqa: PLC0415

    K, d = n_classes, X.shape[1]
    sums = np.asarray(X.T @ (labels[:, np.newaxis] == np.arange(K))).T
    mean: Vector = (sums - sums.mean(axis=0)).reshape(-1)
    if mean.any():
        yield mean
    # A row of zeros loses the same under every u, and lets a class without an update take part.
    rows = csr_array(vstack([csr_array(X), csr_array((K, d))]))
    named = np.append(labels, np.arange(float(K)))
    yield from _soft_margins(rows, named, multi_class="crammer_singer")


def _soft_margins(X: "Sparse | Matrix", labels: Vector, **form: str) -> Iterator[Vector]:
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


def simplex_comparator(X: "Sparse", signs: Vector, target_margin: float) -> Vector:
    """Return the u of the simplex with the least total hinge loss, by a linear program."""
    from scipy.optimize import linprog  # noqa: PLC0415
    from scipy.sparse import csr_array, hstack, identity  # noqa: PLC0415

    n, d = X.shape
    # minimise Σ ξ subject to ξ_t >= γ - y_t u.x_t, ξ >= 0, u in the simplex
    signed = csr_array(X).multiply(signs[:, np.newaxis])
    # SciPy's stubs know dense constraints only.
    constraints = cast(Matrix, hstack([-signed, -identity(n)], format="csr"))
    found = linprog(
        np.concatenate([np.zeros(d), np.ones(n)]),
        A_ub=constraints,
        b_ub=np.full(n, -target_margin),
        A_eq=np.concatenate([np.ones(d), np.zeros(n)])[np.newaxis],
        b_eq=np.ones(1),
    )
    u = np.clip(found.x[:d], 0.0, None) if found.x is not None else np.full(d, 1.0 / d)
    weights: Vector = u / u.sum()
    return weights


def given_comparator(comparator: ArrayLike, d: int, n_classes: int = 2) -> Vector:
    """Return a user's comparator: d weights, or a row of d weights for each of many classes."""
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
