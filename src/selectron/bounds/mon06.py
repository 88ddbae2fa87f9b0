"""The active modified Perceptron when rows are λ-similar to uniform ([Mon06], section 4.5.2).

A distribution is λ-similar to the uniform one when no event is more than 1/λ times as likely under
one as under the other. Then c of [DKM09] becomes cλ¹², an error is asked about with probability
λ⁴/32, and the error rate is at most θ/(πλ): the angle must get down to πλε. With λ = 1 all is as in
`dkm09`, but for the 4 of `printed_patience`.
"""

from math import log
from typing import TypedDict

from selectron.bounds import dkm09
from selectron.bounds.ranges import check


class UniformKnobs(TypedDict):
    d: int
    error: float
    delta: float
    c: float


def active_updates(
    *, d: int, error: float, delta: float, similarity: float, c: float = dkm09.ADMISSIBLE_C
) -> float:
    """Bound the updates until the error is ε ([Mon06], U in the proof of Theorem 7).

    U = (2d/(cλ¹²)) ln(1/(δ(λε)²))

    Parameters
    ----------
    d : int
        The number of features.
    error : float
        ε, the error rate to reach, on the rows as they come.
    delta : float
        δ, the probability to fail.
    similarity : float
        λ in (0, 1].
    c : float
        As in `dkm09.active_updates`: Lemma 16 leaves it open, and its proof admits the same value.

    Notes
    -----
    The thesis stops at θ/π ≤ ε, which is an error rate of ε/λ on these rows: hence λε here.

    Examples
    --------
    >>> round(active_updates(d=10, error=0.01, delta=0.05, similarity=0.5, c=0.01))
    111348671
    """
    return dkm09.active_updates(**_as_uniform(d, error, delta, similarity, c))


def patience(
    *, d: int, error: float, delta: float, similarity: float, c: float = dkm09.ADMISSIBLE_C
) -> float:
    """Return a sufficient R, runs of right answers before s is halved ([Mon06], Theorem 7).

    R = (10/λ²) ln(2L/(δR)), where L/R = U + log₂(2√d/(λε))

    Parameters are those of `active_updates`.

    Notes
    -----
    The thesis has 4 in place of 10, see `printed_patience`. Lemma 14 wants L(1 - λ²/4)^R ≤ δ/4, and
    (1 - λ²/4)^R ≤ δR/(2L) is what 4 gives: that is δR/2, not δ/4. With 10, as in [DKM09], it holds.

    Examples
    --------
    >>> round(patience(d=10, error=0.01, delta=0.05, similarity=0.5, c=0.01), 1)
    888.7
    """
    n_runs = runs(d=d, error=error, delta=delta, similarity=similarity, c=c)
    return 10 / similarity**2 * log(2 * n_runs / delta)


def printed_patience(
    *, d: int, error: float, delta: float, similarity: float, c: float = dkm09.ADMISSIBLE_C
) -> float:
    """Return the R that the thesis prints, 4/10 of `patience` and too small ([Mon06], Theorem 7).

    Parameters are those of `active_updates`.

    Examples
    --------
    >>> round(printed_patience(d=10, error=0.01, delta=0.05, similarity=0.5, c=0.01), 1)
    355.5
    """
    return 0.4 * patience(d=d, error=error, delta=delta, similarity=similarity, c=c)


def active_labels(
    *, d: int, error: float, delta: float, similarity: float, c: float = dkm09.ADMISSIBLE_C
) -> float:
    """Bound the labels asked until the error is ε ([Mon06], Theorem 7).

    L = R (U + log₂(1/s_L)), with s_L = λε/(2√d). Parameters are those of `active_updates`.

    Examples
    --------
    >>> round(active_labels(d=10, error=0.01, delta=0.05, similarity=0.5, c=0.01) / 1e9, 2)
    98.95
    """
    n_runs = runs(d=d, error=error, delta=delta, similarity=similarity, c=c)
    return n_runs * patience(d=d, error=error, delta=delta, similarity=similarity, c=c)


def active_errors(
    *, d: int, error: float, delta: float, similarity: float, c: float = dkm09.ADMISSIBLE_C
) -> float:
    """Bound the errors on all rows, asked or not ([Mon06], Theorem 7).

    (64/λ⁴) U: an error is asked about with probability λ⁴/32 (Lemma 15), and Chernoff costs 2.

    Parameters are those of `active_updates`.

    Examples
    --------
    >>> round(active_errors(d=10, error=0.01, delta=0.05, similarity=0.5, c=0.01) / 1e9, 2)
    114.02
    """
    return dkm09.active_errors(**_as_uniform(d, error, delta, similarity, c)) / similarity**4


def runs(
    *, d: int, error: float, delta: float, similarity: float, c: float = dkm09.ADMISSIBLE_C
) -> float:
    """Count the runs of R labels: U + log₂(2√d/(λε)) ([Mon06], L/R in the proof of Theorem 7).

    Parameters are those of `active_updates`.

    Examples
    --------
    >>> round(runs(d=10, error=0.01, delta=0.05, similarity=0.5, c=0.01))
    111348681
    """
    return dkm09.runs(**_as_uniform(d, error, delta, similarity, c))


def _as_uniform(d: int, error: float, delta: float, similarity: float, c: float) -> UniformKnobs:
    """Turn the knobs of λ-similar rows into those of uniform rows with the same U and s_L."""
    check(d=d, error=error, delta=delta, similarity=similarity, c=c)
    return {"d": d, "error": similarity * error, "delta": delta, "c": c * similarity**12}
