"""Short streams that bring out ties, zeros and noise."""

import numpy as np
from scipy.sparse import csr_array

from selectron.classifier.rows import read_rows


def stream(n=80, d=7, seed=0, dtype=np.float64, noise=0.1):
    """Rows with zeros in them, signs of a half-space, some of them flipped."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[rng.random((n, d)) < 0.4] = 0.0
    X[np.all(X == 0.0, axis=1), 0] = 1.0
    y = np.where(X @ rng.standard_normal(d) > 0.0, 1.0, -1.0)
    y[rng.random(n) < noise] *= -1.0
    return X.astype(dtype), y


def as_csr(X):
    return read_rows(csr_array(X))


def as_dense(X):
    return read_rows(X)
