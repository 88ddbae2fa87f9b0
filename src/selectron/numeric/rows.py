"""Examples as rows, dense or sparse, behind a handful of verbs: the rules see no difference."""

from typing import Any, NamedTuple

import numpy as np

from selectron.arrays import Indices, Matrix, Vector
from selectron.compiler.verbs import Verb
from selectron.numeric.sums import fresh_dot, gather_dot, lane_dot, largest


class DenseRow(NamedTuple):
    values: Vector


class SparseRow(NamedTuple):
    values: Vector
    indices: Indices


class Dense(NamedTuple):
    values: Matrix  # (n, d), C order


class Csr(NamedTuple):
    values: Vector
    indices: Indices  # uint32: the compiler need not think of negative ones
    starts: Indices  # row t is values[starts[t] : starts[t + 1]]
    width: int


Row = DenseRow | SparseRow
Rows = Dense | Csr

# Of rows up to this width some may be kept, or a matrix of d x d numbers: 128 MB at this one.
WIDEST_KEPT = 4096


@Verb
def row(X: Rows, t: int) -> Any:
    """Return row t without copying it."""


@Verb
def sound(X: Rows, t: int) -> bool:
    """Tell whether the columns of row t lie within the width: what does not must not be read."""


@Verb
def dot(x: Row, w: Vector) -> float:
    """Return x.w, summed in a fixed order."""


@Verb
def add_scaled(x: Row, scale: float, w: Vector) -> None:
    """Add scale * x to w."""


@Verb
def square_norm(x: Row) -> float:
    """Return the squared Euclidean length of x."""


@Verb
def writes_out(x: Any) -> bool:
    """Tell whether `write_out` has a body for this kind of row: a constant to the compiler."""


@Verb
def write_out(x: Any, out: Vector) -> None:
    """Write all entries of x into out, zeros included."""


@Verb
def n_entries(x: Row) -> int:
    """Return how many entries of x are stored."""


@Verb
def entry_index(x: Row, k: int) -> int:
    """Return the column of the k-th stored entry."""


@row.of(Dense)
def dense_row(X: Dense, t: int) -> DenseRow:
    return DenseRow(X.values[t])


@row.of(Csr)
def sparse_row(X: Csr, t: int) -> SparseRow:
    start, stop = X.starts[t], X.starts[t + 1]
    return SparseRow(X.values[start:stop], X.indices[start:stop])


@sound.of(Dense)
def dense_sound(X: Dense, t: int) -> bool:
    return True


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


@square_norm.of(DenseRow, SparseRow)
def row_square_norm(x: Row) -> float:
    return np.float64(lane_dot(x.values, x.values))


@writes_out.of(DenseRow, SparseRow)
def row_writes_out(x: Row) -> bool:
    return True


@writes_out.otherwise
def never_writes_out(x: Any) -> bool:
    return False


@write_out.of(DenseRow)
def write_out_dense(x: DenseRow, out: Vector) -> None:
    for i in range(len(x.values)):
        out[i] = x.values[i]


@write_out.of(SparseRow)
def write_out_sparse(x: SparseRow, out: Vector) -> None:
    out[:] = 0.0
    add_scaled(x, 1.0, out)


@write_out.otherwise
def write_nothing_out(x: Any, out: Vector) -> None:
    pass


@n_entries.of(DenseRow, SparseRow)
def count_entries(x: Row) -> int:
    return len(x.values)


@entry_index.of(DenseRow)
def dense_entry_index(x: DenseRow, k: int) -> int:
    return k


@entry_index.of(SparseRow)
def sparse_entry_index(x: SparseRow, k: int) -> Any:
    return x.indices[k]


class ShiftedRow(NamedTuple):
    """A sparse row seen from the mean: z = [scale · x - shift · M, bias], M the sum of many rows.

    z is dense and never written down; only products with it are computed.
    """

    values: Vector  # of x
    indices: Indices
    total: Vector  # M
    scale: float
    shift: float
    unit: float  # what makes x a unit row, as it is in M
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
