"""What a user passes as X, as rows the kernels can read.

A C-ordered float array or a CSR matrix is taken as it is, and its numbers are checked while the
loop reads them. Everything else goes through scikit-learn's own validation.
"""

import sys
from typing import Any

import numpy as np

from selectron.arrays import Indices, Vector
from selectron.numeric.rows import Csr, Dense, Rows

BEYOND = 2**32 - 1
MOST_COLUMNS = 2**31 - 1  # gathers of the CPU take their places as signed numbers of 32 bits
POINTED = ("csr", "csc", "bsr")  # the formats of scipy that have an indptr
FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def read_rows(X: Any, dtype: np.dtype[Any] | None = None, owner: str = "X") -> Rows:
    """Return X as rows of this type of float, or of its own where none is given; read-only."""
    if _is_sparse(X):
        return _read_sparse(X, dtype, owner)
    if not (type(X) is np.ndarray and X.ndim == 2 and X.dtype in FLOATS and X.size > 0):
        X = _validated(X, owner)
    return Dense(_sealed(np.ascontiguousarray(X, dtype=dtype)))


def no_rows(d: int, dtype: Any, *, sparse: bool) -> Rows:
    """Return a table without rows, for those who must know the kind of rows to come."""
    if not sparse:
        return Dense(np.zeros((0, d), dtype))
    return Csr(np.zeros(0, dtype), np.zeros(0, np.uint32), np.zeros(1, np.int64), d)


def shape(rows: Rows) -> tuple[int, int]:
    if isinstance(rows, Dense):
        n, d = rows.values.shape
        return n, d
    return len(rows.starts) - 1, rows.width


def n_bytes(rows: Rows) -> int:
    return sum(int(part.nbytes) for part in rows if isinstance(part, np.ndarray))


def part(rows: Rows, start: int, stop: int) -> Rows:
    """Return a stretch of rows without copying them."""
    if isinstance(rows, Dense):
        return Dense(rows.values[start:stop])
    return rows._replace(starts=rows.starts[start : stop + 1])


def sealed(rows: Any) -> Any:
    """Return the rows read-only: to the compiler, arrays that are and that are not are two types.

    So a memory map or a column of a data frame does not make it compile a kernel anew. Blocks of
    kernel values are made here and stay as they are.
    """
    if isinstance(rows, Dense):
        return Dense(_sealed(rows.values))
    if isinstance(rows, Csr):
        return Csr(_sealed(rows.values), _sealed(rows.indices), _sealed(rows.starts), rows.width)
    return rows


def _sealed(array: Any) -> Any:
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def row_values(rows: Rows) -> Vector:
    """Return the numbers of these rows, and no others of a larger matrix."""
    if isinstance(rows, Dense):
        return rows.values
    return rows.values[rows.starts[0] : rows.starts[-1]]


def all_finite(rows: Rows) -> bool:
    return bool(np.isfinite(row_values(rows)).all())


def unit_length(rows: Rows) -> bool:
    """Tell whether the first rows have length one."""
    n = min(shape(rows)[0], 100)
    squares = [float((row_values(part(rows, t, t + 1)) ** 2).sum()) for t in range(n)]
    return bool(np.allclose(squares, 1.0, rtol=0.0, atol=1e-6))


def feature_names(X: Any) -> Any:
    """Return the column names of a data frame, None of anything else."""
    if not hasattr(X, "columns"):
        return None
    from sklearn.utils.validation import _get_feature_names  # noqa: PLC0415 - costs seconds

    return _get_feature_names(X)


def outside(rows: Rows) -> int | None:
    """Return the first column that lies outside the width of a damaged matrix."""
    if isinstance(rows, Dense):
        return None
    columns = rows.indices[rows.starts[0] : rows.starts[-1]]
    beyond = columns[columns >= rows.width]
    return int(beyond.view(np.int32)[0]) if len(beyond) else None


def check_pointers(X: Any) -> None:
    """Refuse a sparse matrix whose pointers lead out of its arrays.

    It must come before any of scipy's own work on the matrix: scipy trusts them, and a damaged one
    ends the process.
    """
    if X.format not in POINTED:
        return
    starts, room = X.indptr, min(len(X.indices), len(X.data))
    if len(starts) == _n_pointers(X) and starts[0] == 0 and starts[-1] <= room:
        falls = starts[1:] < starts[:-1]
        if not falls.any():
            return
        fallen = int(falls.argmax())
        wrong = f"falls after entry {fallen}, from {starts[fallen]}"
    else:
        ends = f"from {starts[0]} to {starts[-1]}" if len(starts) else "nowhere"
        wrong = f"goes {ends} in {len(starts)} entries"
    raise ValueError(
        f"X is a damaged {X.format.upper()} matrix: indptr must rise from 0 to at most {room} in "
        f"{_n_pointers(X)} entries, and {wrong}; make the matrix anew"
    )


def _n_pointers(X: Any) -> int:
    if X.ndim == 1:
        return 2
    if X.format == "bsr":
        return int(X.shape[0] // X.blocksize[0]) + 1
    return int(X.shape[X.format == "csc"]) + 1


def _is_sparse(X: Any) -> bool:
    sparse = sys.modules.get("scipy.sparse")  # X cannot be sparse if nobody imported it
    return sparse is not None and bool(sparse.issparse(X))


def _read_sparse(X: Any, dtype: np.dtype[Any] | None, owner: str) -> Csr:
    check_pointers(X)
    if X.ndim != 2 or X.shape[0] == 0 or X.shape[1] == 0 or X.dtype.kind not in "fiub":
        X = _validated(X, owner)
    if X.shape[1] > MOST_COLUMNS:
        raise ValueError(
            f"X has {X.shape[1]:,} columns and sparse rows can have {MOST_COLUMNS:,}: hash the "
            "features into fewer"
        )
    if X.format != "csr":
        X = X.tocsr()
    if not X.has_canonical_format:  # scipy looks once a matrix and remembers
        X = X.copy()
        X.sum_duplicates()
    return _as_csr(X, dtype or (X.dtype if X.dtype in FLOATS else np.dtype(np.float64)))


def _as_csr(X: Any, dtype: Any) -> Csr:
    values = np.ascontiguousarray(X.data, dtype)
    starts = np.ascontiguousarray(X.indptr, np.int64)
    csr: Csr = sealed(Csr(values, _columns(X.indices), starts, int(X.shape[1])))
    return csr


def _columns(indices: Any) -> Indices:
    """Return columns as uint32; what does not fit becomes too large, and is refused as such."""
    if indices.dtype == np.int32:
        return np.ascontiguousarray(indices).view(np.uint32)
    beyond = (indices < 0) | (indices > BEYOND)
    return np.where(beyond, BEYOND, indices).astype(np.uint32)


def refuse_masked(X: Any) -> None:
    if np.ma.is_masked(X):
        raise ValueError(
            "X has masked entries: fill them in with X.filled(...), or drop their rows"
        )


def _validated(X: Any, owner: str) -> Any:
    from sklearn.utils.validation import check_array  # noqa: PLC0415 - costs seconds

    refuse_masked(X)
    return check_array(
        X,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        order="C",
        estimator=owner,
        input_name="X",
    )
