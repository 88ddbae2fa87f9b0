"""Rows, dense or sparse, and the verbs by which rules read them.

A rule calls `dot`, `add_scaled` and the other verbs, so it need not know how a row is stored.
"""

from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numba import types

from selectron.arrays import Array, DType, Indices, Matrix, Table, Vector
from selectron.compiler.emitting import Emission, compiled_form_of
from selectron.compiler.verbs import Verb
from selectron.numeric.sums import fresh_dot, gather_dot, lane_dot, largest, three_dots


class DenseRow(NamedTuple):
    values: Vector


class SparseRow(NamedTuple):
    values: Vector
    indices: Indices


class Dense(NamedTuple):
    values: Matrix  # (n, d), C order


class Csr(NamedTuple):
    values: Vector
    indices: Indices  # uint32: the compiler need not handle negative indices
    starts: Indices  # row t is values[starts[t] : starts[t + 1]]
    width: int


Row: TypeAlias = DenseRow | SparseRow
Rows: TypeAlias = Dense | Csr
SomeRows = TypeVar("SomeRows")  # `Rows`, or another table such as a block of kernel values


def shape(rows: Rows) -> tuple[int, int]:
    """Return how many rows there are, and how many columns."""
    if isinstance(rows, Dense):
        n, d = rows.values.shape
        return n, d
    return len(rows.starts) - 1, rows.width


def part(rows: Rows, start: int, stop: int) -> Rows:
    """Return a stretch of rows without copying them."""
    if isinstance(rows, Dense):
        return Dense(rows.values[start:stop])
    return rows._replace(starts=rows.starts[start : stop + 1])


def taken(rows: Rows, positions: Indices) -> Rows:
    """Return some of the rows, in this order."""
    if isinstance(rows, Dense):
        return Dense(rows.values[positions])
    first, lengths = rows.starts[positions], np.diff(rows.starts)[positions]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    entries = np.arange(starts[-1]) + np.repeat(first - starts[:-1], lengths)
    return Csr(rows.values[entries], rows.indices[entries], starts, rows.width)


def row_values(rows: Rows) -> Vector:
    """Return the numbers of these rows, and no others of a larger matrix."""
    if isinstance(rows, Dense):
        return rows.values
    return rows.values[rows.starts[0] : rows.starts[-1]]


def row_columns(rows: Rows) -> Indices | None:
    """Return the columns of these rows' entries; dense rows have none."""
    return None if isinstance(rows, Dense) else rows.indices[rows.starts[0] : rows.starts[-1]]


def one_row(values: Vector, columns: Indices | None, d: int) -> Rows:
    """Return a table of one row, dense if it has no columns."""
    if columns is None:
        return Dense(values[np.newaxis])
    return Csr(values, columns, np.array([0, len(values)], np.int64), d)


def no_rows(d: int, dtype: DType, *, sparse: bool) -> Rows:
    """Return a table without rows; its type tells the kind of rows to come."""
    if not sparse:
        return Dense(np.zeros((0, d), dtype))
    return Csr(np.zeros(0, dtype), np.zeros(0, np.uint32), np.zeros(1, np.int64), d)


def outside(rows: Rows) -> int | None:
    """Return the first column that lies outside the width of a damaged matrix."""
    columns = row_columns(rows)
    if columns is None or isinstance(rows, Dense):
        return None
    beyond = columns[columns >= rows.width]
    return int(beyond.view(np.int32)[0]) if len(beyond) else None


def as_dense(rows: Rows) -> Matrix:
    """Return the rows as a matrix; a dense one is not copied."""
    if isinstance(rows, Dense):
        return rows.values
    X = np.zeros(shape(rows), rows.values.dtype)
    for t in range(len(X)):
        mine = slice(rows.starts[t], rows.starts[t + 1])
        X[t, rows.indices[mine]] = rows.values[mine]
    return X


def n_entries(rows: Rows) -> int:
    """Return how many numbers are stored."""
    return row_values(rows).size


