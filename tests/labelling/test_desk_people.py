"""Agreement and reliability, against slow formulas."""

from itertools import permutations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from selectron.labelling.people import alpha, reliability

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


def test_reliability_is_the_share_of_agreement():
    units = [
        ({"ann": "a", "bob": "a"}, None),
        ({"ann": "a", "bob": "b"}, None),
        ({"ann": "a", "bob": "b", "cyd": "b"}, None),
        ({"ann": "a", "bob": "b"}, "a"),
        ({"ann": "a"}, None),
    ]
    found = reliability(units)
    assert found["ann"] == (4, 2.0, 0.5)  # the decision in the fourth is ann's
    assert found["bob"].compared == 4
    assert found["bob"].agreed == 1 + 0 + 0.5 + 0
    assert found["cyd"] == (1, 0.5, 0.5)
