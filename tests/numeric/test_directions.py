"""The leading directions of sparse rows, against NumPy's."""

import numpy as np
import pytest
from scipy import sparse

from selectron.numeric.directions import leading_directions
from selectron.numeric.rows import Csr


def table(X):
    rows = sparse.csr_array(X)
    starts = rows.indptr.astype(np.int64)
    return Csr(rows.data.astype(float), rows.indices.astype(np.uint32), starts, X.shape[1])


def sparse_rows(n=60, d=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)) @ rng.standard_normal((3, d)) * 3.0
    return (X + rng.standard_normal((n, d))) * (rng.random((n, d)) < 0.5)


@pytest.mark.parametrize("k", [1, 3])
def test_they_span_what_the_singular_vectors_span(k):
    X = sparse_rows()
    found = leading_directions(table(X), k)
    wanted = np.linalg.svd(X)[2][:k]
    assert np.linalg.svd(wanted @ found)[1].min() > 0.99
    assert np.allclose(found.T @ found, np.eye(k), atol=1e-12)


def test_rows_of_few_directions_leave_the_others_zero():
    X = np.outer([1.0, 2.0, 3.0], [0.0, 1.0, 1.0, 0.0])
    found = leading_directions(table(X), 3)
    assert np.allclose(np.abs(found[:, 0]), [0.0, 0.5**0.5, 0.5**0.5, 0.0])
    assert not found[:, 1:].any()


def test_the_same_rows_give_the_same_bits():
    X = sparse_rows(seed=1)
    assert leading_directions(table(X), 4).tobytes() == leading_directions(table(X), 4).tobytes()
