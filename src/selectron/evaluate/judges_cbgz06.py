"""The theorems of [CBGZ06], each with the comparator that makes it say most."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from selectron.arrays import Vector
from selectron.bounds import cbgz06, cbgz06_classes
from selectron.evaluate.certificate import IN_EXPECTATION, Certificate
from selectron.evaluate.comparators import (
    directions,
    given_comparator,
    hinge_losses,
    inverse_root,
    on_simplex,
    simplex_comparator,
)
from selectron.evaluate.evidence import Evidence
from selectron.evaluate.least_bound import directions_for, least_bound
from selectron.queries import AdaptiveMargin, Margin
from selectron.updates import Perceptron, PNorm, SecondOrder, Winnow


def perceptron_margin(
    mistakes: int, evidence: Evidence, update: Perceptron, query: Margin, comparator: Any
) -> Certificate:
    two, many = cbgz06.perceptron_mistakes, cbgz06_classes.class_perceptron_mistakes
    b = query.b / update.eta  # eta scales the margin and nothing else
    theorem = partial(many if evidence.many else two, b=b, max_norm=evidence.max_norm)
    return _perceptron(mistakes, evidence, comparator, theorem, "[CBGZ06] Theorem 1")


def perceptron_adaptive(
    mistakes: int, evidence: Evidence, update: Perceptron, query: AdaptiveMargin, comparator: Any
) -> Certificate:
    two, many = cbgz06.adaptive_mistakes, cbgz06_classes.class_adaptive_mistakes
    beta = query.beta / update.eta
    theorem = partial(many if evidence.many else two, beta=beta, max_norm=evidence.max_norm)
    return _perceptron(mistakes, evidence, comparator, theorem, "[CBGZ06] Theorem 2")


def _perceptron(
    mistakes: int, evidence: Evidence, comparator: Any, theorem: Callable[..., float], name: str
) -> Certificate:
    def bound_of(length: float, losses: Vector) -> float:
        return theorem(target_margin=1.0, hinge=float(losses.sum()), comparator_norm=length)

    bound, gamma, hinge = least_bound(evidence, directions_for(evidence, comparator), bound_of)
    whose = "ours, after " if evidence.many else ""
    return Certificate(mistakes, bound, f"{whose}{name}", gamma, hinge, IN_EXPECTATION)


def p_norm_margin(
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

    bound, gamma, hinge = least_bound(
        evidence,
        directions_for(evidence, comparator),
        bound_of,
        size_of=lambda u: float((np.abs(u) ** q).sum() ** (1.0 / q)),
    )
    theorem = "ours, after [CBGZ06] Theorem 1"
    return Certificate(mistakes, bound, theorem, gamma, hinge, IN_EXPECTATION)


def second_order(
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
        candidates = directions_for(evidence, comparator)
    bound, gamma, hinge = least_bound(
        evidence, candidates, bound_of, size_of=lambda u: float(np.sqrt(u @ A @ u))
    )
    return Certificate(mistakes, bound, "[CBGZ06] Theorem 3", gamma, hinge, IN_EXPECTATION)


def winnow(
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
