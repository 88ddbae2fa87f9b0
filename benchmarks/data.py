"""Streams to time on: the shapes of MNIST, RCV1 and a small dense table."""

import os
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array


class Stream(NamedTuple):
    X: object
    y: np.ndarray
    name: str


@cache
def mnist(dtype=np.float64):
    """Real MNIST if SELECTRON_DATA has it, else rows of the same shape and density."""
    path = Path(os.environ.get("SELECTRON_DATA", "")) / "mnist.npz"
    if path.is_file():
        with np.load(path) as file:
            X = file["x_train"].reshape(60_000, -1).astype(np.float64)
            y = file["y_train"] < 5
        name = "MNIST"
    else:
        rng = np.random.default_rng(0)
        X = rng.random((60_000, 784)) * (rng.random((60_000, 784)) < 0.191)
        y = X @ rng.standard_normal(784) > 0
        name = "MNIST look-alike"
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return Stream(np.ascontiguousarray(X, dtype), y, f"{name} 60,000 x 784")


@cache
def rcv1(dtype=np.float64, n=400_000):
    """Sparse rows of the shape of RCV1: 47,236 columns, 75 entries a row, Zipf columns."""
    rng = np.random.default_rng(0)
    d, entries = 47_236, 75
    share = 1.0 / np.arange(1, d + 1) ** 0.9
    columns = rng.permutation(d)[rng.choice(d, n * entries, p=share / share.sum())]
    values = rng.gamma(2.0, size=n * entries)
    X = csr_array(
        (values, columns.astype(np.int32), np.arange(0, n * entries + 1, entries)), (n, d)
    )
    X.sum_duplicates()
    lengths = np.sqrt(np.add.reduceat(X.data**2, X.indptr[:-1]))
    X.data /= np.repeat(lengths, np.diff(X.indptr))
    y = X @ rng.standard_normal(d) > 0
    y ^= rng.random(n) < 0.03
    X = X.astype(dtype)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return Stream(X, y, f"RCV1 shape {n:,} x 47,236")


@cache
def small(dtype=np.float64):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2_000_000, 30)).astype(dtype)
    y = X @ rng.standard_normal(30).astype(dtype) > 0
    return Stream(X, y, "dense 2,000,000 x 30")
