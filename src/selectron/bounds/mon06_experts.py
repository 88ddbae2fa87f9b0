"""Regret of mixtures of experts, from above and from below, on any sequence [Mon06, chapter 2].

L_T(α) is the total log-loss of Fixed-share with switching rate α over T steps, α* the rate that
makes it smallest; both at learning rate η = 1 (multiply losses by η, divide bounds by it). D is the
relative entropy, in nats. 0 log 0 = 0.
"""

from collections.abc import Sequence
from math import exp, fsum, inf, log, pi, sqrt

from selectron.bounds.divergence import bernoulli_divergence, divergence, log_ratio
from selectron.bounds.ranges import FROM_ONE, INSIDE_UNIT, Ranges, check_in
from selectron.spec import NOT_NEGATIVE, POSITIVE, Range

_UNIT = Range(0, 1)
_RANGES: Ranges = {
    "alpha": (_UNIT, "it is a rate or a fraction"),
    "best_alpha": (_UNIT, "it is a rate or a fraction"),
    "delta": (POSITIVE, "it is a price a step, 1 / (2 horizon) at best"),
    "horizon": (FROM_ONE, "give the number of steps"),
    "n": (FROM_ONE, "give the number of experts"),
    "n_alphas": (FROM_ONE, "give the number of switching rates"),
    "quality": (_UNIT, "it is a rate or a fraction"),
    "second_derivative": (NOT_NEGATIVE, "at a minimum it is not negative"),
    "switches": (NOT_NEGATIVE, "count the changes of the expert"),
    "variance": (NOT_NEGATIVE, "it is that of the switching rate under Q"),
}
_SHARP: Ranges = {  # for theorems about the quality of a minimum inside (0, 1)
    **_RANGES,
    "best_alpha": (INSIDE_UNIT, "at the ends a minimum has no quality"),
    "horizon": (Range(2, inf, high_open=True), "one step leaves no room to switch"),
}


def static_expert_regret(*, n: int) -> float:
    """Bound the regret of Static-expert to the best of n experts: log n ([Mon06], 2.2.3).

    Examples
    --------
    >>> print(round(static_expert_regret(n=10), 6))
    2.302585
    """
    check_in(_RANGES, n=n)
    return log(n)


def fixed_share_regret(*, horizon: int, best_alpha: float, alpha: float) -> float:
    """Bound the regret of Fixed-share to the best rate in hindsight ([Mon06], Theorem 1).

    L_T(α) - L_T(α*) ≤ (T - 1) D(α* ‖ α)

    Parameters
    ----------
    horizon : int
        T ≥ 1.
    best_alpha : float
        α* in [0, 1]; the ends included, where (C1) of the proof is an inequality the right way.
    alpha : float
        α in [0, 1], the rate that was used.

    Examples
    --------
    >>> print(round(fixed_share_regret(horizon=101, best_alpha=0.1, alpha=0.2), 4))
    3.669
    """
    check_in(_RANGES, horizon=horizon, best_alpha=best_alpha, alpha=alpha)
    return (horizon - 1) * bernoulli_divergence(best_alpha, alpha) if horizon > 1 else 0.0


def partition_regret(*, horizon: int, n: int, switches: int, alpha: float | None = None) -> float:
    """Bound the regret of Fixed-share to the best k switches ([HW98]; [Mon06], after Theorem 1).

    L_T(α) - L_T(best partition) ≤ log n + k log(n - 1) + k log(1/α) + (T - 1 - k) log(1/(1 - α))

    A partition cuts the T steps into k + 1 segments and names an expert for each, another one than
    for the segment before.

    Parameters
    ----------
    horizon : int
        T ≥ 1.
    n : int
        The number of experts, at least 2 if there are switches.
    switches : int
        k, from 0 to T - 1.
    alpha : float, optional
        The rate that was used; by default k/(T - 1), where the bound is least.

    Notes
    -----
    Fixed-share is the mixture of all sequences of experts. It gives a sequence of k switches the
    weight (1/n) (α/(n - 1))^k (1 - α)^(T-1-k), and loses no more above the sequence than the
    logarithm of 1 over this weight.

    Examples
    --------
    >>> print(round(partition_regret(horizon=101, n=5, switches=2), 4))
    14.1859
    """
    check_in(_RANGES, horizon=horizon, n=n, switches=switches)
    if switches > horizon - 1 or (switches > 0 and n < 2):
        raise ValueError(
            f"{switches} switches do not fit into {horizon} steps of {n} experts; give fewer "
            "switches"
        )
    steps = horizon - 1
    rate = alpha if alpha is not None else switches / steps if steps else 0.0
    check_in(_RANGES, alpha=rate)
    moves = switches * (log(n - 1) + log_ratio(1, rate)) if switches else 0.0
    stays = (steps - switches) * log_ratio(1, 1 - rate) if steps > switches else 0.0
    return log(n) + moves + stays


