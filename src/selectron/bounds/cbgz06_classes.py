"""Selective sampling with a prototype a class: ours, after [CBGZ06] and [SS05], section 4.

The prototypes side by side are one vector, and a row with its label and the best other class is one
row of length √2‖x‖ there, as in `ss05.multiclass_scale`. The learner's odds are those of the lead m
of its best class; on a mistake the label's class is behind by at least that. The proofs keep the
term |p| of a mistake only to cancel it against the odds: m ≤ |p| will do. The comparator's
prototypes lose max(0, γ - (u^{y_t} - u^y)·x_t) for the worst y ≠ y_t, and ‖u‖² = Σ‖uⁱ‖².
"""

from selectron.bounds import cbgz06
from selectron.bounds.ranges import check
from selectron.bounds.ss05 import multiclass_scale


def class_perceptron_mistakes(
    *, b: float, max_norm: float, target_margin: float, hinge: float, comparator_norm: float
) -> float:
    """Bound the expected mistakes of Perceptron + Margin(b) (ours, after [CBGZ06], Theorem 1).

    E[M] ≤ (1 + X²/b) L̄/γ + ‖u‖² (b + X²)² / (2bγ²)

    Parameters are those of `cbgz06.perceptron_mistakes`; X is the largest norm of a row.

    Examples
    --------
    >>> class_perceptron_mistakes(
    ...     b=1.0, max_norm=1.0, target_margin=0.5, hinge=2.0, comparator_norm=1.0
    ... )
    16.0
    """
    longest, _ = multiclass_scale(max_norm=max_norm)
    losses = {"hinge": hinge, "comparator_norm": comparator_norm}
    return cbgz06.perceptron_mistakes(b=b, max_norm=longest, target_margin=target_margin, **losses)


def class_second_order_mistakes(
    *, b: float, target_margin: float, hinge: float, comparator_energy: float, log_volume: float
) -> float:
    """Bound the expected mistakes of SecondOrder(a) + Margin(b) (ours, after [CBGZ06], Theorem 3).

    E[M] ≤ L̄/γ + (b/2γ²) Σ_k uᵏᵀE[A_n]uᵏ + (1/b) E Σ ln(1 + λ_i/a): Theorem 3 with twice the volume

    Parameters
    ----------
    comparator_energy : float
        Σ_k uᵏᵀE[A_n]uᵏ over the prototypes; the others as in `cbgz06.second_order_mistakes`.

    Notes
    -----
    Every class is a ridge regression on its targets: 1 for the label, -1 for the best other class,
    0 for the rest. With y a target and p a score, ½(p - y)² is at most the gain of its potential
    plus ½y² xᵀA⁻¹x. The targets of a round have Σy² = 2, so the volume counts twice.
    The squares sum to 1 - (s_label - s_rival) and more, where Theorem 3 has ½ + |p|.

    Examples
    --------
    >>> class_second_order_mistakes(
    ...     b=0.5, target_margin=0.5, hinge=1.0, comparator_energy=2.0, log_volume=1.5
    ... )
    7.0
    """
    check(log_volume=log_volume)
    known = {"target_margin": target_margin, "hinge": hinge, "comparator_energy": comparator_energy}
    return cbgz06.second_order_mistakes(b=b, log_volume=2 * log_volume, **known)


def class_second_order_every_label(
    *, target_margin: float, hinge: float, comparator_energy: float, log_volume: float
) -> float:
    """Bound the mistakes of SecondOrder(a) that sees every label (ours, [CBGZ06], inequality 13).

    M ≤ L/γ + (1/γ) √(2 Σ_k uᵏᵀA_n uᵏ · Σ ln(1 + λ_i/a)), on every run

    Examples
    --------
    >>> class_second_order_every_label(
    ...     target_margin=0.5, hinge=1.0, comparator_energy=2.0, log_volume=4.0
    ... )
    10.0
    """
    check(log_volume=log_volume)
    known = {"target_margin": target_margin, "hinge": hinge, "comparator_energy": comparator_energy}
    return cbgz06.second_order_optimal_mistakes(log_volume=2 * log_volume, **known)


def class_adaptive_mistakes(
    *, beta: float, max_norm: float, target_margin: float, hinge: float, comparator_norm: float
) -> float:
    """Bound the expected mistakes of Perceptron + AdaptiveMargin (ours, [CBGZ06], Theorem 2).

    Theorem 2 with √2X in place of X and β/2 in place of β, for the rule's b is βX²√(1 + K) with the
    norm of the row itself. Parameters are those of `cbgz06.adaptive_mistakes`.

    Examples
    --------
    >>> round(class_adaptive_mistakes(
    ...     beta=2.0, max_norm=0.5**0.5, target_margin=0.5, hinge=0.0, comparator_norm=1.0
    ... ), 6)
    37.973666
    """
    check(beta=beta)
    longest, _ = multiclass_scale(max_norm=max_norm)
    losses = {"hinge": hinge, "comparator_norm": comparator_norm}
    return cbgz06.adaptive_mistakes(
        beta=beta / 2, max_norm=longest, target_margin=target_margin, **losses
    )
