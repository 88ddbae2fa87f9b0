"""The forms in which one row may come, and how each is brought to the kernels."""

from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from selectron.arrays import Indices, Vector
from selectron.classifier.inputs import check_pointers, refuse_masked, row_values
from selectron.classifier.run import Run
from selectron.compiler.raw_arrays import mould
from selectron.numeric.rows import Csr, Rows
from selectron.single import DenseLayout, SparseLayout, Subject

COLUMN = np.dtype(np.int32)


class Form(Enum):
    DENSE = "an array"
    CSR = "a CSR matrix of one row"
    SPARSE = "a sparse matrix to be converted"


def form_of(x: Any) -> Form:
    if hasattr(x, "tocsr"):
        return Form.CSR if x.format == "csr" else Form.SPARSE
    return Form.DENSE


class Bench(NamedTuple):
    """The learner, and how its rows must lie in memory."""

    run: Run
    form: Form
    d: int
    dtype: Any

    @classmethod
    def for_rows_like(cls, run: Run, x: Any) -> "Bench":
        return cls(run, form_of(x), run.machine.d, run.machine.dtype)

    @property
    def subject(self) -> Subject:
        """The learner as the kernels are given it."""
        machine, numbers = self.run.machine, mould(self.dtype)
        layout: Any = SparseLayout(self.d, numbers, mould(COLUMN))
        if self.form is Form.DENSE:
            layout = DenseLayout(self.d, numbers)
        return Subject(machine.learner, machine.numbers, layout)

    def read(self, x: Any) -> tuple[Vector, Any]:
        """Return the numbers and the columns of a row of any kind, as the kernels want them."""
        if self.form is Form.DENSE:
            return _dense(x, self.d, self.dtype), None
        values, columns = _sparse(x, self.d)
        if len(columns) and not 0 <= columns.min() <= columns.max() < self.d:
            raise ValueError(
                f"a row of {self.d} features has an entry in column "
                f"{columns.max() if columns.min() >= 0 else columns.min()}"
            )
        return _in_order(values, self.dtype), _in_order(columns, COLUMN)

    def kept(self, x: Any) -> tuple[Vector, Any]:
        """Return a copy of the numbers, and the columns of a sparse row."""
        values, columns = self.read(x)
        return np.array(values), None if self.form is Form.DENSE else columns.astype(np.uint32)

    def refusal(self, values: Vector) -> ValueError:
        if not np.isfinite(values).all():
            worst = values[~np.isfinite(values)][0]
            return ValueError(
                f"Input X contains NaN or infinity ({worst}): drop or impute such rows first"
            )
        size = float(np.abs(values).max(initial=0.0))
        return ValueError(
            f"{self.run.machine.rules.update.label} cannot read this row, whose largest entry is "
            f"{size:g}: it has norm 0, or numbers too large for {self.dtype}"
        )


def _dense(x: Any, d: int, dtype: Any) -> Vector:
    row: Vector = _in_order(x, dtype)
    if row.shape == (1, d):
        row = row[0]
    if row.shape != (d,):
        raise ValueError(f"a row of {d} features is expected, got shape {np.shape(x)}")
    return row


def _in_order(x: Any, dtype: Any) -> Any:
    """Return an array that is no subclass, contiguous and aligned."""
    if isinstance(x, np.ma.MaskedArray):
        refuse_masked(x)
    array = np.ascontiguousarray(x, dtype)
    return array if array.flags.aligned else array.copy()


def _sparse(x: Any, d: int) -> tuple[Vector, Indices]:
    if x.shape[-1] != d or (len(x.shape) == 2 and x.shape[0] != 1):
        raise ValueError(f"a row of {d} features is expected, got shape {x.shape}")
    if not _plainly_whole(x):
        check_pointers(x)
    x = x if x.format == "csr" else x.tocsr()
    if not x.has_canonical_format:
        x = x.copy()
        x.sum_duplicates()
    return x.data, x.indices


def _plainly_whole(x: Any) -> bool:
    """Tell in a fraction of a microsecond that the pointers of a usual row are sound."""
    if x.format != "csr" or len(x.indptr) != 2:
        return False
    start, end = x.indptr.tolist()
    return bool(start == 0 <= end <= len(x.indices) == len(x.data))


def as_table(x: Any) -> Any:
    """Return a row as a table of one row."""
    row: Any = x if hasattr(x, "tocsr") else np.asarray(x)
    if row.ndim == 0 or (row.ndim > 1 and row.shape[0] != 1):
        raise ValueError(f"one row is wanted, got an array of shape {row.shape}: pass a 1D array")
    if row is x and hasattr(x, "tocsr"):
        check_pointers(x)
    return row.reshape(1, -1) if row.ndim == 1 else row


def numbers_and_columns(row: Rows) -> tuple[Vector, Any]:
    columns = row.indices[row.starts[0] : row.starts[1]] if isinstance(row, Csr) else None
    return row_values(row).reshape(-1), columns
