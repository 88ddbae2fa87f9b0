"""Selective sampling on any sequence: expected mistakes, asked or not [CBGZ06].

Every bound holds for each n, comparator u and target margin γ > 0. L̄ is the expected hinge loss
Σ max(0, γ - y_t u·x_t) over the rounds with an update only. The rules here update when y p ≤ 0,
p the margin, so a tie counts against the learner whatever its label: the proofs do not mind.
"""

from collections.abc import Sequence
from math import isfinite, log, log1p, sqrt

from selectron.bounds.ranges import check


def perceptron_mistakes(
    *, b: float, max_norm: float, target_margin: float, hinge: float, comparator_norm: float
) -> float:
    """Bound the expected mistakes of Perceptron + Margin(b) ([CBGZ06], Theorem 1).

    E[M] ≤ (1 + X²/2b) L̄/γ + ‖u‖² (2b + X²)² / (8bγ²)

    Parameters
    ----------
    b : float
        Of the odds b/(b + |p|). A Perceptron of step eta asks as one of step 1 with b/eta.
    max_norm : float
        X, the largest norm of a row.
    target_margin : float
        γ > 0. The bound holds for every γ, so minimise over it.
    hinge : float
        L̄, expected hinge loss of u at margin γ over the rounds with an update.
    comparator_norm : float
        ‖u‖.

    Examples
    --------
    >>> perceptron_mistakes(b=1.0, max_norm=1.0, target_margin=0.5, hinge=2.0, comparator_norm=1.0)
    10.5
    """
    check(b=b, max_norm=max_norm, target_margin=target_margin)
    check(hinge=hinge, comparator_norm=comparator_norm)
    square = max_norm**2
    loss_term = (1 + square / (2 * b)) * hinge / target_margin
    return loss_term + (comparator_norm * (2 * b + square) / target_margin) ** 2 / (8 * b)


def perceptron_optimal_b(
    *, max_norm: float, target_margin: float, hinge: float, comparator_norm: float
) -> float:
    """Find the b that makes `perceptron_mistakes` smallest ([CBGZ06], after Theorem 1).

    b = (X²/2) √(1 + 4γ² (L̄/γ) / (‖u‖²X²)), which is X²/2 on separable data. L̄ is that of the run
    with this very b: hindsight tells b, and b changes what is seen.

    Examples
    --------
    >>> perceptron_optimal_b(max_norm=1.0, target_margin=0.5, hinge=1.0, comparator_norm=1.0)
    0.8660254037844386
    """
    check(max_norm=max_norm, target_margin=target_margin, hinge=hinge)
    check(comparator_norm=comparator_norm)
    if comparator_norm == 0:
        raise ValueError(f"a best b needs a comparator, got {comparator_norm=}; give its norm")
    noise = 4 * target_margin * hinge / (comparator_norm * max_norm) ** 2
    return max_norm**2 / 2 * sqrt(1 + noise)


def perceptron_optimal_mistakes(
    *, max_norm: float, target_margin: float, hinge: float, comparator_norm: float
) -> float:
    """Evaluate `perceptron_mistakes` at its optimal b ([CBGZ06], inequality 1).

    E[M] ≤ L̄/γ + R²/2 + R √(L̄/γ + R²/4),  R = ‖u‖X/γ

    Examples
    --------
    >>> perceptron_optimal_mistakes(max_norm=1.0, target_margin=0.5, hinge=0.0, comparator_norm=1.0)
    4.0
    """
    check(max_norm=max_norm, target_margin=target_margin, hinge=hinge)
    check(comparator_norm=comparator_norm)
    ratio, loss = comparator_norm * max_norm / target_margin, hinge / target_margin
    return loss + ratio**2 / 2 + ratio * sqrt(loss + ratio**2 / 4)


