"""What a user passes as X, as rows the kernels can read; which rows are refused, and why.

A C-ordered float array or a CSR matrix is taken as it is, and its numbers are checked while the
loop reads them. Everything else goes through scikit-learn's own validation.
"""

import sys
from datetime import date, timedelta
from enum import Enum
from typing import NamedTuple

import numpy as np

from selectron.arrays import Array, DType, Indices, Table, Vector
from selectron.compiler.raw_arrays import array_layout
from selectron.loop import NOT_FINITE, UNSOUND, DenseLayout, SparseLayout
from selectron.numeric.rows import (
    Csr,
    Dense,
    Rows,
    check_pointers,
    one_row,
    outside,
    part,
    row_columns,
    row_values,
    sealed,
    sealed_array,
    shape,
)

# Below this size no product of a few entries overflows, so a finite row has a finite margin.
TAME = {np.dtype(np.float64): 1e75, np.dtype(np.float32): 1e9}
BEYOND = 2**32 - 1
LOOKED_AT = 64  # rows that tell how large columns are, without costing time
UNEVEN = 100.0  # how many times larger a column is than the usual one
MOST_COLUMNS = 2**31 - 1  # gathers of the CPU take their places as signed numbers of 32 bits
FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
COLUMN = np.dtype(np.int32)  # of the columns and pointers of a usual sparse row
NO_NUMBERS = str, bytes, date, timedelta, np.datetime64, np.timedelta64
NUMBERS = "fiub"  # NumPy's kinds of arrays that are features: no text, no dates, no complex numbers


def read_rows(X: Table, dtype: DType | None = None, owner: str = "X") -> Rows:
    """Return X as rows of this type of float, or of its own where none is given; read-only."""
    if not (type(X) is np.ndarray and X.ndim == 2 and X.dtype in FLOATS and X.size > 0):
        if _is_sparse(X):
            return _read_sparse(X, dtype, owner)
        X = _validated(X, owner)
    return Dense(sealed_array(np.ascontiguousarray(X, dtype=dtype)))


def unit_length(rows: Rows) -> bool:
    """Tell whether the first rows have length one."""
    n = min(shape(rows)[0], 100)
    squares = [float((row_values(part(rows, t, t + 1)) ** 2).sum()) for t in range(n)]
    return bool(np.allclose(squares, 1.0, rtol=0.0, atol=1e-6))


def uneven(rows: Rows) -> float | None:
    """Return which share of the squared length the largest column holds, None if all are alike.

    Looks at the first rows. Columns are uneven if the largest is 100 times the usual one.
    """
    rows = part(rows, 0, min(shape(rows)[0], LOOKED_AT))
    width, values, columns = shape(rows)[1], row_values(rows), row_columns(rows)
    if width < 3:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        if columns is None:
            sums = np.einsum("ij,ij->j", values, values)
        else:
            sums = np.bincount(columns, values.astype(float) ** 2, width)
        total = float(sums.sum())
    largest, present = float(sums.max()), sums[sums > 0.0]
    if not np.isfinite(total) or not len(present):
        return None
    return largest / total if largest > UNEVEN**2 * float(np.median(present)) else None


def feature_names(X: Table) -> Array | None:
    """Return the column names of a data frame, None if they are not all text."""
    from sklearn.utils.validation import _get_feature_names  # noqa: PLC0415 - costs seconds

    names: Array | None = _get_feature_names(X)
    return names


def _is_sparse(X: Table) -> bool:
    sparse = sys.modules.get("scipy.sparse")  # X cannot be sparse if nobody imported it
    return sparse is not None and bool(sparse.issparse(X))


def _read_sparse(X: Table, dtype: DType | None, owner: str) -> Csr:
    check_pointers(X)
    if X.ndim != 2 or X.shape[0] == 0 or X.shape[1] == 0 or X.dtype.kind not in NUMBERS:
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


def _as_csr(X: Table, dtype: DType) -> Csr:
    values = np.ascontiguousarray(X.data, dtype)
    starts = np.ascontiguousarray(X.indptr, np.int64)
    csr: Csr = sealed(Csr(values, _columns(X.indices), starts, int(X.shape[1])))
    return csr


