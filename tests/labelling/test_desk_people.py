"""Agreement and reliability, against slow formulas."""

from itertools import permutations
from random import Random

import hypothesis.strategies as st
import pytest
from hypothesis import given

from selectron.labelling.people import agreement, alpha, reliability

UNITS = st.lists(st.lists(st.sampled_from("abcd"), max_size=5), max_size=12)


def slow_alpha(units):
    """Krippendorff's own words: disagreement observed over disagreement expected.

    Observed: all ordered pairs within an item, those of an item of m answers weighing 1/(m - 1).
    Expected: all ordered pairs of answers, whatever their items.
    """
    pairable = [unit for unit in units if len(unit) > 1]
    everything = [answer for unit in pairable for answer in unit]
    n = len(everything)
    if n < 2:
        return None
    observed = sum(
        sum(a != b for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in pairable
    )
    expected = sum(a != b for a, b in permutations(everything, 2)) / (n - 1)
    return 1 - observed / expected if expected else None


@given(UNITS)
def test_alpha_is_the_slow_one(units):
    slow = slow_alpha(units)
    if slow is None:
        assert alpha(units) is None
    else:
        assert alpha(units) == pytest.approx(slow, abs=1e-12)


@given(UNITS, st.permutations("abcd"))
def test_names_of_classes_do_not_matter(units, names):
    renamed = [["abcd"[names.index(answer)] for answer in unit] for unit in units]
    assert alpha(renamed) == alpha(units)


def test_alpha_of_the_literature():
    """Krippendorff (2011), nominal data of four observers on twelve units: 0.743."""
    observers = [
        "1 2 3 3 2 1 4 1 2 . . .",
        "1 2 3 3 2 2 4 1 2 5 . 3",
        ". 3 3 3 2 3 4 2 2 5 1 .",
        "1 2 3 3 2 4 4 1 2 5 1 .",
    ]
    rows = [observer.split() for observer in observers]
    units = [[answer for answer in unit if answer != "."] for unit in zip(*rows, strict=True)]
    assert alpha(units) == pytest.approx(0.743, abs=5e-4)


def test_agreement_is_a_share():
    units = [
        ({"ann": "a", "bob": "a"}, None),
        ({"ann": "a", "bob": "b"}, None),
        ({"ann": "a", "bob": "b", "cyd": "b"}, None),
        ({"ann": "a", "bob": "b"}, "a"),
        ({"ann": "a"}, None),
    ]
    found = agreement(units)
    assert found["ann"] == (4, 2.0, 0.5)  # the decision in the fourth is ann's
    assert found["bob"].compared == 4
    assert found["bob"].agreed == 1 + 0 + 0.5 + 0
    assert found["cyd"] == (1, 0.5, 0.5)


def voted(n, seed, **right):
    """Return the votes on n items, of voters that are right with these probabilities."""
    draw, units = Random(seed), []
    for _ in range(n):
        truth = draw.choice("abc")
        units.append(
            {
                voter: truth if draw.random() < share else draw.choice("abc".replace(truth, ""))
                for voter, share in right.items()
            }
        )
    return units


def test_of_two_who_differ_the_learner_tells_who_erred():
    units = [(votes, None) for votes in voted(400, 1, ann=0.97, bob=0.75, learner=0.7)]
    found = reliability(units)
    assert found["ann"] == pytest.approx(0.97, abs=0.05)
    assert found["bob"] == pytest.approx(0.75, abs=0.05)
    assert found["learner"] == pytest.approx(0.7, abs=0.05)
    assert reliability(units) == found


def test_of_two_alone_a_decision_tells_who_erred():
    alone = [({"ann": "a", "bob": "b" if n % 5 == 0 else "a"}, None) for n in range(50)]
    assert len(set(reliability(alone).values())) == 1  # nobody knows
    decided = [(votes, "a") for votes, _ in alone]
    assert reliability(decided) == pytest.approx({"ann": 54 / 55, "bob": 44 / 55})


def test_nobody_answered():
    assert reliability([]) == {}
    assert reliability([({"ann": "a"}, None)])["ann"] > 0.8
