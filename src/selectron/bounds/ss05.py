"""Ballseptron and Perceptron on any sequence, in two norms of the comparator's losses [SS05].

The comparator u has length 1, and loses ℓ_t = max(0, γ - y_t u·x_t) in round t. For a longer one
divide γ and the losses by its length. A mistake is a round with y w·x ≤ 0, a margin error an update
on a right answer. Only the rounds of these two kinds need be in the sums D₁ and D₂.
"""

from math import sqrt

from selectron.bounds.ranges import check

LARGEST_RADIUS = sqrt(2) - 1  # of r/γ: there the discount of a margin error has fallen to 0


def d2_mistakes(
    *, max_norm: float, target_margin: float, hinge_norm: float, r: float = 0.0
) -> float:
    """Bound the mistakes by the 2-norm of the hinge losses ([SS05], Theorem 1).

    ε ≤ ((R + D₂)/γ)²,  D₂ = (Σ ℓ_t²)^½

    Parameters
    ----------
    max_norm : float
        R, the largest norm of a row; for more than two classes see `multiclass_scale`.
    target_margin : float
        γ in (0, R]. The bound holds for every γ, so minimise over it.
    hinge_norm : float
        D₂.
    r : float
        The radius of the Ballseptron, in [0, (√2 - 1)γ]; 0 is the Perceptron.

    Examples
    --------
    >>> d2_mistakes(max_norm=1.0, target_margin=0.5, hinge_norm=1.5, r=0.1)
    25.0
    """
    _check_radius(max_norm, target_margin, r)
    check(hinge_norm=hinge_norm)
    return ((max_norm + hinge_norm) / target_margin) ** 2


def d1_mistakes(*, max_norm: float, target_margin: float, hinge: float, r: float = 0.0) -> float:
    """Bound the mistakes by the sum of the hinge losses ([SS05], Theorem 2).

    ε ≤ ((R + √(γD₁))/γ)²,  D₁ = Σ ℓ_t: smaller than `d2_mistakes` when some losses exceed γ.

    Parameters
    ----------
    hinge : float
        D₁; the others as in `d2_mistakes`.

    Examples
    --------
    >>> d1_mistakes(max_norm=1.0, target_margin=0.5, hinge=2.0)
    16.0
    """
    _check_radius(max_norm, target_margin, r)
    check(hinge=hinge)
    return ((max_norm + sqrt(target_margin * hinge)) / target_margin) ** 2


def d2_mistakes_refined(
    *, max_norm: float, target_margin: float, hinge_norm: float, r: float, n_margin_errors: float
) -> float:
    """Take the margin errors off `d2_mistakes` ([SS05], Corollary 1).

    ε ≤ ((R + D₂)/γ)² - ε̃ (½ - r/γ - ½(r/γ)²)

    Notes
    -----
    Twice the discount is true as well. Let m be the margin errors ε̃, N = ε + m, K the first term
    and ρ = r/γ. If N > K, equation (11) gives N - √(NK) ≤ m(ρ + ρ²/2), and N - K ≤ 2(N - √(NK)), so
    ε ≤ K - m(1 - 2ρ - ρ²); if N ≤ K that is plain. This replaces the paper's proof, which adds up
    steps from m = 0 on, where the bound it has on a step need not hold.

    Examples
    --------
    >>> d2_mistakes_refined(
    ...     max_norm=1.0, target_margin=0.5, hinge_norm=1.5, r=0.1, n_margin_errors=10
    ... )
    22.2
    """
    bound = d2_mistakes(max_norm=max_norm, target_margin=target_margin, hinge_norm=hinge_norm, r=r)
    return bound - _discount(n_margin_errors, r, target_margin)


def d1_mistakes_refined(
    *, max_norm: float, target_margin: float, hinge: float, r: float, n_margin_errors: float
) -> float:
    """Take the margin errors off `d1_mistakes` ([SS05], equation 17).

    ε ≤ ((R + √(γD₁))/γ)² - ε̃ (½ - r/γ - ½(r/γ)²); twice the discount is true here too.

    Examples
    --------
    >>> d1_mistakes_refined(
    ...     max_norm=1.0, target_margin=0.5, hinge=2.0, r=0.1, n_margin_errors=10
    ... )
    13.2
    """
    bound = d1_mistakes(max_norm=max_norm, target_margin=target_margin, hinge=hinge, r=r)
    return bound - _discount(n_margin_errors, r, target_margin)


def _discount(n_margin_errors: float, r: float, target_margin: float) -> float:
    check(n_margin_errors=n_margin_errors)
    return n_margin_errors * margin_error_discount(r=r, target_margin=target_margin)


