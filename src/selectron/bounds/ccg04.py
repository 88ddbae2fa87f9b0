"""From the mistakes of one online run to the error of its hypotheses on new rows [CCG04].

The rows of the run, with their labels, are drawn independently from one distribution, and so is the
row that the error speaks of. Coins of a query rule change nothing: a hypothesis may depend on all
that came before it, and the mistakes are those of all rounds, asked or not. M is their number, T
the number of rounds.
"""

from math import log, sqrt

from selectron.bounds.ranges import FROM_ONE, INSIDE_UNIT, Ranges, check_in
from selectron.spec import NOT_NEGATIVE

_RANGES: Ranges = {
    "delta": (INSIDE_UNIT, "it is the chance to fail, as 0.05"),
    "mistakes": (NOT_NEGATIVE, "count the wrong predictions of all rounds"),
    "n_hypotheses": (FROM_ONE, "give a number known before the run: its rounds will do"),
    "rounds": (FROM_ONE, "give the number of rounds"),
    "survived": (NOT_NEGATIVE, "count the right predictions before its first mistake"),
}


def mean_error(*, mistakes: float, rounds: float, delta: float) -> float:
    """Bound the mean error of the hypotheses of all rounds (after [CCG04]).

    (1/T) Σ err(h_t) ≤ M/T + √(ln(1/δ)/(2T)), with probability 1 - δ

    It is the error to expect of a hypothesis whose round is drawn at random.

    Notes
    -----
    The proof is Hoeffding's: given the past, err(h_t) minus the mistake of its
    round lies in an interval of length 1, and Hoeffding's inequality for martingales asks for no
    more than the length of this interval.

    Examples
    --------
    >>> round(mean_error(mistakes=100, rounds=2000, delta=0.05), 4)
    0.0774
    """
    check_in(_RANGES, mistakes=mistakes, rounds=rounds, delta=delta)
    return mistakes / rounds + sqrt(log(1 / delta) / (2 * rounds))


def vote_error(*, mistakes: float, rounds: float, delta: float) -> float:
    """Bound the error of the majority vote of the hypotheses of all rounds (after [CCG04]).

    err ≤ 2 (M/T + √(ln(1/δ)/(2T))), with probability 1 - δ: where the vote is wrong, half of the
    hypotheses are.

    Examples
    --------
    >>> round(vote_error(mistakes=100, rounds=2000, delta=0.05), 4)
    0.1547
    """
    return 2 * mean_error(mistakes=mistakes, rounds=rounds, delta=delta)


def expected_error(*, mistakes: float, rounds: float) -> float:
    """Return the expected error after a random number of rounds (Helmbold-Warmuth; see [CCG04]).

    E err = E[M]/(T + 1), where M counts the mistakes of T + 1 rounds and the learner stops after k
    of them, k drawn from 0, ..., T: the row after the stop is as new as any other.

    Parameters
    ----------
    mistakes : float
        E[M], or a bound on it, such as those of [CBGZ06] and [SS05].
    rounds : float
        T + 1.

    Examples
    --------
    >>> expected_error(mistakes=25, rounds=1000)
    0.025
    """
    check_in(_RANGES, mistakes=mistakes, rounds=rounds)
    return mistakes / rounds


def survivor_error(*, survived: float, n_hypotheses: float, delta: float) -> float:
    """Bound the error of the hypothesis that survived longest (ours; [CCG04] has others).

    err ≤ 1 - (δ/K)^(1/s) ≤ ln(K/δ)/s, with probability 1 - δ

    Parameters
    ----------
    survived : float
        s, the right predictions of the hypothesis in a row, from its first round on.
    n_hypotheses : float
        K, how many hypotheses there may be, by a theorem or by the number of rounds.
    delta : float
        δ in (0, 1).

    Notes
    -----
    A hypothesis of error e survives s rounds with probability (1 - e)^s, whatever came before. Take
    the least s at which that is below δ/K: with probability 1 - δ none of the K hypotheses gets as
    far as its own s. So all that do survive s rounds have the bound, the longest survivor included.

    Examples
    --------
    >>> round(survivor_error(survived=300, n_hypotheses=2000, delta=0.05), 4)
    0.0347
    """
    check_in(_RANGES, survived=survived, n_hypotheses=n_hypotheses, delta=delta)
    return 1 - (delta / n_hypotheses) ** (1 / survived) if survived > 0 else 1.0