def p_norm_mistakes(
    *,
    p: float,
    max_norm: float,
    comparator_norm: float,
    b: float,
    target_margin: float,
    hinge: float,
) -> float:
    """Bound the expected mistakes of PNorm(p) + Margin(b) (ours, after [CBGZ06], Theorem 1).

    Theorem 1 with (p - 1)X_p² in place of X² and ‖u‖_q in place of ‖u‖, 1/p + 1/q = 1, p ≥ 2. The
    paper says in section 3 that its method covers this family, and states no bound.

    Parameters
    ----------
    max_norm : float
        X_p, the largest p-norm of a row.
    comparator_norm : float
        ‖u‖_q; the others as in `perceptron_mistakes`.

    Notes
    -----
    Let F(θ) = ½‖θ‖_p², so that w = ∇F(θ); write m for the margin w·x. The second derivative of F
    along x is at most (p - 1)‖x‖_p², by Hölder, so on an update, where y m = -|m|,
    F(θ + yx) ≤ F(θ) - |m| + (p - 1)X_p²/2. For the last θ, αu·θ ≤ F(θ) + α²‖u‖_q²/2 (Fenchel)
    and u·θ ≥ Σ (γ - ℓ_t). Hence Σ (αγ + |m_t| - (p - 1)X_p²/2) ≤ αΣ ℓ_t + α²‖u‖_q²/2, all sums over
    the updates: where the proof of Theorem 1 goes on, with α = (2b + (p - 1)X_p²)/(2γ).

    Examples
    --------
    >>> p_norm_mistakes(p=4, max_norm=1, comparator_norm=1, b=1.5, target_margin=0.5, hinge=2)
    20.0
    """
    check(p=p, max_norm=max_norm)
    norms = {"max_norm": sqrt(p - 1) * max_norm, "comparator_norm": comparator_norm}
    return perceptron_mistakes(b=b, target_margin=target_margin, hinge=hinge, **norms)


def p_norm_every_label(
    *, p: float, max_norm: float, comparator_norm: float, target_margin: float, hinge: float
) -> float:
    """Bound the mistakes of PNorm(p) that sees every label (ours, after [CBGZ06], inequality 1).

    M ≤ L/γ + R²/2 + R √(L/γ + R²/4),  R = √(p - 1) ‖u‖_q X_p / γ, on every run.

    Notes
    -----
    With every label the proof of `p_norm_mistakes` needs no coin. It gives
    Σ (αγ - (p - 1)X_p²/2) ≤ αL + α²‖u‖_q²/2 for every α > 0, which at the best α is this.

    Examples
    --------
    >>> p_norm_every_label(p=5, max_norm=1, comparator_norm=1, target_margin=0.5, hinge=0)
    16.0
    """
    check(p=p, max_norm=max_norm)
    norms = {"max_norm": sqrt(p - 1) * max_norm, "comparator_norm": comparator_norm}
    return perceptron_optimal_mistakes(target_margin=target_margin, hinge=hinge, **norms)


def adaptive_mistakes(
    *, beta: float, max_norm: float, target_margin: float, hinge: float, comparator_norm: float
) -> float:
    """Bound the expected mistakes of Perceptron + AdaptiveMargin(beta) ([CBGZ06], Theorem 2).

    E[M] ≤ L̄/γ + R/2β + B²/2 + B √(L̄/γ + R/2β + B²/4),  R = ‖u‖X/γ,  B = R + (1 + 3R/2)/β

    Parameters are those of `perceptron_mistakes`, but for `beta` instead of `b`.

    The proof's b_t ≥ b_{t-1} can fail after a long row that is not learnt from. It holds from one
    update to the next, where alone w, X_t and K_t move, and summing over updates is enough.

    Examples
    --------
    >>> adaptive_mistakes(beta=1.0, max_norm=1.0, target_margin=0.5, hinge=0.0, comparator_norm=1.0)
    37.973665961010276
    """
    check(beta=beta, max_norm=max_norm, target_margin=target_margin)
    check(hinge=hinge, comparator_norm=comparator_norm)
    ratio = comparator_norm * max_norm / target_margin
    drift = ratio + (1 + 1.5 * ratio) / beta
    paid = hinge / target_margin + ratio / (2 * beta)
    return paid + drift**2 / 2 + drift * sqrt(paid + drift**2 / 4)


