"""The comparator with which a theorem says most about a run, in hindsight."""

from collections.abc import Callable, Iterable
from math import inf
from typing import Any

import numpy as np

from selectron.arrays import Vector
from selectron.evaluate.comparators import (
    FINE,
    LENGTHS,
    class_directions,
    directions,
    given_comparator,
)
from selectron.evaluate.evidence import Evidence


def directions_for(evidence: Evidence, comparator: Any) -> Iterable[Vector]:
    if comparator is not None:
        return [given_comparator(comparator, evidence.X.shape[1], evidence.n_classes)]
    if evidence.many:
        return class_directions(evidence.X, evidence.signs, evidence.n_classes)
    return directions(evidence.X, evidence.signs)


def least_bound(
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
