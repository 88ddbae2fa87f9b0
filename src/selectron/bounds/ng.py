"""The Perceptron on separable data, as taught in [Ng]."""

from selectron.bounds.ranges import check


def novikoff(*, max_norm: float, margin: float) -> float:
    """Bound the mistakes of the Perceptron on separable data ([Ng], Theorem of Block and Novikoff).

    M ≤ (D/γ)²

    Parameters
    ----------
    max_norm : float
        D, the largest norm of a row.
    margin : float
        γ > 0, with y u·x ≥ γ on every row for some u of length 1.

    Notes
    -----
    Rows on which an update is made for y w·x = 0 count as mistakes, whatever the sign of 0 is.

    Examples
    --------
    >>> novikoff(max_norm=1.0, margin=0.25)
    16.0
    """
    check(max_norm=max_norm, margin=margin)
    if margin > max_norm:
        raise ValueError(
            f"margin must be at most max_norm = {max_norm!r}, got {margin!r}; no row lies further "
            "from a separator than it is long"
        )
    return (max_norm / margin) ** 2
