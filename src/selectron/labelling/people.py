"""How far annotators agree, and how far each can be relied on."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import NamedTuple

ROUNDS, SETTLED = 50, 1e-4
BEFORE, RIGHT_BEFORE = 5.0, 4.0  # answers that everybody is credited with, and how many are right


def alpha(units: Iterable[Sequence[Hashable]]) -> float | None:
    """Return Krippendorff's alpha of the answers, with classes as names without order.

    Parameters
    ----------
    units
        The answers of different annotators for each item. Items with one answer say nothing.

    Returns
    -------
    float or None
        1 where all agree, about 0 where answers agree as often as chance would have it. None
        where nothing can be said: no item has two answers, or only one class was ever named.

    Examples
    --------
    >>> alpha([["a", "a"], ["b", "b"], ["a", "b"], ["b", "b"]])
    0.5333333333333333
    """
    totals: Counter[Hashable] = Counter()
    observed = Fraction(0)  # pairs that differ, every answer weighing one
    for answers in units:
        if len(answers) > 1:
            counts = Counter(answers)
            totals += counts
            same = sum(count * count for count in counts.values())
            observed += Fraction(len(answers) ** 2 - same, len(answers) - 1)
    n = totals.total()
    expected = n * n - sum(count * count for count in totals.values())
    if not expected:
        return None
    return float(1 - (n - 1) * observed / expected)


class Agreement(NamedTuple):
    """How often an annotator's answers were those of others."""

    compared: int
    agreed: float
    share: float | None


def agreement(
    units: Iterable[tuple[Mapping[str, Hashable], Hashable | None]],
) -> dict[str, Agreement]:
    """Compare each annotator's answers with the others'.

    Parameters
    ----------
    units
        For each item the answers by annotator, and the label that somebody decided on, or None.

    Returns
    -------
    dict
        By annotator. An answer is held against the decision if there is one, otherwise against
        the answers of the others, of which it agrees with a share.
    """
    compared: Counter[str] = Counter()
    agreed: dict[str, Fraction] = {}
    for answers, decision in units:
        for name, answer in answers.items():
            others = [given for other, given in answers.items() if other != name]
            judges = others if decision is None else [decision]
            if judges:
                compared[name] += 1
                share = Fraction(sum(judge == answer for judge in judges), len(judges))
                agreed[name] = agreed.get(name, Fraction(0)) + share
    return {
        name: Agreement(count, float(agreed[name]), float(agreed[name] / count))
        for name, count in compared.items()
    }


def reliability(
    units: Iterable[tuple[Mapping[str, Hashable], Hashable | None]],
) -> dict[str, float]:
    """Estimate how often each voter is right, by the one-coin model of Dawid and Skene.

    A voter is right with a probability of their own, and otherwise names any other class. Whether
    an answer is right is weighed by all voters of its item, and the probabilities by that, in turn.
    With two voters alone nobody knows who erred, so that both get the same; a third one, who may
    be the learner, or a decision tells them apart.

    Parameters
    ----------
    units
        For each item the answers by voter, and the label that somebody decided on, or None.

    Returns
    -------
    dict
        By voter, between 0 and 1. Few answers count less than what everybody is credited with.

    Examples
    --------
    >>> votes = [{"ann": "a", "bob": "b" if n % 4 else "a", "learner": "a"} for n in range(40)]
    >>> units = [(each, None) for each in votes]
    >>> [f"{voter} {share:.2f}" for voter, share in reliability(units).items()]
    ['ann 0.98', 'bob 0.31', 'learner 0.98']
    """
    alike = Counter((tuple(sorted(votes.items(), key=_voter)), label) for votes, label in units)
    votes = [(voter, label) for unit, _ in alike for voter, label in unit]
    others = max(1, len({label for _, label in votes}) - 1)
    right = dict.fromkeys(sorted({voter for voter, _ in votes}), RIGHT_BEFORE / BEFORE)
    for _ in range(ROUNDS):
        seen, good = dict.fromkeys(right, BEFORE), dict.fromkeys(right, RIGHT_BEFORE)
        for (unit, decision), count in alike.items():
            shares = {decision: 1.0} if decision is not None else _shares(unit, right, others)
            for voter, label in unit:
                seen[voter] += count
                good[voter] += count * shares.get(label, 0.0)
        before, right = right, {voter: good[voter] / seen[voter] for voter in right}
        if all(abs(right[voter] - before[voter]) < SETTLED for voter in right):
            break
    return right


def _voter(vote: tuple[str, Hashable]) -> str:
    return vote[0]


def _shares(
    unit: tuple[tuple[str, Hashable], ...], right: Mapping[str, float], others: int
) -> dict[Hashable, float]:
    """Return how probable each class that was named is."""
    weights = {
        name: prod(right[v] if label == name else (1 - right[v]) / others for v, label in unit)
        for name in dict.fromkeys(label for _, label in unit)
    }
    total = sum(weights.values())
    return {name: weight / total for name, weight in weights.items()}
