"""The theorem that covers a run, evaluated beside what happened."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from selectron.bounds import cbgz06, ss05
from selectron.evaluate.comparators import (
    frontier,
    given_comparator,
    hinge_losses,
    inverse_root,
    on_simplex,
    simplex_comparator,
)
from selectron.numeric.arrays import Vector
from selectron.numeric.rows import Dense, Rows
from selectron.queries import AdaptiveMargin, Always, Margin, SecondOrderMargin
from selectron.scalings import Intercept, Raw
from selectron.updates import Ballseptron, Perceptron, SecondOrder, Winnow

IN_EXPECTATION = "in expectation over the coins"


@dataclass(frozen=True)
class Certificate:
    """A bound on the mistakes of a run, or the reason why none covers it."""

    mistakes: int
    bound: float | None
    theorem: str
    gamma: float = 0.0
    hinge: float = 0.0
    note: str = ""

    @property
    def holds(self) -> bool | None:
        return None if self.bound is None else self.mistakes <= self.bound

    def __str__(self) -> str:
        if self.bound is None:
            return f"mistakes {self.mistakes:,}: {self.theorem}"
        relation = "<=" if self.holds else ">"
        note = f"; {self.note}" if self.note else ""
        return (
            f"mistakes {self.mistakes:,} {relation} {self.bound:,.0f} ({self.theorem}, "
            f"gamma {self.gamma:.3g}, hinge {self.hinge:.1f}{note})"
        )


@dataclass(frozen=True)
class _Evidence:
    """The rounds on which the hypothesis changed, as the update rule saw them."""

    X: Any
    signs: Vector
    max_norm: float
    max_entry: float
    n_margin_errors: int


def certify(trace: Any, comparator: Any = None) -> Certificate:
    """Find the theorem for this pair of rules, and its smallest bound in hindsight."""
    scaling, update, query = trace.learner.rules_
    judge = JUDGES.get((type(update), type(query)))
    if judge is None or not isinstance(scaling, Raw | Intercept):
        presented = "" if isinstance(scaling, Raw | Intercept) else f" on {scaling.label} rows"
        return Certificate(
            trace.n_mistakes,
            None,
            f"no worst-case theorem covers {update.label} with {query.label}{presented}",
        )
    evidence = _gather(trace, with_constant=isinstance(scaling, Intercept))
    certificate = judge(trace.n_mistakes, evidence, update, query, comparator)
    if certificate.bound == inf:
        why = f"{certificate.theorem} has no comparator for these rows"
        return Certificate(trace.n_mistakes, None, why)
    return certificate


def _gather(trace: Any, *, with_constant: bool) -> _Evidence:
    X = _matrix(trace.rows)
    chosen = np.flatnonzero(trace.updated)
    squares = np.asarray(X.multiply(X).sum(axis=1)).reshape(-1)
    extra = 1.0 if with_constant else 0.0
    seen = X[chosen]
    if with_constant:
        from scipy.sparse import csr_array, hstack  # noqa: PLC0415

        seen = csr_array(hstack([seen, csr_array(np.ones((len(chosen), 1)))]))
    state = trace.learner._started().machine.state.update
    return _Evidence(
        seen,
        trace.signs[chosen].astype(float),
        float(np.sqrt(squares.max() + extra)),
        float(max(abs(X).max(), extra)),
        int(getattr(state, "n_margin_errors", 0)),
    )


def _matrix(rows: Rows) -> Any:
    from scipy.sparse import csr_array  # noqa: PLC0415

    if isinstance(rows, Dense):
        return csr_array(rows.values.astype(np.float64))
    shape = (len(rows.starts) - 1, rows.width)
    # scikit-learn's separators want signed 32 bits: enough, but for billions of entries.
    kind = np.int32 if rows.starts[-1] < 2**31 else np.int64
    places = rows.indices.astype(kind), rows.starts.astype(kind)
    return csr_array((rows.values.astype(np.float64), *places), shape=shape)


def _least(
    candidates: Any, bound_of: Callable[[Vector], tuple[float, float]]
) -> tuple[float, float, float]:
    """Return the least bound with the margin and the hinge loss of its comparator."""
    best = (inf, 0.0, 0.0)
    for u in candidates:
        length = float(np.linalg.norm(u))
        if length > 0.0:
            bound, hinge = bound_of(u)
            if bound < best[0]:
                best = (bound, 1.0 / length, hinge / length)
    return best


def _candidates(evidence: _Evidence, comparator: Any) -> Any:
    if comparator is None:
        return frontier(evidence.X, evidence.signs)
    u = given_comparator(comparator, evidence.X.shape[1])
    return [u / np.linalg.norm(u) * scale for scale in np.logspace(-4, 4, 81)]


def _perceptron_margin(
    mistakes: int, evidence: _Evidence, update: Perceptron, query: Margin, comparator: Any
) -> Certificate:
    def bound_of(u: Vector) -> tuple[float, float]:
        hinge = float(hinge_losses(evidence.X, evidence.signs, u).sum())
        bound = cbgz06.perceptron_mistakes(
            b=query.b / update.eta,  # eta scales the margin and nothing else
            max_norm=evidence.max_norm,
            target_margin=1.0,
            hinge=hinge,
            comparator_norm=float(np.linalg.norm(u)),
        )
        return bound, hinge

    bound, gamma, hinge = _least(_candidates(evidence, comparator), bound_of)
    return Certificate(mistakes, bound, "[CBGZ06] Theorem 1", gamma, hinge, IN_EXPECTATION)


def _perceptron_adaptive(
    mistakes: int, evidence: _Evidence, update: Perceptron, query: AdaptiveMargin, comparator: Any
) -> Certificate:
    def bound_of(u: Vector) -> tuple[float, float]:
        hinge = float(hinge_losses(evidence.X, evidence.signs, u).sum())
        bound = cbgz06.adaptive_mistakes(
            beta=query.beta / update.eta,
            max_norm=evidence.max_norm,
            target_margin=1.0,
            hinge=hinge,
            comparator_norm=float(np.linalg.norm(u)),
        )
        return bound, hinge

    bound, gamma, hinge = _least(_candidates(evidence, comparator), bound_of)
    return Certificate(mistakes, bound, "[CBGZ06] Theorem 2", gamma, hinge, IN_EXPECTATION)


def _every_label(
    mistakes: int, evidence: _Evidence, update: Any, query: Always, comparator: Any
) -> Certificate:
    """Take the least of the D1 and D2 bounds, less what the margin errors pay for."""
    r = update.r if isinstance(update, Ballseptron) else 0.0
    reach = "[SS05], which wants r < (√2 - 1)γ and γ at most the longest row,"
    best = Certificate(mistakes, inf, reach)
    for u in _candidates(evidence, comparator):
        length = float(np.linalg.norm(u))
        if length == 0.0 or not r * length < np.sqrt(2.0) - 1.0 or evidence.max_norm * length < 1.0:
            continue
        gamma = 1.0 / length
        losses = hinge_losses(evidence.X, evidence.signs, u) * gamma
        for theorem, bound in (
            (
                "[SS05] Corollary 1" if r else "[SS05] Theorem 1",
                ss05.d2_mistakes_refined(
                    max_norm=evidence.max_norm,
                    target_margin=gamma,
                    hinge_norm=float(np.sqrt((losses**2).sum())),
                    r=r,
                    n_margin_errors=evidence.n_margin_errors,
                ),
            ),
            (
                "[SS05] equation 17" if r else "[SS05] Theorem 2",
                ss05.d1_mistakes_refined(
                    max_norm=evidence.max_norm,
                    target_margin=gamma,
                    hinge=float(losses.sum()),
                    r=r,
                    n_margin_errors=evidence.n_margin_errors,
                ),
            ),
        ):
            if best.bound is None or bound < best.bound:
                best = Certificate(mistakes, bound, theorem, gamma, float(losses.sum()))
    return best


def _second_order(
    mistakes: int, evidence: _Evidence, update: SecondOrder, query: Any, comparator: Any
) -> Certificate:
    X = np.asarray(evidence.X.todense())
    gram = X.T @ X
    A = update.a * np.eye(len(gram)) + gram
    log_volume = cbgz06.log_volume_of(
        eigenvalues=np.clip(np.linalg.eigvalsh(gram), 0.0, None).tolist(), a=update.a
    )
    root = inverse_root(A)

    def bound_of(u: Vector) -> tuple[float, float]:
        hinge = float(hinge_losses(X, evidence.signs, u).sum())
        bound = cbgz06.second_order_mistakes(
            b=query.b,
            target_margin=1.0,
            hinge=hinge,
            comparator_energy=float(u @ A @ u),
            log_volume=log_volume,
        )
        return bound, hinge

    if comparator is None:  # the same frontier, in the metric of A
        candidates = (root @ v for v in frontier(X @ root, evidence.signs))
    else:
        candidates = _candidates(evidence, comparator)
    bound, gamma, hinge = _least(candidates, bound_of)
    return Certificate(mistakes, bound, "[CBGZ06] Theorem 3", gamma, hinge, IN_EXPECTATION)


def _winnow(
    mistakes: int, evidence: _Evidence, update: Winnow, query: Margin, comparator: Any
) -> Certificate:
    X, d = evidence.X, evidence.X.shape[1]
    if comparator is not None:
        comparator = on_simplex(given_comparator(comparator, d), balanced=update.balanced)
    if update.balanced:
        from scipy.sparse import csr_array, hstack  # noqa: PLC0415

        X, d = csr_array(hstack([X, -X])), 2 * d
    # Theorem 4 ties η = 2(1 - α)γ/X² and b = αγ: solve for γ and α.
    gamma = query.b + update.eta * evidence.max_entry**2 / 2.0
    u = simplex_comparator(X, evidence.signs, gamma) if comparator is None else comparator
    hinge = float(hinge_losses(X, evidence.signs, u, gamma).sum())
    bound = cbgz06.winnow_mistakes(
        alpha=query.b / gamma,
        target_margin=gamma,
        max_norm=evidence.max_entry,
        hinge=hinge,
        d=d,
    )
    return Certificate(mistakes, bound, "[CBGZ06] Theorem 4", gamma, hinge, IN_EXPECTATION)


JUDGES: dict[tuple[type, type], Callable[..., Certificate]] = {
    (Perceptron, Margin): _perceptron_margin,
    (Perceptron, AdaptiveMargin): _perceptron_adaptive,
    (Perceptron, Always): _every_label,
    (Ballseptron, Always): _every_label,
    (SecondOrder, Margin): _second_order,
    (SecondOrder, SecondOrderMargin): _second_order,
    (Winnow, Margin): _winnow,
}
