"""Kernel values from a function of the user's: k(X, Y) -> matrix.

What it computes is its own affair: we cannot promise that its bits are the same on every machine,
or in blocks of another size.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from selectron.arrays import Matrix
from selectron.kernels.block import Block
from selectron.kernels.room import capacity_of
from selectron.kernels.support import DensePanels
from selectron.kernels.tiles import tile_rows
from selectron.numeric.rows import Dense, Rows


def given_block(kernel: Callable[[Any, Any], Any], rows: Rows, support: Any) -> Block:
    """Ask the function for the values of a block against support vectors and its own rows."""
    X = as_matrix(rows)
    n, m = X.shape[0], support.n_support
    values = np.zeros((n, capacity_of(support)))
    if m:
        values[:, :m] = _asked(kernel, X, support_rows(support))
    within = _asked(kernel, X, X)
    squares = within.diagonal().copy()
    no_tiles = np.empty((0, 0, tile_rows(X.dtype)), X.dtype)
    return Block(rows, no_tiles, 0, values, within, squares, squares)


def as_matrix(rows: Rows) -> Any:
    """Return rows as users know them."""
    if isinstance(rows, Dense):
        return rows.values
    from scipy.sparse import csr_matrix  # noqa: PLC0415 - seldom needed

    first, last = rows.starts[0], rows.starts[-1]
    parts = rows.values[first:last], rows.indices[first:last].view(np.int32), rows.starts - first
    return csr_matrix(parts, (len(rows.starts) - 1, rows.width))


def support_rows(support: Any) -> Any:
    """Return the support vectors as a matrix, in the order of their slots."""
    m = support.n_support
    if isinstance(support, DensePanels):
        d = support.panels.shape[1]
        rows = support.panels.transpose(0, 2, 1).reshape(-1, d)[:m]
        return np.ascontiguousarray(rows)
    from scipy.sparse import csr_matrix  # noqa: PLC0415

    lengths = support.lengths[:m]
    filled = np.arange(support.values.shape[1]) < lengths[:, np.newaxis]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    parts = support.values[:m][filled], support.columns[:m][filled].view(np.int32), starts
    return csr_matrix(parts, (m, len(support.spread)))


def _asked(kernel: Callable[[Any, Any], Any], X: Any, Y: Any) -> Matrix:
    values = np.ascontiguousarray(kernel(X, Y), np.float64)
    if values.shape != (X.shape[0], Y.shape[0]):
        raise ValueError(
            f"the kernel gave an array of shape {values.shape} for {X.shape[0]} and {Y.shape[0]} "
            "rows: return one value for every pair"
        )
    return values
