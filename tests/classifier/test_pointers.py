"""Sparse matrices whose pointers lead out of their arrays are refused by every door."""

import numpy as np
import pytest
from scipy.sparse import bsr_array, csc_array, csr_array

from selectron import SelectiveClassifier
from selectron.queries import Margin
from selectron.updates import Perceptron

RNG = np.random.default_rng(5)
N = 300
X = RNG.standard_normal((N, 4))
TWO = np.where(X[:, 0] > 0, "a", "b")


def plain(**options):
    return SelectiveClassifier(Perceptron(), Margin(b=1.0), random_state=0, **options)


def damaged(matrix, entry, pointer):
    matrix.indptr = matrix.indptr.copy()
    matrix.indptr[entry] = pointer
    return matrix


@pytest.mark.plain
@pytest.mark.parametrize("form", [csr_array, csc_array, bsr_array])
@pytest.mark.parametrize(("entry", "pointer"), [(2, 999), (0, 3), (-1, 999), (1, -7)])
def test_pointers_that_lead_out_of_a_matrix_are_refused(form, entry, pointer):
    rows = damaged(form(X[:5]), entry, pointer)
    with pytest.raises(ValueError, match=r"damaged .* indptr must rise from 0 .* make the matrix"):
        plain().fit(rows, TWO[:5])
    clf = plain().fit(csr_array(X), TWO)
    for door in (clf.predict, clf.ask, lambda bad: clf.partial_fit(bad, TWO[:5])):
        with pytest.raises(ValueError, match="damaged"):
            door(rows)
    assert clf.n_seen_ == N


@pytest.mark.plain
def test_matrices_with_too_few_pointers_or_columns_are_refused():
    for part in ("indptr", "indices"):
        rows = csr_array(X[:5])
        setattr(rows, part, getattr(rows, part)[:-2].copy())
        with pytest.raises(ValueError, match="damaged CSR"):
            plain().fit(rows, TWO[:5])


@pytest.mark.plain
def test_pointers_that_lead_out_of_one_row_are_refused():
    clf = plain().fit(csr_array(X), TWO)
    backwards = csr_array((X[0], np.arange(4)[::-1], [0, 4]), shape=(1, 4))
    clf.predict_one(backwards)
    rows = damaged(backwards.copy(), 1, 999), damaged(csc_array(X[:1]), 1, 999)
    for row in rows:
        for one in (clf.predict_one, clf.ask_one, lambda bad: clf.learn_one(bad, "a")):
            with pytest.raises(ValueError, match="damaged"):
                one(row)
        with pytest.raises(ValueError, match="damaged"):
            plain().learn_one(row, "a")
    with pytest.raises(ValueError, match="damaged"):
        plain().learn_one(damaged(csr_array(X[0]), 1, 999), "a")
    assert clf.n_seen_ == N
