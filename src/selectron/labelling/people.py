"""How far annotators agree, and how far each can be relied on."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple


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


class Reliability(NamedTuple):
    """How often an annotator's answers were those of others."""

    compared: int
    agreed: float
    share: float | None


def reliability(
    units: Iterable[tuple[Mapping[str, Hashable], Hashable | None]],
) -> dict[str, Reliability]:
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
        name: Reliability(count, float(agreed[name]), float(agreed[name] / count))
        for name, count in compared.items()
    }
