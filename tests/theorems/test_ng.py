"""Novikoff's bound, on separable streams."""

import numpy as np
import pytest
from hypothesis import given

from selectron.bounds import ng
from tests.theorems.streams import lopsided, orthonormal, separable
from tests.theorems.subjects import faults, supervised

PERCEPTRON = ("Perceptron", {"eta": 1.0})


def n_faults(play, X, y):
    return faults(y, supervised(play, PERCEPTRON, X, y)).sum()


@given(case=separable(max_rounds=30))
def test_novikoff_holds_on_separable_streams(play, case):
    (X, y), u = case
    bound = ng.novikoff(max_norm=case[0].max_norm, margin=(y * (X @ u)).min())
    assert n_faults(play, X, y) <= bound * (1 + 1e-9)


@pytest.mark.parametrize("n", [1, 4, 25])
def test_novikoff_is_attained_by_orthonormal_rows(play, n):
    X, y = orthonormal(n)
    assert n_faults(play, X, y) == n
    assert ng.novikoff(max_norm=1.0, margin=1 / np.sqrt(n)) == pytest.approx(n)


def test_novikoff_counts_no_rows_that_were_right(play):
    # Had the first forty rows been learnt from, the forty after them would be wrong 28 times.
    X, y = lopsided(80)
    margin = (y * X[:, 1]).min()  # u = (0, 1)
    assert n_faults(play, X, y) <= ng.novikoff(max_norm=lopsided(80).max_norm, margin=margin)
