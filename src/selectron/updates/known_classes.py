"""Classes that have been named by a label: only these compete, and rare ones weigh more."""

import numpy as np

from selectron.arrays import Vector
from selectron.compiler.verbs import helper
from selectron.updates.prototypes import Lead, lead

MOST_WEIGHT = 4.0


@helper
def lead_of_known(counts: Vector, scores: Vector) -> Lead:
    """Find the leader; a class that no label has named is put below all the others."""
    known, least = 0, 0.0
    for k in range(len(scores)):
        if counts[k] > 0.0:
            least = scores[k] if known == 0 else min(least, scores[k])
            known += 1
    if known > 0:
        for k in range(len(scores)):
            if counts[k] == 0.0:
                scores[k] = least - 1.0
    return lead(scores)


@helper
def product_with(k: int, counts: Vector, scores: Vector) -> float:
    """Return the product of the row with prototype k, which is zero before its first label."""
    return scores[k] if counts[k] > 0.0 else 0.0


@helper
def one_sided_residual(k: int, label: int, counts: Vector, scores: Vector) -> float:
    """Return how far class k is from its target, 1 or 0; beyond the target is no error."""
    now = product_with(k, counts, scores)
    return max(1.0 - now, 0.0) if k == label else min(-now, 0.0)


@helper
def count_label(label: int, counts: Vector, scores: Vector) -> None:
    """Count a label; a class that it is the first to name begins with the score of zeros."""
    if counts[label] == 0.0:
        scores[label] = 0.0
    counts[label] += 1.0


@helper
def weight_of(label: int, counts: Vector) -> float:
    """Return what a label weighs: more if its class has less than its share of all labels."""
    known, labels = 0, 0.0
    for k in range(len(counts)):
        known += counts[k] > 0.0
        labels += counts[k]
    scarcity = np.float64(labels / known / counts[label])
    return min(max(scarcity, 1.0), MOST_WEIGHT)
