"""The Perceptron's floor, and the modified Perceptron on the uniform sphere [DKM09].

Rows have norm 1 and a comparator u of norm 1 is never wrong. An angle θ to u is an error rate θ/π.
"""

from math import log, log2, pi, sqrt

from selectron.bounds.ranges import check

# c of Lemma 6, second part, which the paper leaves open. By Lemma 4 a row of the error region has
# |v·x| < θ/(128π√d) with probability at most 1/128, and so for u: on 63/64 of the region
# 2|v·x||u·x| ≥ 2θ²/((128π)²d) ≥ 4(1 - v·u)/((128π)²d), the last by inequality (1).
ADMISSIBLE_C = 4 / (128 * pi) ** 2


def perceptron_sine_floor(*, n_updates: float, start_norm: float = 0.0) -> float:
    """Bound sin θ from below before an update that lowers θ ([DKM09], Theorem 1).

    sin θ_t ≥ 1/(5 √(k_t + ‖v_0‖²)), and never more than 1/3 is claimed (Lemma 5)

    Parameters
    ----------
    n_updates : float
        k, the updates made since the start.
    start_norm : float
        ‖v_0‖, where v_0·u ≥ 0: count from the first hypothesis that has this.

    Notes
    -----
    The theorem as printed needs three words more. Its t runs over the updates: a round without one
    keeps θ, however small. The start must have v_0·u ≥ 0: v_0 = -u has sin θ = 0 and improves. And
    without the 1/3 it fails for k = 0, ‖v_0‖ < 3/5: at ‖v_0‖ = 1/10 it would ask for sin θ ≥ 2.

    Examples
    --------
    >>> perceptron_sine_floor(n_updates=4)
    0.1
    """
    check(n_updates=n_updates, start_norm=start_norm)
    return perceptron_sine_floor_at(norm=sqrt(n_updates + start_norm**2))


def perceptron_sine_floor_at(*, norm: float) -> float:
    """Bound sin θ from below by the length of the hypothesis ([DKM09], Lemma 5).

    sin θ_t ≥ min(1/3, 1/(5 ‖v_t‖)) if the update of v_t does not raise θ, v_t·u ≥ 0

    Examples
    --------
    >>> perceptron_sine_floor_at(norm=4.0)
    0.05
    """
    check(norm=norm)
    return min(1 / 3, 1 / (5 * norm))


def modified_perceptron_mistakes(*, d: int, error: float, delta: float) -> float:
    """Bound the mistakes until the error is below ε with probability 1 - δ ([DKM09], Theorem 7).

    M = 150 d ln(1/(εδ))

    Notes
    -----
    The last line of the proof bounds θ², and yields θ/π ≤ √ε/2. The M stands all the same: with
    inequality (1) in place of θ ≥ sin θ in Lemma 6 the mean factor is 1 - 4/(27π²d), and then
    (27π²/4) d ln(1/(4ε²δ)) mistakes give θ/π ≤ ε, which are fewer than M.

    Examples
    --------
    >>> round(modified_perceptron_mistakes(d=10, error=0.01, delta=0.05), 3)
    11401.354
    """
    check(d=d, error=error, delta=delta)
    return 150 * d * log(1 / (error * delta))


def active_updates(*, d: int, error: float, delta: float, c: float = ADMISSIBLE_C) -> float:
    """Bound the updates of the active modified Perceptron ([DKM09], U in the proof of Theorem 3).

    U = (2d/c) ln(1/(δε²)), the paper's (2d/c) ln(π²/(δθ²)) at θ = πε

    Parameters
    ----------
    d : int
        The number of features.
    error : float
        ε, the error rate to reach.
    delta : float
        δ, the probability to fail.
    c : float
        The constant of Lemma 6: 63/64 of the errors shrink 1 - v·u by 1 - c/d. The paper gives
        none; `ADMISSIBLE_C`, which its method proves, is about 2.5e-5.

    Examples
    --------
    >>> round(active_updates(d=10, error=0.01, delta=0.05, c=0.01))
    24412
    """
    check(d=d, error=error, delta=delta, c=c)
    return 2 * d / c * log(1 / (delta * error**2))


def patience(*, d: int, error: float, delta: float, c: float = ADMISSIBLE_C) -> float:
    """Return the R of the active modified Perceptron ([DKM09], Theorem 3).

    R = 10 ln(2L/(δR)), where L/R = U + log₂(1/s_L) and s_L = ε/(2√d) is the threshold at the end

    Parameters are those of `active_updates`. Then L (3/4)^R ≤ δ/4, as Lemma 8 wants.

    Examples
    --------
    >>> round(patience(d=10, error=0.01, delta=0.05, c=0.01), 2)
    137.92
    """
    return 10 * log(2 * runs(d=d, error=error, delta=delta, c=c) / delta)


def active_labels(*, d: int, error: float, delta: float, c: float = ADMISSIBLE_C) -> float:
    """Bound the labels asked until the error is ε ([DKM09], Theorem 3).

    L = R (U + log₂(1/s_L)): in R labels there is an update, or s_L is halved

    Parameters are those of `active_updates`.

    Examples
    --------
    >>> round(active_labels(d=10, error=0.01, delta=0.05, c=0.01))
    3368230
    """
    n_runs = runs(d=d, error=error, delta=delta, c=c)
    return patience(d=d, error=error, delta=delta, c=c) * n_runs


def active_errors(*, d: int, error: float, delta: float, c: float = ADMISSIBLE_C) -> float:
    """Bound the errors on all rows, asked or not, until the error rate is ε ([DKM09], Theorem 3).

    64 U: an error is asked about with probability at least 1/32 (Lemma 10), and Chernoff costs 2.

    Parameters are those of `active_updates`.

    Examples
    --------
    >>> round(active_errors(d=10, error=0.01, delta=0.05, c=0.01))
    1562377
    """
    return 64 * active_updates(d=d, error=error, delta=delta, c=c)


def active_rows(*, d: int, error: float, delta: float, c: float = ADMISSIBLE_C) -> float:
    """Bound the rows drawn, asked about or not, until the error rate is ε ([DKM09], Theorem 3).

    128 U/ε: until then every row is an error with probability ε or more. Among so many rows 128 U
    errors are expected, and by Chernoff fewer than the 64 U of `active_errors` have a probability
    of exp(-16 U) only.

    Parameters are those of `active_updates`.

    Examples
    --------
    >>> round(active_rows(d=10, error=0.01, delta=0.05, c=0.01))
    312475460
    """
    return 2 * active_errors(d=d, error=error, delta=delta, c=c) / error


def runs(*, d: int, error: float, delta: float, c: float = ADMISSIBLE_C) -> float:
    """Count the runs of R labels: U + log₂(2√d/ε) ([DKM09], L/R in the proof of Theorem 3).

    Parameters are those of `active_updates`.

    Examples
    --------
    >>> round(runs(d=10, error=0.01, delta=0.05, c=0.01), 2)
    24421.45
    """
    return active_updates(d=d, error=error, delta=delta, c=c) + log2(2 * sqrt(d) / error)
