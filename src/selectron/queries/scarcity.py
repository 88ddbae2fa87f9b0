"""Which classes have had few labels, and when rows of them are sought."""

from selectron.arrays import Vector
from selectron.compiler.verbs import helper

LATE_LABELS, LATE_SHARE = 10.0, 0.2
SOUGHT_FROM, MOST_SOUGHT = 20.0, 0.125


@helper
def known_classes(counts: Vector) -> int:
    known = 0
    for k in range(len(counts)):
        known += counts[k] > 0.0
    return known


@helper
def usual_labels(counts: Vector, n_labels: int) -> float:
    """Return how many labels a class has had on average."""
    return n_labels / max(known_classes(counts), 1)


@helper
def has_few(counts: Vector, k: int, n_labels: int) -> bool:
    return bool(counts[k] < min(LATE_LABELS, LATE_SHARE * usual_labels(counts, n_labels)))


@helper
def is_sought(counts: Vector, k: int, n_labels: int, n_sought: int) -> bool:
    """Tell whether rows of class k are asked in any case, after so many that were."""
    begun = usual_labels(counts, n_labels) >= SOUGHT_FROM  # at first all classes have few
    return begun and has_few(counts, k, n_labels) and n_sought < MOST_SOUGHT * n_labels
