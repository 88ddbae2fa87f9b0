"""Average ranks over data sets: by hand, from the tables of the paper, beside scipy."""

import numpy as np
import pytest
from scipy.stats import friedmanchisquare

from selectron.evaluate import average_ranks, critical_difference

BY_HAND = {"a": [3, 1, 2, 4], "b": [1, 2, 2, 1], "c": [2, 3, 2, 2], "d": [4, 4, 9, 3]}


def test_ranks_by_hand():
    ranks = average_ranks(BY_HAND)
    # a: 3, 1, 2, 4; b: 1, 2, 2, 1; c: 2, 3, 2, 2; d: 4, 4, 4, 3; three share the middle of 1 to 3
    assert ranks.names == ["b", "c", "a", "d"]
    assert ranks.average == [1.5, 2.25, 2.5, 3.75]
    assert ranks.data_sets == 4


def test_numbers_that_differ_by_rounding_share_a_rank():
    ranks = average_ranks({"a": [0.1 + 0.2] * 3, "b": [0.3] * 3, "c": [0.4] * 3})
    assert ranks.average == [1.5, 1.5, 3.0]


def test_friedman_by_hand():
    """Without ties: 12 n / (k (k + 1)) times the squares of the ranks, less 3 n (k + 1)."""
    ranks = average_ranks({"a": [1, 1, 2], "b": [2, 2, 1], "c": [3, 3, 3]})
    squares = (4 / 3) ** 2 + (5 / 3) ** 2 + 9
    assert ranks.chi_square == pytest.approx(12 * 3 / 12 * squares - 3 * 3 * 4)
    assert ranks.p == pytest.approx(np.exp(-ranks.chi_square / 2))  # two degrees of freedom


def test_friedman_is_that_of_scipy():
    ranks = average_ranks(BY_HAND)
    assert (ranks.chi_square, ranks.p) == pytest.approx(friedmanchisquare(*BY_HAND.values()))


def test_learners_that_are_all_alike():
    ranks = average_ranks({name: [1, 2, 3] for name in "abc"})
    assert (ranks.chi_square, ranks.p, ranks.average) == (0.0, 1.0, [2.0, 2.0, 2.0])
    assert ranks.groups() == [["a", "b", "c"]]


@pytest.mark.parametrize(
    ("learners", "quantile"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)]
)
def test_the_quantiles_of_the_paper(learners, quantile):
    """Demšar, Table 5 (a), at 0.05; with k (k + 1) / 6 data sets the root is one."""
    n = learners * (learners + 1) / 6
    assert critical_difference(learners, n) == pytest.approx(quantile, abs=1e-3)


def test_the_level():
    assert critical_difference(4, 14, level=0.1) == pytest.approx(1.12, abs=5e-3)  # Demšar, 3.2.2


def test_groups_overlap_and_no_group_lies_within_another():
    ranks = average_ranks(BY_HAND)._replace(critical=1.25)
    assert ranks.groups() == [["b", "c", "a"], ["a", "d"]]
    assert ranks._replace(critical=1.5).groups() == [["b", "c", "a"], ["c", "a", "d"]]
    assert ranks._replace(critical=0.1).groups() == []


@pytest.mark.parametrize(
    "given", [{"a": [1, 2, 3], "b": [1, 2, 3]}, {name: [1, 2] for name in "abc"}]
)
def test_too_few_are_refused(given):
    with pytest.raises(ValueError, match="3 learners and 3 data sets or more"):
        average_ranks(given)