def markov_share_regret(
    *,
    horizon: int,
    best_transition: Sequence[Sequence[float]],
    transition: Sequence[Sequence[float]],
) -> float:
    """Bound the regret to the best transition matrix in hindsight ([Mon06], after Theorem 1).

    L_T(P) - L_T(P*) ≤ (T - 1) max_i D(P*(· | i) ‖ P(· | i))

    Examples
    --------
    >>> still, moving = [[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.5, 0.5]]
    >>> print(round(markov_share_regret(horizon=11, best_transition=still, transition=moving), 4))
    3.6806
    """
    check_in(_RANGES, horizon=horizon)
    best_rows = _square(best_transition=best_transition)
    rows = zip(best_rows, _square(transition=transition), strict=True)
    worst = max(divergence(best, used) for best, used in rows)
    return (horizon - 1) * worst if horizon > 1 else 0.0


def learn_alpha_regret(*, horizon: int, best_alpha: float, alphas: Sequence[float]) -> float:
    """Bound the regret of Learn-α to the best rate in hindsight ([Mon06], Corollary 1).

    L_T^top - L_T(α*) ≤ log m + (T - 1) min_j D(α* ‖ α_j)

    Examples
    --------
    >>> print(round(learn_alpha_regret(horizon=101, best_alpha=0.1, alphas=[0.05, 0.2]), 4))
    2.7586
    """
    check_in(_RANGES, horizon=horizon, best_alpha=best_alpha)
    if len(alphas) == 0:
        raise ValueError("alphas is empty; give the switching rates, at least one")
    nearest = min(bernoulli_divergence(best_alpha, alpha) for alpha in alphas)
    return log(len(alphas)) + ((horizon - 1) * nearest if horizon > 1 else 0.0)


def discretised_regret(*, horizon: int, n_alphas: int, delta: float | None = None) -> float:
    """Bound the regret of Learn-α with m rates that are δ-dense ([Mon06], section 2.3).

    L_T^top - L_T(α*) ≤ log m + (T - 1) δ, whatever the sequence; by default δ* = 1 / (2T).

    Examples
    --------
    >>> print(round(discretised_regret(horizon=1_000_000, n_alphas=1571), 4))
    7.8595
    """
    check_in(_RANGES, horizon=horizon, n_alphas=n_alphas)
    price = 1 / (2 * horizon) if delta is None else delta
    check_in(_RANGES, delta=price)
    return log(n_alphas) + (horizon - 1) * price


def approximate_size(*, delta: float) -> float:
    """Approximate how many rates δ asks for: m(δ) ≈ π / √(8δ) ([Mon06], section 2.3).

    [Mon06] gives log m ≈ -½ log δ, and hence √(2T) at δ* = 1/(2T). The constant is ours: in
    θ = arcsin √α neighbours lie √(2δ) apart, and θ runs over [0, π/2]; that is 1.57 √T.

    Examples
    --------
    >>> print(round(approximate_size(delta=1 / 54_000), 2))
    258.11
    """
    check_in(_RANGES, delta=delta)
    return pi / sqrt(8 * delta)


def relative_quality(*, horizon: int, best_alpha: float, second_derivative: float) -> float:
    """Return β*, how sharp the minimum α* is: 0 flat, 1 as sharp as can be ([Mon06], 2.15).

    β* = α* (1 - α*) / (T - 1) · L_T''(α*)

    Examples
    --------
    >>> relative_quality(horizon=101, best_alpha=0.5, second_derivative=200.0)
    0.5
    """
    check_in(_SHARP, horizon=horizon)
    check_in(_RANGES, best_alpha=best_alpha, second_derivative=second_derivative)
    return best_alpha * (1 - best_alpha) * second_derivative / (horizon - 1)


def quality_from_variance(*, horizon: int, best_alpha: float, variance: float) -> float:
    """Return β* from the variance of the switching rate α̂ under Q ([Mon06], Claim 1 and 2.21).

    β* = 1 - (T - 1) Var_Q(α̂) / (α* (1 - α*))

    Examples
    --------
    >>> quality_from_variance(horizon=101, best_alpha=0.5, variance=0.00125)
    0.5
    """
    check_in(_SHARP, horizon=horizon, best_alpha=best_alpha, variance=variance)
    return 1 - (horizon - 1) * variance / (best_alpha * (1 - best_alpha))