def as_sparse(rows: Rows) -> Csr:
    """Return the rows as entries and their columns; sparse ones are not copied."""
    if isinstance(rows, Csr):
        first = rows.starts[0]
        columns = rows.indices[first : rows.starts[-1]]
        return Csr(row_values(rows), columns, rows.starts - first, rows.width)
    t, columns = np.nonzero(rows.values)
    starts = np.searchsorted(t, np.arange(len(rows.values) + 1))
    return Csr(rows.values[t, columns], columns.astype(np.uint32), starts, rows.values.shape[1])


def n_bytes(rows: Rows) -> int:
    if isinstance(rows, Dense):
        return rows.values.nbytes
    return rows.values.nbytes + rows.indices.nbytes + rows.starts.nbytes


def sealed(rows: SomeRows) -> SomeRows:
    """Return the rows as read-only arrays.

    Numba has one type for arrays that may be written to and another for those that may not. With
    one type for all rows, a memory map or a column of a data frame needs no kernel of its own.
    Blocks of kernel values are always of one type and stay as they are.
    """
    if not isinstance(rows, Dense | Csr):
        return rows
    if not (rows.values.flags.writeable or (isinstance(rows, Csr) and _writeable(rows))):
        return rows
    fields: Any = (sealed_array(f) if isinstance(f, np.ndarray) else f for f in rows)
    return type(rows)(*fields)


def _writeable(rows: Csr) -> bool:
    return rows.indices.flags.writeable or rows.starts.flags.writeable


def check_pointers(X: Table) -> None:
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


