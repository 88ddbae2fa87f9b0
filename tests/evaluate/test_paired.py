"""Paired tests: by hand, by counting every choice of signs, and beside scipy."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import rankdata, wilcoxon

from selectron.evaluate import holm, paired_differences, signed_rank
from selectron.evaluate.paired import FEWEST, rank_sum


def by_counting(values):
    """The share of all choices of signs whose sum of signed ranks is as extreme."""
    ranks = rankdata(np.abs(values))
    found = abs(np.sign(values) @ ranks)
    sums = [abs(np.dot(signs, ranks)) for signs in product((-1, 1), repeat=len(values))]
    return np.mean([total >= found for total in sums])


@pytest.mark.parametrize("seed", range(4))
def test_the_signed_rank_test_counts_choices_of_signs(seed):
    values = np.random.default_rng(seed).normal(0.5, size=9)
    assert signed_rank(values) == pytest.approx(by_counting(values))


def test_the_signed_rank_test_is_that_of_scipy():
    values = np.random.default_rng(1).integers(-3, 9, size=60) / 7  # ties, zeros, many pairs
    assert signed_rank(values) == pytest.approx(wilcoxon(values, zero_method="wilcox").pvalue)


def test_no_difference_is_never_sure():
    assert signed_rank([0.0] * 20) == 1.0
    [found] = paired_differences({"a": [[0.5] * 20], "b": [[0.5] * 20]})
    assert (found.p_holm, found.sure, found.rank_sum) == (1.0, False, 0.0)


def test_fewer_pairs_than_the_fewest_are_never_sure():
    assert signed_rank(np.arange(1.0, FEWEST)) == 0.0625
    assert signed_rank(np.arange(1.0, FEWEST + 1)) == 0.03125


# --- Holm


def test_holm_by_hand():
    # in order 0.005 x 4, 0.01 x 3, 0.03 x 2, 0.04 x 1, the last raised to the one before it
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_begins_with_the_smallest():
    """The control: factors that begin at the wrong end would call 0.02 sure too."""
    small, large = holm([0.012, 0.02, 0.9, 0.8])[:2]
    assert (small, large) == pytest.approx((0.048, 0.06))


def test_holm_keeps_the_order_and_its_limits():
    p_values = np.random.default_rng(0).random(30) ** 3
    corrected = np.array(holm(p_values))
    assert (corrected >= p_values).all()
    assert (corrected <= np.minimum(30 * p_values, 1.0)).all()  # never above Bonferroni's
    assert (np.diff(corrected[np.argsort(p_values)]) >= 0).all()
    assert holm([]) == []


def test_holm_does_not_depend_on_the_order_given():
    p_values = [0.03, 0.001, 0.2, 0.02]
    backwards = holm(p_values[::-1])[::-1]
    assert holm(p_values) == backwards


def test_holm_rejects_as_step_by_step():
    """The definition: go up from the smallest, and stop at the first above 0.05 / (tests left)."""
    for p_values in np.random.default_rng(2).random((200, 5)) ** 4:
        rejected = set()
        for step, k in enumerate(np.argsort(p_values)):
            if p_values[k] >= 0.05 / (5 - step):
                break
            rejected.add(k)
        assert {k for k, p in enumerate(holm(p_values)) if p < 0.05} == rejected


# --- learners


def test_each_against_each_over_all_data_sets():
    rng = np.random.default_rng(0)
    runs = {name: rng.random((2, 8)).tolist() for name in "abc"}
    found = paired_differences(runs)
    assert [each[:3] for each in found] == [("a", "b", 16), ("a", "c", 16), ("b", "c", 16)]
    values = np.ravel(runs["a"]) - np.ravel(runs["c"])
    assert found[1].mean == pytest.approx(values.mean())
    assert (found[1].lower, found[1].higher) == ((values < 0).sum(), (values > 0).sum())
    assert found[1].p == pytest.approx(wilcoxon(values).pvalue)
    assert [each.p_holm for each in found] == holm([each.p for each in found])


def test_the_correction_is_over_the_pairs_that_are_tested():
    runs = {"a": [[1, 2, 3, 4, 5, 6]], "b": [[0] * 6], "c": [[9, 8, 7, 6, 5, 4.5]]}
    alone, *_ = paired_differences(runs, [("a", "b")])
    assert (alone.p_holm, alone.sure) == (0.03125, True)
    assert not paired_differences(runs)[0].sure


def test_runs_that_no_seed_changes_count_once():
    fixed, other = [0.1] * 20, [0.2] * 20
    [found] = paired_differences({"a": [fixed], "b": [other]})
    assert (found.pairs, found.sure) == (1, False)
    moving = np.linspace(0.2, 0.3, 20).tolist()
    [found] = paired_differences({"a": [fixed, fixed], "b": [other, moving]})
    assert (found.pairs, found.sure) == (21, True)


def test_equal_differences_have_equal_ranks():
    """0.3 - 0.2 is not 0.4 - 0.3 in binary numbers."""
    runs = {"a": [[0.3, 0.4, 0.2, 0.5]], "b": [[0.2, 0.3, 0.3, 0.1]]}
    [found] = paired_differences(runs)
    assert found.rank_sum == 2.0 + 2.0 - 2.0 + 4.0


def test_the_direction_is_that_of_the_ranks():
    assert rank_sum([-1, -2, -3, -4, -5, 100]) == -9.0
