"""Rows as dense or sparse as the support vectors are."""

import numpy as np

from selectron.kernels.given import as_matrix
from selectron.numeric.rows import Csr, Dense, Rows


def as_kind(rows: Rows, *, sparse: bool) -> Rows:
    """Return the rows dense or sparse; those that are so already as they are."""
    if isinstance(rows, Csr) == sparse:
        return rows
    if isinstance(rows, Csr):
        return Dense(np.ascontiguousarray(as_matrix(rows).toarray()))
    present = rows.values != 0.0
    starts = np.concatenate([[0], np.cumsum(present.sum(axis=1))]).astype(np.int64)
    columns = np.nonzero(present)[1].astype(np.uint32)
    return Csr(rows.values[present], columns, starts, rows.values.shape[1])