def regret_identity(
    *,
    horizon: int,
    best_alpha: float,
    alpha: float,
    switch_rates: Sequence[float],
    probabilities: Sequence[float],
) -> float:
    """Return the regret exactly, from the posterior of the switching rate ([Mon06], Lemma 1).

    L_T(α) - L_T(α*) = -log E_{α̂~Q} exp((T - 1) [D(α̂ ‖ α*) - D(α̂ ‖ α)])

    Q is the posterior under α* of α̂, the fraction of steps at which a sequence of experts
    switches. Any α* in (0, 1) will do, optimal or not; at its ends Q forgets sequences that α
    allows, and the right side is an upper bound.

    Parameters
    ----------
    horizon, best_alpha, alpha
        T, α* and α.
    switch_rates, probabilities : sequences of equal length
        The values α̂ can take, and Q of each.

    Examples
    --------
    >>> print(round(regret_identity(horizon=2, best_alpha=0.5, alpha=0.25,
    ...                             switch_rates=[0.0, 1.0], probabilities=[0.2, 0.8]), 6))
    0.356675
    """
    check_in(_RANGES, horizon=horizon, best_alpha=best_alpha, alpha=alpha)
    if len(switch_rates) != len(probabilities):
        raise ValueError(
            f"{len(switch_rates)} switch_rates and {len(probabilities)} probabilities; give one "
            "probability a rate"
        )
    pairs = zip(switch_rates, probabilities, strict=True)
    steps = horizon - 1
    terms = [
        (log(q) + steps * _gain(rate, best_alpha, alpha)) if q > 0 else -inf for rate, q in pairs
    ]
    top = max(terms)
    return inf if top == -inf else -(top + log(fsum(exp(term - top) for term in terms)))


def fixed_share_regret_floor(
    *, horizon: int, best_alpha: float, alpha: float, quality: float
) -> float:
    """Bound the regret of Fixed-share from below ([Mon06], Theorem 2).

    L_T(α) - L_T(α*) ≥ -log E_{α̂~Q} exp((T - 1) [D(α̂ ‖ α*) - D(α̂ ‖ α)]) with the Q of two
    points that is worst for its mean α* and variance: 1 and (α* - q_1)/(1 - q_1) if α ≥ α*, else
    0 and α*/(1 - q_0). At β* = 1 it meets `fixed_share_regret`: the regret is linear in T.
    Below that it falls fast, under 0 if T is large: then the floor is 0.

    Parameters
    ----------
    horizon : int
        T ≥ 2.
    best_alpha : float
        α*, inside (0, 1).
    alpha : float
        α in [0, 1].
    quality : float
        β* in [0, 1], see `relative_quality`.

    Examples
    --------
    >>> for quality in (0.5, 0.99, 1.0):
    ...     print(round(fixed_share_regret_floor(
    ...         horizon=11, best_alpha=0.2, alpha=0.3, quality=quality), 4))
    -0.3615
    0.2402
    0.2573
    """
    check_in(_SHARP, horizon=horizon, best_alpha=best_alpha, alpha=alpha, quality=quality)
    odds = best_alpha / (1 - best_alpha) if alpha >= best_alpha else (1 - best_alpha) / best_alpha
    spread = (1 - quality) * odds
    end = spread / (spread + horizon - 1)  # q_1 or q_0
    if alpha >= best_alpha:
        rates = [1.0, max(0.0, (best_alpha - end) / (1 - end))]
    else:
        rates = [0.0, min(1.0, best_alpha / (1 - end))]
    return regret_identity(
        horizon=horizon,
        best_alpha=best_alpha,
        alpha=alpha,
        switch_rates=rates,
        probabilities=[end, 1 - end],
    )


def _gain(rate: float, best_alpha: float, alpha: float) -> float:
    """Return D(α̂ ‖ α*) - D(α̂ ‖ α) = α̂ log(α/α*) + (1 - α̂) log((1 - α)/(1 - α*))."""
    switching = rate * log_ratio(alpha, best_alpha) if rate > 0 else 0.0
    staying = (1 - rate) * log_ratio(1 - alpha, 1 - best_alpha) if rate < 1 else 0.0
    return switching + staying


def _square(**matrix: Sequence[Sequence[float]]) -> list[list[float]]:
    name, rows = next(iter(matrix.items()))
    read = [list(row) if hasattr(row, "__len__") else [] for row in rows]
    if not read or any(len(row) != len(read) for row in read):
        raise ValueError(f"{name} is {rows}; give a square matrix, a row from each expert")
    return read
