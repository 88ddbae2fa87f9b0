"""The normal distribution, of + - * / and our own exponential: the same bits on every machine."""

from selectron.compiler.verbs import helper
from selectron.numeric.elementary import exponential

PER_ROOT_TWO_PI = 0.3989422804014327
TAIL = 3.0  # beyond, the continued fraction converges faster than the series
SERIES_TERMS, FRACTION_TERMS = 45, 60


@helper
def normal_density(z: float) -> float:
    """Return φ(z).

    Examples
    --------
    >>> print(f"{normal_density(1.0):.6f}")
    0.241971
    """
    return PER_ROOT_TWO_PI * exponential(-0.5 * z * z)


@helper
def normal_distribution(z: float) -> float:
    """Return Φ(z), to 13 digits in either tail.

    Examples
    --------
    >>> print(f"{normal_distribution(1.0):.6f} {normal_distribution(-10.0):.6e}")
    0.841345 7.619853e-24
    """
    size = abs(z)
    density = normal_density(size)
    if size > TAIL:
        beyond = density / _mills_fraction(size)
        return beyond if z < 0.0 else 1.0 - beyond
    inside = density * _odd_series(size)
    return 0.5 - inside if z < 0.0 else 0.5 + inside


@helper
def _odd_series(z: float) -> float:
    """Return z + z³/3 + z⁵/(3·5) + ...: the area from 0 to z in units of φ(z)."""
    term = z
    total = z
    for k in range(1, SERIES_TERMS):
        term *= z * z / (2 * k + 1)
        total += term
    return total


@helper
def _mills_fraction(z: float) -> float:
    """Return z + 1/(z + 2/(z + 3/(z + ...))): φ(z) over the tail beyond z."""
    fraction = z
    for k in range(FRACTION_TERMS, 0, -1):
        fraction = z + k / fraction
    return fraction
