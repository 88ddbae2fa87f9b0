"""Relative entropy in nats: the extra log-loss of expecting q where p holds. 0 log 0 = 0."""

from collections.abc import Sequence
from math import fsum, inf, log, log1p


def bernoulli_divergence(p: float, q: float) -> float:
    """Return D(p ‖ q) between two coins; infinity if q rules out what p allows.

    Examples
    --------
    >>> print(round(bernoulli_divergence(0.25, 0.5), 6), bernoulli_divergence(0.25, 0.0))
    0.130812 inf
    """
    for name, rate in (("p", p), ("q", q)):
        if not 0 <= rate <= 1:
            raise ValueError(f"{name} is {rate}; it lies in [0, 1]")
    return divergence([p, 1 - p], [q, 1 - q])


def divergence(p: Sequence[float], q: Sequence[float]) -> float:
    """Return D(p ‖ q) = Σ p log(p/q) between two distributions.

    Examples
    --------
    >>> print(round(divergence([0.5, 0.5, 0.0], [0.25, 0.25, 0.5]), 6))
    0.693147
    """
    for name, masses in (("p", p), ("q", q)):
        if not all(mass >= 0 for mass in masses) or not abs(fsum(masses) - 1) <= 1e-9:
            raise ValueError(f"{name} is {list(masses)}; give a distribution, which sums to 1")
    if any(a > 0 and b == 0 for a, b in zip(p, q, strict=True)):
        return inf
    total = fsum(a * log_ratio(a, b) for a, b in zip(p, q, strict=True) if a > 0)
    return max(0.0, total)


def log_ratio(p: float, q: float) -> float:
    """Return log(p/q) with full precision where they are close."""
    if p == 0 or q == 0:
        return -inf if p == 0 else inf
    return log1p((p - q) / q) if 0.5 * q < p < 2 * q else log(p) - log(q)