def _columns(indices: Indices) -> Indices:
    """Return columns as uint32; what does not fit becomes too large, and is refused as such."""
    if indices.dtype == np.int32:
        return np.ascontiguousarray(indices).view(np.uint32)
    beyond = (indices < 0) | (indices > BEYOND)
    return np.where(beyond, BEYOND, indices).astype(np.uint32)


def refuse_masked(X: Table) -> None:
    if np.ma.is_masked(X):
        raise ValueError(
            "X has masked entries: fill them in with X.filled(...), or drop their rows"
        )


def refuse_other_kinds(X: Table) -> None:
    """Refuse dates and texts, of which scikit-learn would make numbers."""
    given = X if hasattr(X, "tocsr") else np.asarray(X)
    kinds = {given.dtype.type}
    if given.dtype.kind == "O":
        kinds = set(map(type, given.reshape(-1).tolist()))
    for kind in kinds:
        if issubclass(kind, NO_NUMBERS):
            raise ValueError(f"X has entries of type {kind.__name__}: features are real numbers")


def _validated(X: Table, owner: str) -> Table:
    from sklearn.utils.validation import check_array  # noqa: PLC0415 - costs seconds

    refuse_masked(X)
    refuse_other_kinds(X)
    return check_array(
        X,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        order="C",
        estimator=owner,
        input_name="X",
    )


class Stop(NamedTuple):
    """Where a pass stopped, and why: a position and a status of the loop."""

    position: int
    status: int


def vet(rows: Rows, update: str, dtype: DType) -> None:
    """Refuse rows that cannot be learnt before a single label is paid for."""
    if outside(rows) is not None:
        raise refusal(rows, Stop(0, UNSOUND), update, dtype)
    finite = np.isfinite(rows.values)
    if not finite.all():
        entry = int(np.argmin(finite.reshape(-1)))
        position = (
            entry // rows.values.shape[1]
            if isinstance(rows, Dense)
            else int(np.searchsorted(rows.starts, entry, side="right") - 1)
        )
        raise refusal(rows, Stop(position, NOT_FINITE), update, dtype)


def harmless(rows: Rows) -> bool:
    """Tell whether no row can be refused half-way: finite, tame, none empty."""
    if not tame(rows):
        return False
    values = row_values(rows)
    if isinstance(rows, Dense):
        return bool((values != 0.0).any(axis=1).all())
    whole = (np.diff(rows.starts) > 0).all() and (values != 0.0).all()
    return bool(whole) and outside(rows) is None


def tame(rows: Rows) -> bool:
    """Tell whether all numbers are finite, and so small that no margin overflows by them."""
    values = row_values(rows)
    return bool((np.abs(values) < TAME[values.dtype]).all())


def refusal(rows: Rows, stop: Stop, update: str, dtype: DType) -> ValueError:
    """Say what is wrong with the row at which a pass stopped."""
    position = stop.position
    values = row_values(part(rows, position, position + 1))
    if stop.status == UNSOUND:
        return ValueError(
            f"X has an entry in column {outside(rows)} but a width of {shape(rows)[1]}: its index "
            "arrays are damaged"
        )
    if stop.status != NOT_FINITE:
        return ValueError(f"the label of row {position} was asked and is missing from y")
    if not np.isfinite(values).all():
        return ValueError(
            f"Input X contains NaN or infinity in row {position}: drop or impute such rows first"
        )
    if not values.any():
        return ValueError(
            f"row {position} of X has norm 0, and {update} needs a direction: drop empty rows"
        )
    return ValueError(
        f"row {position} of X gives a margin that is not finite: its numbers are too large for "
        f"{dtype}; scale the features down"
    )


class Form(Enum):
    """The forms in which one row may come."""

    DENSE = "an array"
    CSR = "a CSR matrix of one row"
    SPARSE = "a sparse matrix to be converted"


