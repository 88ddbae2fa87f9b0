"""The theorems of [SS05], on runs with every label asked."""

from math import inf
from typing import Any

import numpy as np

from selectron.arrays import Vector
from selectron.bounds import ss05
from selectron.evaluate.certificate import Certificate
from selectron.evaluate.evidence import Evidence
from selectron.evaluate.least_bound import directions_for, least_bound
from selectron.queries import Always
from selectron.updates import Ballseptron


def every_label(
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

    candidates = list(directions_for(evidence, comparator))
    shortest = (1.0 + 1e-9) / max(max_norm, 1e-300)  # where γ is R: a large ball has no other
    squares, sums = (
        least_bound(evidence, candidates, of, shortest=shortest) for of in (by_squares, by_sums)
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
