"""Certificates: a bound on the mistakes of a run, by the theorem that covers its rules.

Each theorem is held against the comparator with which it says most. The theorems of [CBGZ06] cover
runs that ask by the margin; their proofs cover runs that ask for every label, without a coin, as
[SS05] does. With a kernel, comparators lie in the span of the rows that were learnt.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from selectron.arrays import Vector
from selectron.bounds import cbgz06, cbgz06_classes, ss05
from selectron.evaluate.comparators import (
    Evidence,
    Least,
    gather,
    given_comparator,
    least_bound,
    on_simplex,
    simplex_comparator,
)
from selectron.queries import AdaptiveMargin, Always, Margin, SecondOrderMargin
from selectron.scalings import Intercept, Raw
from selectron.updates import Ballseptron, Perceptron, PNorm, SecondOrder, Winnow

if TYPE_CHECKING:
    from selectron.evaluate.trace import Trace

HOLLOW = 0.9  # of the mistakes, which hinge/gamma alone may be
IN_EXPECTATION = "in expectation over the coins"
STEEPER = np.array([1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0])  # margins over the least allowed


@dataclass(frozen=True)
class Certificate:
    """A bound on the mistakes of a run, or the reason why no theorem covers the run."""

    mistakes: int
    bound: float | None
    theorem: str
    gamma: float = 0.0
    hinge: float = 0.0
    note: str = ""
    rounds: int = 0

    @property
    def says_nothing(self) -> bool:
        """Whether there are no more rounds than the bound allows mistakes.

        The search then ends at a comparator that goes to 0, which is wrong in every round.
        """
        return self.bound is not None and 0 < self.rounds <= self.bound

    @property
    def is_hollow(self) -> bool:
        """Whether the comparator does hardly better than one that goes to 0.

        Such a one loses its margin in every update, and then hinge/gamma counts the updates. So any
        labels at all have a bound little above their mistakes.
        """
        if self.bound is None or not self.gamma or self.says_nothing:
            return False
        return self.mistakes > 0 and self.hinge / self.gamma >= HOLLOW * self.mistakes

    @property
    def holds(self) -> bool | None:
        return None if self.bound is None else self.mistakes <= self.bound

    def __str__(self) -> str:
        if self.bound is None:
            return f"mistakes {self.mistakes:,}: {self.theorem}"
        relation = "<=" if self.holds else ">"
        note = f"; {self.note}" if self.note else ""
        if self.says_nothing:
            note += f"; that says nothing, for there are {self.rounds:,} rounds"
        if self.is_hollow:
            alone = self.hinge / self.gamma
            note += f"; hinge/gamma alone is {alone:,.0f}, so any labels have such a bound"
        return (
            f"mistakes {self.mistakes:,} {relation} {self.bound:,.0f} ({self.theorem}, "
            f"gamma {self.gamma:.3g}, hinge {self.hinge:.1f}{note})"
        )


def certify(trace: "Trace", comparator: ArrayLike | None = None) -> Certificate:
    """Find the theorem for the rules of this run, and its smallest bound in hindsight."""
    scaling, update, query = trace.learner.rules_
    n_classes = len(trace.learner.classes_)
    pair, names = (type(update), type(query)), f"{update.label} with {query.label}"
    covered = isinstance(scaling, Raw | Intercept)
    if n_classes > 2 and pair not in OF_MANY_CLASSES:
        why = f"no theorem here covers {names} on {n_classes} classes"
    elif getattr(trace.learner, "budget", None) is not None:
        why = "no theorem here covers a learner that gives up support vectors"
    elif pair not in JUDGES or not covered:
        presented = "" if covered else f" on {scaling.label} rows"
        why = f"no worst-case theorem covers {names}{presented}"
    else:
        evidence = gather(trace, comparator, with_constant=isinstance(scaling, Intercept))
        theorem, (bound, gamma, hinge), note = JUDGES[pair](evidence, update, query)
        if bound != inf:
            n = len(trace.asked)
            return Certificate(trace.n_mistakes, bound, theorem, gamma, hinge, note, n)
        why = f"{theorem} has no comparator for these rows"
    return Certificate(trace.n_mistakes, None, why)


class Verdict(NamedTuple):
    """A theorem, and the least bound that it gives."""

    theorem: str
    least: Least
    note: str = IN_EXPECTATION


def perceptron_margin(evidence: Evidence, update: Perceptron, query: Margin) -> Verdict:
    two, many = cbgz06.perceptron_mistakes, cbgz06_classes.class_perceptron_mistakes
    b = query.b / update.eta  # eta scales the margin and nothing else
    theorem = partial(many if evidence.many else two, b=b, max_norm=evidence.max_norm)
    return _by_norm(evidence, theorem, "[CBGZ06] Theorem 1", ours=evidence.many, coins=True)


def perceptron_adaptive(evidence: Evidence, update: Perceptron, query: AdaptiveMargin) -> Verdict:
    two, many = cbgz06.adaptive_mistakes, cbgz06_classes.class_adaptive_mistakes
    beta = query.beta / update.eta
    theorem = partial(many if evidence.many else two, beta=beta, max_norm=evidence.max_norm)
    return _by_norm(evidence, theorem, "[CBGZ06] Theorem 2", ours=evidence.many, coins=True)


def p_norm(evidence: Evidence, update: PNorm, query: Margin | Always) -> Verdict:
    p, q, longest = update.p, update.p / (update.p - 1.0), evidence.longest(update.p)
    norm_of = partial(np.linalg.norm, ord=q)
    theorem: Callable[..., float] = partial(cbgz06.p_norm_every_label, p=p, max_norm=longest)
    if isinstance(query, Always):
        return _by_norm(evidence, theorem, "[CBGZ06] inequality 1", ours=True, norm_of=norm_of)
    theorem = partial(cbgz06.p_norm_mistakes, p=p, b=query.b, max_norm=longest)
    name = "[CBGZ06] Theorem 1"
    return _by_norm(evidence, theorem, name, ours=True, coins=True, norm_of=norm_of)


def _by_norm(
    evidence: Evidence,
    theorem: Callable[..., float],
    name: str,
    *,
    ours: bool,
    coins: bool = False,
    norm_of: Callable[[Vector], Any] = lambda u: 1.0,
) -> Verdict:
    """Search for the least bound of a theorem that asks for a norm of the comparator."""

    def bound_of(norm: float, losses: Vector) -> float:
        return theorem(target_margin=1.0, hinge=float(losses.sum()), comparator_norm=norm)

    reach = () if coins else evidence.reach
    least = least_bound(evidence, evidence.candidates(), bound_of, norm_of, *reach)
    named = f"ours, after {name}" if ours else name
    return Verdict(named, least, IN_EXPECTATION if coins else "")


def second_order(
    evidence: Evidence, update: SecondOrder, query: Margin | SecondOrderMargin | Always
) -> Verdict:
    X = np.asarray(evidence.X.todense())
    gram = X.T @ X
    A = update.a * np.eye(len(gram)) + gram
    eigenvalues = np.clip(np.linalg.eigvalsh(gram), 0.0, None).tolist()
    log_volume = cbgz06.log_volume_of(eigenvalues=eigenvalues, a=update.a)
    of_two = cbgz06.second_order_optimal_mistakes, cbgz06.second_order_mistakes
    of_many = (
        cbgz06_classes.class_second_order_every_label,
        cbgz06_classes.class_second_order_mistakes,
    )
    every, by_margin = of_many if evidence.many else of_two
    theorem: Callable[..., float] = (
        partial(every, log_volume=log_volume)
        if isinstance(query, Always)
        else partial(by_margin, b=query.b, log_volume=log_volume)
    )

    def bound_of(size: float, losses: Vector) -> float:
        return theorem(target_margin=1.0, hinge=float(losses.sum()), comparator_energy=size**2)

    candidates: Iterable[Vector] = evidence.candidates()
    if evidence.comparator is None:  # the same directions, in the metric of A
        values, vectors = np.linalg.eigh(A)
        root = (vectors / np.sqrt(values)) @ vectors.T
        candidates = (
            (v.reshape(-1, len(root)) @ root).reshape(-1) for v in evidence.directions(X @ root)
        )

    def size_of(u: Vector) -> float:
        prototypes = u.reshape(-1, len(A))
        return float(np.sqrt((prototypes @ A * prototypes).sum()))

    ours = "ours, after " if evidence.many else ""
    if isinstance(query, Always):
        least = least_bound(evidence, candidates, bound_of, size_of, *evidence.reach)
        return Verdict(f"{ours}[CBGZ06] inequality 13, every label asked", least, note="")
    least = least_bound(evidence, candidates, bound_of, size_of)
    return Verdict(f"{ours}[CBGZ06] Theorem 3", least)


def winnow(evidence: Evidence, update: Winnow, query: Margin) -> Verdict:
    # Theorem 4 ties η = 2(1 - α)γ/X² and b = αγ: solve for γ and α.
    max_norm = evidence.max_entry
    gamma = query.b + update.eta * max_norm**2 / 2.0
    theorem = partial(cbgz06.winnow_mistakes, alpha=query.b / gamma, max_norm=max_norm)
    return Verdict("[CBGZ06] Theorem 4", _on_simplex(evidence, update, theorem, [gamma]))


def winnow_every_label(evidence: Evidence, update: Winnow, query: Always) -> Verdict:
    max_norm = evidence.max_entry
    theorem = partial(cbgz06.winnow_every_label, eta=update.eta, max_norm=max_norm)
    gammas = update.eta * max_norm**2 / 2.0 * STEEPER
    reached = gammas[gammas <= max_norm].tolist()  # no distribution has a larger margin
    least = _on_simplex(evidence, update, theorem, reached)
    return Verdict("ours, after [CBGZ06] Theorem 4", least, note="")


def _on_simplex(
    evidence: Evidence, update: Winnow, theorem: Callable[..., float], gammas: list[float]
) -> Least:
    """Search for the least bound of a theorem whose comparators are distributions."""
    from scipy.sparse import csr_array, hstack  # noqa: PLC0415

    X, signs, given = evidence.X, evidence.signs, None
    if evidence.comparator is not None:
        given = given_comparator(evidence.comparator, X.shape[1])
        given = on_simplex(given, balanced=update.balanced)
    if update.balanced:
        X = csr_array(hstack([X, -X]))
    best = Least(inf, 0.0, 0.0)
    for gamma in gammas:
        u = simplex_comparator(X, signs, gamma) if given is None else given
        hinge = float(np.maximum(0.0, gamma - signs * np.asarray(X @ u).reshape(-1)).sum())
        bound = theorem(target_margin=gamma, hinge=hinge, d=X.shape[1])
        best = min(best, Least(bound, gamma, hinge))
    return best


def every_label(evidence: Evidence, update: Perceptron | Ballseptron, query: Always) -> Verdict:
    """Take the lesser of the D1 and D2 bounds, minus the share that the margin errors pay for."""
    r = update.r if isinstance(update, Ballseptron) else 0.0
    max_norm = evidence.max_norm
    if evidence.many and max_norm > 0.0:
        max_norm, r = ss05.multiclass_scale(max_norm=max_norm, r=r)

    too = isinstance(update, Ballseptron) and update.mistakes_too
    most, largest = (1.0, "γ") if too else (ss05.LARGEST_RADIUS, "(√2 - 1)γ")
    theorems: dict[str, Callable[..., float]] = {
        "hinge_norm": ss05.d2_mistakes_too if too else ss05.d2_mistakes_refined,
        "hinge": ss05.d1_mistakes_too if too else ss05.d1_mistakes_refined,
    }

    def bound_of(loss: str, length: float, losses: Vector) -> float:
        if r * length >= most or max_norm * length < 1.0:
            return inf
        size = float(losses.sum() if loss == "hinge" else np.linalg.norm(losses))
        lost = {loss: size / length, "n_margin_errors": evidence.n_margin_errors}
        return theorems[loss](max_norm=max_norm, r=r, target_margin=1.0 / length, **lost)

    candidates = list(evidence.candidates())
    shortest = (1.0 + 1e-9) / max(max_norm, 1e-300)  # where γ is R: a large ball has no other
    squares, sums = (
        least_bound(evidence, candidates, partial(bound_of, loss), shortest=shortest)
        for loss in theorems
    )
    if squares.bound == sums.bound == inf:
        root = "√2 " if evidence.many else ""
        reach = f"[SS05], which wants {root}r < {largest} and γ at most {root}the longest row,"
        return Verdict(reach, squares)
    refined = r and not too
    name, least = ("Corollary 1" if refined else "Theorem 1"), squares
    if squares.bound > sums.bound:
        name, least = ("equation 17" if refined else "Theorem 2"), sums
    where = " by section 4" if evidence.many else ""
    ours = "ours, after " if too else ""
    return Verdict(f"{ours}[SS05] {name}{where}", least, note="")


JUDGES: dict[tuple[type, type], Callable[..., Verdict]] = {
    (Perceptron, Margin): perceptron_margin,
    (Perceptron, AdaptiveMargin): perceptron_adaptive,
    (Perceptron, Always): every_label,
    (Ballseptron, Always): every_label,
    (SecondOrder, Margin): second_order,
    (SecondOrder, SecondOrderMargin): second_order,
    (Winnow, Margin): winnow,
    (PNorm, Margin): p_norm,
    (SecondOrder, Always): second_order,
    (Winnow, Always): winnow_every_label,
    (PNorm, Always): p_norm,
}
OF_MANY_CLASSES = [
    pair
    for pair in JUDGES
    if pair[0] in (Perceptron, Ballseptron, SecondOrder) and pair[1] is not SecondOrderMargin
]