def adaptive_rate_floor(*, beta: float, n_updates: float | None = None) -> float:
    """Return the least odds of Perceptron(eta=1) + AdaptiveMargin(beta) ([CBGZ06], section 5).

    b_{t-1}/(b_{t-1} + |p_t|) ≥ β√(1 + K) / (β√(1 + K) + √K) ≥ β/(1 + β) after K updates, None for
    any K. The paper takes rows of norm 1; all will do: |p_t| ≤ ‖x_t‖ X_{t-1} √K ≤ (X')² √K.

    Examples
    --------
    >>> adaptive_rate_floor(beta=0.25), adaptive_rate_floor(beta=0.25, n_updates=0)
    (0.2, 1.0)
    """
    check(beta=beta)
    if n_updates is None:
        return beta / (1 + beta)
    check(n_updates=n_updates)
    return beta * sqrt(1 + n_updates) / (beta * sqrt(1 + n_updates) + sqrt(n_updates))


def log_volume_of(*, eigenvalues: Sequence[float], a: float = 1.0) -> float:
    """Sum ln(1 + λ_i/a): the logarithm of |A_n|/|A_0| for A_0 = aI ([CBGZ06], Theorem 3).

    Parameters
    ----------
    eigenvalues : sequence of float
        λ_i of Σ x_t x_tᵀ over the rounds with an update. Tiny negative ones, from rounding, are 0.

    Examples
    --------
    >>> round(log_volume_of(eigenvalues=[3.0, 0.0], a=1.0), 6)
    1.386294
    """
    check(a=a)
    values = [float(value) for value in eigenvalues]
    rounding = 1e-9 * max(1.0, *values, 0.0)
    if not all(isfinite(value) and value >= -rounding for value in values):
        raise ValueError(
            f"eigenvalues must be >= 0, got {values}; take those of Σ x xᵀ over the updates"
        )
    return sum(log1p(max(0.0, value) / a) for value in values)


def second_order_mistakes(
    *, b: float, target_margin: float, hinge: float, comparator_energy: float, log_volume: float
) -> float:
    """Bound the expected mistakes of SecondOrder(a) + Margin(b) ([CBGZ06], Theorem 3).

    E[M] ≤ L̄/γ + (b/2γ²) uᵀE[A_n]u + (1/2b) E Σ ln(1 + λ_i/a),  A_n = aI + Σ x_t x_tᵀ

    Parameters
    ----------
    comparator_energy : float
        uᵀE[A_n]u, where A_n sums over the updates; the paper has a = 1.
    log_volume : float
        The expectation of `log_volume_of`; the others as in `perceptron_mistakes`.

    Notes
    -----
    SecondOrderMargin(b), of odds b/(b + |p| + ½p²(1 + r)) and r = xᵀA⁻¹x, asks less and keeps the
    bound. On an update ½(p - y)² = inf Φ_{t+1} - inf Φ_t + ½xᵀA_t⁻¹x - ½r p²; keep p² and r p² and
    the proof ends in Σ (b + |p| + ½p²(1 + r)) ≤ (b/γ)Σ ℓ_t + (b²/2γ²) uᵀA_n u + ½ ln(|A_n|/|A_0|).

    Examples
    --------
    >>> second_order_mistakes(
    ...     b=0.5, target_margin=0.5, hinge=1.0, comparator_energy=2.0, log_volume=3.0
    ... )
    7.0
    """
    check(b=b, target_margin=target_margin, hinge=hinge)
    check(comparator_energy=comparator_energy, log_volume=log_volume)
    shape_term = b * comparator_energy / (2 * target_margin**2)
    return hinge / target_margin + shape_term + log_volume / (2 * b)


def second_order_optimal_b(
    *, target_margin: float, comparator_energy: float, log_volume: float
) -> float:
    """Find the b that makes `second_order_mistakes` smallest ([CBGZ06], after Theorem 3).

    b = γ √(E Σ ln(1 + λ_i/a) / uᵀE[A_n]u)

    Examples
    --------
    >>> second_order_optimal_b(target_margin=0.5, comparator_energy=2.0, log_volume=8.0)
    1.0
    """
    check(target_margin=target_margin, comparator_energy=comparator_energy, log_volume=log_volume)
    if comparator_energy == 0 or log_volume == 0:
        raise ValueError(
            f"a best b needs {comparator_energy=} and {log_volume=} above 0; "
            "give a comparator that is not 0 and a run with an update"
        )
    return target_margin * sqrt(log_volume / comparator_energy)


