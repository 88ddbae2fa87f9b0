"""The theorem that covers a run, evaluated beside what happened."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from selectron.bounds import cbgz06, cbgz06_classes, ss05
from selectron.evaluate.comparators import (
    FINE,
    LENGTHS,
    class_directions,
    directions,
    given_comparator,
    hinge_losses,
    inverse_root,
    on_simplex,
    simplex_comparator,
)
from selectron.evaluate.evidence import Evidence, gather
from selectron.numeric.arrays import Vector
from selectron.queries import AdaptiveMargin, Always, Margin, SecondOrderMargin
from selectron.scalings import Intercept, Raw
from selectron.updates import Ballseptron, Perceptron, PNorm, SecondOrder, Winnow

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


def certify(trace: Any, comparator: Any = None) -> Certificate:
    """Find the theorem for this pair of rules, and its smallest bound in hindsight."""
    scaling, update, query = trace.learner.rules_
    n_classes = len(trace.learner.classes_)
    pair = type(update), type(query)
    if n_classes > 2 and pair not in OF_MANY_CLASSES:
        names = f"{update.label} with {query.label}"
        theorem = f"no theorem here covers {names} on {n_classes} classes"
        return Certificate(trace.n_mistakes, None, theorem)
    if trace.learner.kernel is not None:
        why = "no comparator is searched for in the space of a kernel"
        return Certificate(trace.n_mistakes, None, why)
    judge = JUDGES.get(pair)
    if judge is None or not isinstance(scaling, Raw | Intercept):
        presented = "" if isinstance(scaling, Raw | Intercept) else f" on {scaling.label} rows"
        return Certificate(
            trace.n_mistakes,
            None,
            f"no worst-case theorem covers {update.label} with {query.label}{presented}",
        )
    evidence = gather(trace, with_constant=isinstance(scaling, Intercept))
    certificate = judge(trace.n_mistakes, evidence, update, query, comparator)
    if certificate.bound == inf:
        why = f"{certificate.theorem} has no comparator for these rows"
        return Certificate(trace.n_mistakes, None, why)
    return certificate


def _directions(evidence: Evidence, comparator: Any) -> Iterable[Vector]:
    if comparator is not None:
        return [given_comparator(comparator, evidence.X.shape[1], evidence.n_classes)]
    if evidence.many:
        return class_directions(evidence.X, evidence.signs, evidence.n_classes)
    return directions(evidence.X, evidence.signs)


def _least(
    evidence: Evidence,
    candidates: Iterable[Vector],
    bound_of: Callable[[float, Vector], float],
    size_of: Callable[[Vector], float] = lambda u: 1.0,
    shortest: float = 1.0,
) -> tuple[float, float, float]:
    """Minimise over directions and lengths; return the bound, the margin and the hinge loss.

    `bound_of` takes the size of a comparator, in the metric of its theorem, and its hinge losses
    at margin one; `size_of` gives the size of a comparator of length one; lengths about `shortest`
    are tried whatever the grid.
    """

    def scan(u: Vector, lengths: Vector) -> tuple[float, float, float]:
        size, signed = size_of(u), evidence.leads(u)
        best = (inf, 0.0, 0.0)
        for length in lengths.tolist():
            losses = np.maximum(0.0, 1.0 - length * signed)
            bound = bound_of(length * size, losses)
            best = min(best, (bound, 1.0 / length, float(losses.sum()) / length))
        return best

    best = (inf, 0.0, 0.0)
    for candidate in candidates:
        u = candidate / np.linalg.norm(candidate)
        coarse = scan(u, np.append(LENGTHS, shortest))
        if coarse[0] < inf:
            best = min(best, coarse, scan(u, FINE / coarse[1]))
    return best


def _perceptron_margin(
    mistakes: int, evidence: Evidence, update: Perceptron, query: Margin, comparator: Any
) -> Certificate:
    two, many = cbgz06.perceptron_mistakes, cbgz06_classes.class_perceptron_mistakes
    theorem = many if evidence.many else two

    def bound_of(length: float, losses: Vector) -> float:
        return theorem(
            b=query.b / update.eta,  # eta scales the margin and nothing else
            max_norm=evidence.max_norm,
            target_margin=1.0,
            hinge=float(losses.sum()),
            comparator_norm=length,
        )

    bound, gamma, hinge = _least(evidence, _directions(evidence, comparator), bound_of)
    name = f"{'ours, after ' if evidence.many else ''}[CBGZ06] Theorem 1"
    return Certificate(mistakes, bound, name, gamma, hinge, IN_EXPECTATION)


def _p_norm_margin(
    mistakes: int, evidence: Evidence, update: PNorm, query: Margin, comparator: Any
) -> Certificate:
    max_norm, q = evidence.longest(update.p), update.p / (update.p - 1.0)

    def bound_of(size: float, losses: Vector) -> float:
        return cbgz06.p_norm_mistakes(
            p=update.p,
            b=query.b,
            max_norm=max_norm,
            target_margin=1.0,
            hinge=float(losses.sum()),
            comparator_norm=size,
        )

    bound, gamma, hinge = _least(
        evidence,
        _directions(evidence, comparator),
        bound_of,
        size_of=lambda u: float((np.abs(u) ** q).sum() ** (1.0 / q)),
    )
    theorem = "ours, after [CBGZ06] Theorem 1"
    return Certificate(mistakes, bound, theorem, gamma, hinge, IN_EXPECTATION)


def _perceptron_adaptive(
    mistakes: int, evidence: Evidence, update: Perceptron, query: AdaptiveMargin, comparator: Any
) -> Certificate:
    two, many = cbgz06.adaptive_mistakes, cbgz06_classes.class_adaptive_mistakes
    theorem = many if evidence.many else two

    def bound_of(length: float, losses: Vector) -> float:
        return theorem(
            beta=query.beta / update.eta,
            max_norm=evidence.max_norm,
            target_margin=1.0,
            hinge=float(losses.sum()),
            comparator_norm=length,
        )

    bound, gamma, hinge = _least(evidence, _directions(evidence, comparator), bound_of)
    name = f"{'ours, after ' if evidence.many else ''}[CBGZ06] Theorem 2"
    return Certificate(mistakes, bound, name, gamma, hinge, IN_EXPECTATION)


def _every_label(
    mistakes: int, evidence: Evidence, update: Any, query: Always, comparator: Any
) -> Certificate:
    """Take the least of the D1 and D2 bounds, less what the margin errors pay for."""
    r = update.r if isinstance(update, Ballseptron) else 0.0
    max_norm = evidence.max_norm
    if evidence.many and max_norm > 0.0:
        max_norm, r = ss05.multiclass_scale(max_norm=max_norm, r=r)

    def knobs(length: float) -> dict[str, Any] | None:
        if r * length >= ss05.LARGEST_RADIUS or max_norm * length < 1.0:
            return None
        run = {"max_norm": max_norm, "n_margin_errors": evidence.n_margin_errors}
        return {"target_margin": 1.0 / length, "r": r, **run}

    def by_squares(length: float, losses: Vector) -> float:
        given, norm = knobs(length), float(np.linalg.norm(losses)) / length
        return inf if given is None else ss05.d2_mistakes_refined(hinge_norm=norm, **given)

    def by_sums(length: float, losses: Vector) -> float:
        given, hinge = knobs(length), float(losses.sum()) / length
        return inf if given is None else ss05.d1_mistakes_refined(hinge=hinge, **given)

    candidates = list(_directions(evidence, comparator))
    shortest = (1.0 + 1e-9) / max(max_norm, 1e-300)  # where γ is R: a large ball has no other
    squares, sums = (
        _least(evidence, candidates, of, shortest=shortest) for of in (by_squares, by_sums)
    )
    if squares[0] == sums[0] == inf:
        root = "√2 " if evidence.many else ""
        reach = f"[SS05], which wants {root}r < (√2 - 1)γ and γ at most {root}the longest row,"
        return Certificate(mistakes, inf, reach)
    where = " by section 4" if evidence.many else ""
    if squares[0] <= sums[0]:
        theorem = f"[SS05] {'Corollary' if r else 'Theorem'} 1{where}"
        return Certificate(mistakes, squares[0], theorem, *squares[1:])
    theorem = f"[SS05] {'equation 17' if r else 'Theorem 2'}{where}"
    return Certificate(mistakes, sums[0], theorem, *sums[1:])


def _second_order(
    mistakes: int, evidence: Evidence, update: SecondOrder, query: Any, comparator: Any
) -> Certificate:
    X = np.asarray(evidence.X.todense())
    gram = X.T @ X
    A = update.a * np.eye(len(gram)) + gram
    log_volume = cbgz06.log_volume_of(
        eigenvalues=np.clip(np.linalg.eigvalsh(gram), 0.0, None).tolist(), a=update.a
    )

    def bound_of(size: float, losses: Vector) -> float:
        return cbgz06.second_order_mistakes(
            b=query.b,
            target_margin=1.0,
            hinge=float(losses.sum()),
            comparator_energy=size**2,
            log_volume=log_volume,
        )

    if comparator is None:  # the same directions, in the metric of A
        root = inverse_root(A)
        candidates: Iterable[Vector] = (root @ v for v in directions(X @ root, evidence.signs))
    else:
        candidates = _directions(evidence, comparator)
    bound, gamma, hinge = _least(
        evidence, candidates, bound_of, size_of=lambda u: float(np.sqrt(u @ A @ u))
    )
    return Certificate(mistakes, bound, "[CBGZ06] Theorem 3", gamma, hinge, IN_EXPECTATION)


def _winnow(
    mistakes: int, evidence: Evidence, update: Winnow, query: Margin, comparator: Any
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
    (PNorm, Margin): _p_norm_margin,
}
OF_MANY_CLASSES = {
    (Perceptron, Margin),
    (Perceptron, AdaptiveMargin),
    (Perceptron, Always),
    (Ballseptron, Always),
}