class RowReader(NamedTuple):
    """How single rows of one form are brought to the kernels of a learner."""

    form: Form
    d: int
    dtype: DType
    update: str  # the name of the update rule, for messages

    @classmethod
    def like(cls, x: Table, d: int, dtype: DType, update: str) -> "RowReader":
        """Return the reader of rows that come as this one does."""
        form = Form.DENSE
        if hasattr(x, "tocsr"):
            form = Form.CSR if x.format == "csr" else Form.SPARSE
        return cls(form, d, dtype, update)

    def layout(self) -> DenseLayout | SparseLayout:
        """Return how a row lies in memory if it needs no conversion."""
        numbers = array_layout(self.dtype)
        if self.form is Form.DENSE:
            return DenseLayout(self.d, numbers)
        return SparseLayout(self.d, numbers, array_layout(COLUMN), array_layout(COLUMN))

    def read(self, x: Table) -> tuple[Vector, Array | None, Array | None]:
        """Return numbers, columns and pointers of a row, as the kernels want them."""
        if self.form is Form.DENSE:
            return _dense(x, self.d, self.dtype), None, None
        values, columns = _sparse(x, self.d)
        if len(columns) and not 0 <= columns.min() <= columns.max() < self.d:
            raise ValueError(
                f"a row of {self.d} features has an entry in column "
                f"{columns.max() if columns.min() >= 0 else columns.min()}"
            )
        starts = np.array([0, len(columns)], COLUMN)
        return in_order(values, self.dtype), in_order(columns, COLUMN), starts

    def kept(self, x: Table) -> tuple[Vector, Indices | None]:
        """Return a copy of the numbers, and the columns of a sparse row."""
        values, columns, _ = self.read(x)
        return np.array(values), None if columns is None else columns.astype(np.uint32)

    def table(self, x: Table) -> Rows:
        """Return the row as a table of one."""
        values, columns, _ = self.read(x)
        if not np.isfinite(values).all():
            raise self.refusal(values)
        return one_row(values, None if columns is None else columns.view(np.uint32), self.d)

    def refusal(self, values: Vector) -> ValueError:
        """Say what is wrong with these numbers."""
        if not np.isfinite(values).all():
            worst = values[~np.isfinite(values)][0]
            return ValueError(
                f"Input X contains NaN or infinity ({worst}): drop or impute such rows first"
            )
        size = float(np.abs(values).max(initial=0.0))
        return ValueError(
            f"{self.update} cannot read this row, whose largest entry is {size:g}: it has norm 0, "
            f"or numbers too large for {self.dtype}"
        )


def _dense(x: Table, d: int, dtype: DType) -> Vector:
    row: Vector = in_order(x, dtype)
    if row.shape == (1, d):
        row = row[0]
    if row.shape != (d,):
        raise ValueError(f"a row of {d} features is expected, got shape {np.shape(x)}")
    return row


def in_order(x: Table, dtype: DType) -> Vector:
    """Return numbers as an array that is no subclass, contiguous and aligned."""
    if isinstance(x, np.ma.MaskedArray):
        refuse_masked(x)
    given = np.asarray(x)
    if given.dtype.kind not in NUMBERS and given.dtype.kind != "O":
        raise ValueError(f"a row has entries of type {given.dtype}: features must be real numbers")
    array = np.ascontiguousarray(given, dtype)
    return array if array.flags.aligned else array.copy()


def _sparse(x: Table, d: int) -> tuple[Vector, Indices]:
    if x.shape[-1] != d or (len(x.shape) == 2 and x.shape[0] != 1):
        raise ValueError(f"a row of {d} features is expected, got shape {x.shape}")
    check_pointers(x)
    x = x if x.format == "csr" else x.tocsr()
    if not x.has_canonical_format:
        x = x.copy()
        x.sum_duplicates()
    end = x.indptr[1]  # what lies behind it is not part of the row
    return x.data[:end], x.indices[:end]


def as_given(rows: Rows) -> Table:
    """Return a row as users pass it: an array of numbers, or a CSR array of one row."""
    if isinstance(rows, Dense):
        return rows.values[0].copy()
    from scipy.sparse import csr_array  # noqa: PLC0415 - costs a tenth of a second

    entries = rows.values.copy(), rows.indices.astype(np.int32), rows.starts.astype(np.int32)
    return csr_array(entries, shape=(1, rows.width))


def as_table(x: Table) -> Table:
    """Return a row as a table of one row."""
    row: Table = x if hasattr(x, "tocsr") else np.asarray(x)
    if row.ndim == 0 or (row.ndim > 1 and row.shape[0] != 1):
        raise ValueError(f"one row is wanted, got an array of shape {row.shape}: pass a 1D array")
    if row is x and hasattr(x, "tocsr"):
        check_pointers(x)
    return row.reshape(1, -1) if row.ndim == 1 else row