def second_order_optimal_mistakes(
    *, target_margin: float, hinge: float, comparator_energy: float, log_volume: float
) -> float:
    """Evaluate `second_order_mistakes` at its optimal b ([CBGZ06], inequality 13).

    E[M] ≤ L̄/γ + (1/γ) √(uᵀE[A_n]u · E Σ ln(1 + λ_i/a))

    With every label the proof needs no coin and holds at each b, so this bounds the mistakes of
    SecondOrder(a) + Always() on every run, with L, A_n and λ_i of the run.

    Examples
    --------
    >>> second_order_optimal_mistakes(
    ...     target_margin=0.5, hinge=1.0, comparator_energy=2.0, log_volume=8.0
    ... )
    10.0
    """
    check(target_margin=target_margin, hinge=hinge)
    check(comparator_energy=comparator_energy, log_volume=log_volume)
    return (hinge + sqrt(comparator_energy * log_volume)) / target_margin


def winnow_parameters(
    *, alpha: float, target_margin: float, max_norm: float
) -> tuple[float, float]:
    """Return the (eta, b) that Winnow + Margin(b) must run with ([CBGZ06], Theorem 4).

    η = 2(1 - α)γ/X∞²,  b = αγ, with `max_norm` X∞, the largest absolute feature.

    Examples
    --------
    >>> winnow_parameters(alpha=0.5, target_margin=0.2, max_norm=1.0)
    (0.2, 0.1)
    """
    check(alpha=alpha, target_margin=target_margin, max_norm=max_norm)
    return 2 * (1 - alpha) * target_margin / max_norm**2, alpha * target_margin


def winnow_mistakes(
    *, alpha: float, target_margin: float, max_norm: float, hinge: float, d: int
) -> float:
    """Bound the expected mistakes of Winnow run with `winnow_parameters` ([CBGZ06], Theorem 4).

    E[M] ≤ (1/α) L̄/γ + X∞² ln d / (2α(1 - α)γ²), for u in the probability simplex

    Parameters
    ----------
    d : int
        The number of weights: one a feature, or two for balanced Winnow, whose u may be any
        vector with ‖u‖₁ ≤ 1.

    Examples
    --------
    >>> round(winnow_mistakes(alpha=0.5, target_margin=0.5, max_norm=1.0, hinge=1.0, d=8), 6)
    20.635532
    """
    check(alpha=alpha, target_margin=target_margin, max_norm=max_norm, hinge=hinge, d=d)
    entropy_term = (max_norm / target_margin) ** 2 * log(d) / (2 * alpha * (1 - alpha))
    return hinge / (alpha * target_margin) + entropy_term


def winnow_every_label(
    *, eta: float, target_margin: float, max_norm: float, hinge: float, d: int
) -> float:
    """Bound the mistakes of Winnow(eta) that sees every label (ours, after [CBGZ06], Theorem 4).

    M ≤ (L + ln d / η) / (γ - ηX∞²/2), for u in the probability simplex and γ > ηX∞²/2, on every run

    Notes
    -----
    On an update D(u‖w_t) - D(u‖w_{t+1}) = ηy u·x - ln Σ w_i e^{ηy x_i}. The first term is at least
    η(γ - ℓ_t). The second is at most ηy w·x + η²X∞²/2 ≤ η²X∞²/2 (Hoeffding). D begins at ln d at
    most and stays above 0. With η as in `winnow_parameters` at α → 0 this is Theorem 4 without b.

    Examples
    --------
    >>> round(winnow_every_label(eta=0.5, target_margin=0.5, max_norm=1, hinge=1, d=8), 6)
    20.635532
    """
    check(eta=eta, target_margin=target_margin, max_norm=max_norm, hinge=hinge, d=d)
    gain = target_margin - eta * max_norm**2 / 2
    if gain <= 0:
        raise ValueError(
            f"the bound needs target_margin > eta max_norm²/2, got {target_margin=}, {eta=}, "
            f"{max_norm=}; take a larger margin, or run with a smaller eta"
        )
    return (hinge + log(d) / eta) / gain