def margin_error_discount(*, r: float, target_margin: float) -> float:
    """Say how many mistakes one margin error is worth ([SS05], β after Theorem 1).

    β = ½ - r/γ - ½(r/γ)², from ½ at r = 0 down to 0 at r = (√2 - 1)γ.

    Examples
    --------
    >>> round(margin_error_discount(r=0.1, target_margin=0.5), 6)
    0.28
    """
    check(r=r, target_margin=target_margin)
    _check_ball(r, target_margin)
    ratio = r / target_margin
    return 0.5 - ratio - ratio**2 / 2


def d2_mistakes_too(
    *, max_norm: float, target_margin: float, hinge_norm: float, r: float, n_margin_errors: float
) -> float:
    """Bound the mistakes of Ballseptron(mistakes_too=True) by D₂ (ours, after [SS05], section 6).

    ε ≤ ((R + r + D₂)/(γ - r))² - ε̃, for any r < γ

    Notes
    -----
    The rule is a Perceptron on the worst points x̂ of the balls, and every update is a mistake on
    its point. A point has a length of R + r at most. The comparator has y u·x̂ ≥ y u·x - r, so at
    the margin γ - r it loses no more than at γ on the row. Theorem 1 on the points, at radius 0,
    bounds all updates, margin errors included.

    Examples
    --------
    >>> d2_mistakes_too(max_norm=0.9, target_margin=0.5, hinge_norm=1.0, r=0.1, n_margin_errors=5)
    20.0
    """
    norm, margin = _of_points(max_norm, target_margin, r, n_margin_errors)
    updates = d2_mistakes(max_norm=norm, target_margin=margin, hinge_norm=hinge_norm)
    return updates - n_margin_errors


def d1_mistakes_too(
    *, max_norm: float, target_margin: float, hinge: float, r: float, n_margin_errors: float
) -> float:
    """Bound the mistakes of Ballseptron(mistakes_too=True) by D₁ (ours, after [SS05], section 6).

    ε ≤ ((R + r + √((γ - r)D₁))/(γ - r))² - ε̃, for any r < γ: Theorem 2 on the points of
    `d2_mistakes_too`.

    Examples
    --------
    >>> d1_mistakes_too(max_norm=0.9, target_margin=0.5, hinge=2.5, r=0.1, n_margin_errors=5)
    20.0
    """
    norm, margin = _of_points(max_norm, target_margin, r, n_margin_errors)
    updates = d1_mistakes(max_norm=norm, target_margin=margin, hinge=hinge)
    return updates - n_margin_errors


def _of_points(
    max_norm: float, target_margin: float, r: float, n_margin_errors: float
) -> tuple[float, float]:
    """Return the largest norm of a worst point, and the margin that is left of γ there."""
    check(max_norm=max_norm, target_margin=target_margin, r=r, n_margin_errors=n_margin_errors)
    _check_margin(max_norm, target_margin)
    if r >= target_margin:
        raise ValueError(
            f"r must be below target_margin, got {r=} and {target_margin=}; lower r or raise "
            "target_margin"
        )
    return max_norm + r, target_margin - r


def multiclass_scale(*, max_norm: float, r: float = 0.0) -> tuple[float, float]:
    """Return the R and r that make the bounds hold for one prototype a class ([SS05], section 4).

    R = √2 max‖x_t‖, as the paper has it, and r grows by √2 as well: the prototypes side by side are
    one vector, an update adds x to one block of it and -x to another, in all a vector of length
    √2‖x‖, and the ball of radius r around x becomes one of radius √2 r. The comparator's prototypes
    have Σ‖uⁱ‖² = 1, and lose max(0, γ - (u^{y_t} - u^y)·x_t) for the worst y ≠ y_t. A tie for the
    best class is a mistake.

    Examples
    --------
    >>> max_norm, r = multiclass_scale(max_norm=1.0, r=0.1)
    >>> round(d2_mistakes(max_norm=max_norm, target_margin=0.5, hinge_norm=0.0, r=r), 9)
    8.0
    """
    check(max_norm=max_norm, r=r)
    return sqrt(2) * max_norm, sqrt(2) * r


def _check_radius(max_norm: float, target_margin: float, r: float) -> None:
    check(max_norm=max_norm, target_margin=target_margin, r=r)
    _check_margin(max_norm, target_margin)
    _check_ball(r, target_margin)


def _check_ball(r: float, target_margin: float) -> None:
    if r > LARGEST_RADIUS * target_margin:
        raise ValueError(
            f"r must be at most (√2 - 1) target_margin = {LARGEST_RADIUS * target_margin:g}, "
            f"got {r=}; lower r or raise target_margin"
        )


def _check_margin(max_norm: float, target_margin: float) -> None:
    if target_margin > max_norm:
        raise ValueError(
            f"target_margin must be at most max_norm, got {target_margin=} and {max_norm=}; "
            "no row can have a margin above its norm, so lower target_margin"
        )