def _n_pointers(X: Table) -> int:
    if X.ndim == 1:
        return 2
    if X.format == "bsr":
        return int(X.shape[0] // X.blocksize[0]) + 1
    return int(X.shape[X.format == "csc"]) + 1


def sealed_array(array: Array) -> Array:
    """Return a read-only view."""
    view = array.view()
    view.flags.writeable = False
    return view


def sealed_row(values: Vector) -> DenseRow:
    """Return a row that a state keeps, read-only as rows of a stream: one type, compiled once."""
    return DenseRow(sealed_array(values))


@compiled_form_of(sealed_row)
def _emit_sealed_row(values: types.Array) -> Emission:
    kind = types.NamedUniTuple(values.copy(readonly=True), 1, DenseRow)
    return kind, lambda site, value: site.context.make_tuple(site.builder, kind, [value])


# Rules may keep some rows, or a matrix of d x d numbers, up to this width: there it takes 128 MB.
WIDEST_KEPT = 4096
POINTED = ("csr", "csc", "bsr")  # the formats of scipy that have an indptr


@Verb
def row(X: Rows, t: int) -> Row:
    """Return row t without copying it."""


@Verb.with_body
def sound(X: Rows, t: int) -> bool:
    """Tell whether the columns of row t lie within the width; other rows must not be read."""
    return True


@Verb
def dot(x: Row, w: Vector) -> float:
    """Return x.w, summed in a fixed order."""


@Verb
def add_scaled(x: Row, scale: float, w: Vector) -> None:
    """Add scale * x to w."""


@Verb
def three_products(x: Row, W: Matrix, j: int, out: Vector) -> None:
    """Write the products 3j, 3j + 1 and 3j + 2 of x with x itself and then with the rows of W."""


@Verb.with_body
def square_norm(x: Row) -> float:
    """Return the squared Euclidean length of x."""
    return np.float64(lane_dot(x.values, x.values))


@Verb.with_body
def writes_out(x: object) -> bool:
    """Tell whether `write_out` has a body for this kind of row: a constant to the compiler."""
    return False


@Verb.with_body
def write_out(x: object, out: Vector) -> None:
    """Write all entries of x into out, zeros included."""


@Verb.with_body
def entry_index(x: Row, k: int) -> int:
    """Return the column of the k-th stored entry."""
    return k


@row.of(Dense)
def dense_row(X: Dense, t: int) -> DenseRow:
    return DenseRow(X.values[t])


@row.of(Csr)
def sparse_row(X: Csr, t: int) -> SparseRow:
    start, stop = X.starts[t], X.starts[t + 1]
    return SparseRow(X.values[start:stop], X.indices[start:stop])


@sound.of(Csr)
def sparse_sound(X: Csr, t: int) -> bool:
    start, stop = X.starts[t], X.starts[t + 1]
    return bool(largest(X.indices[start:stop]) < X.width)


@dot.of(DenseRow)
def dense_dot(x: DenseRow, w: Vector) -> float:
    return np.float64(fresh_dot(x.values, w))


@dot.of(SparseRow)
def sparse_dot(x: SparseRow, w: Vector) -> float:
    return np.float64(gather_dot(x.values, x.indices, w))


@three_products.of(DenseRow)
def dense_three_products(x: DenseRow, W: Matrix, j: int, out: Vector) -> None:
    values, k = x.values, 3 * j
    if j == 0:
        out[0], out[1], out[2] = three_dots(values, values, W[0], W[1])
    else:
        out[k], out[k + 1], out[k + 2] = three_dots(values, W[k - 1], W[k], W[k + 1])


@three_products.of(SparseRow)
def sparse_three_products(x: SparseRow, W: Matrix, j: int, out: Vector) -> None:
    for k in range(max(3 * j, 1), 3 * j + 3):
        out[k] = gather_dot(x.values, x.indices, W[k - 1])
    if j == 0:
        out[0] = 0.0
        for value in x.values:
            out[0] += np.float64(value) * np.float64(value)


@add_scaled.of(DenseRow)
def add_scaled_dense(x: DenseRow, scale: float, w: Vector) -> None:
    step = w.dtype.type(scale)
    for i in range(len(w)):
        w[i] += step * x.values[i]


@add_scaled.of(SparseRow)
def add_scaled_sparse(x: SparseRow, scale: float, w: Vector) -> None:
    step = w.dtype.type(scale)
    for k in range(len(x.values)):
        w[x.indices[k]] += step * x.values[k]


@writes_out.of(DenseRow, SparseRow)
def row_writes_out(x: Row) -> bool:
    return True


@write_out.of(DenseRow)
def write_out_dense(x: DenseRow, out: Vector) -> None:
    for i in range(len(x.values)):
        out[i] = x.values[i]


@write_out.of(SparseRow)
def write_out_sparse(x: SparseRow, out: Vector) -> None:
    out[:] = 0.0
    add_scaled(x, 1.0, out)


@Verb
def lay_down(x: Row, table: Rows, t: int) -> None:
    """Write the row down as row t of a table that has room for it; rows come in their order."""


@lay_down.of(DenseRow)
def lay_down_dense(x: DenseRow, table: Dense, t: int) -> None:
    for i in range(len(x.values)):
        table.values[t, i] = x.values[i]


@lay_down.of(SparseRow)
def lay_down_sparse(x: SparseRow, table: Csr, t: int) -> None:
    start, n = table.starts[t], len(x.values)
    for k in range(n):
        table.values[start + k] = x.values[k]
        table.indices[start + k] = x.indices[k]
    table.starts[t + 1] = start + n


@entry_index.of(SparseRow)
def sparse_entry_index(x: SparseRow, k: int) -> int:
    return x.indices[k]  # type: ignore[no-any-return] # unsigned, as the compiler wants it


class ShiftedRow(NamedTuple):
    """A sparse row seen from the mean: z = [scale · x - shift · M, bias], M the sum of many rows.

    z is dense, and nobody writes it down: rules only compute products with it.
    """

    values: Vector  # of x
    indices: Indices
    total: Vector  # M
    scale: float
    shift: float
    unit: float  # unit · x has length 1; M is a sum of such rows
    bias: float
    square_length: float


@dot.of(ShiftedRow)
def shifted_dot(z: ShiftedRow, w: Vector) -> float:
    d = len(z.total)
    own = np.float64(gather_dot(z.values, z.indices, w))
    common = np.float64(lane_dot(z.total, w[:d]))
    return np.float64(z.scale * own - z.shift * common + z.bias * w[d])


@add_scaled.of(ShiftedRow)
def add_scaled_shifted(z: ShiftedRow, scale: float, w: Vector) -> None:
    d = len(z.total)
    common = scale * z.shift
    for i in range(d):
        w[i] -= common * z.total[i]
    own = scale * z.scale
    for k in range(len(z.values)):
        w[z.indices[k]] += own * z.values[k]
    w[d] += scale * z.bias


@square_norm.of(ShiftedRow)
def shifted_square_norm(z: ShiftedRow) -> float:
    return z.square_length
