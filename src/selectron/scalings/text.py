"""Sparse rows: counts weighted by rarity, centred without being written out."""

from dataclasses import dataclass
from math import nan
from typing import ClassVar, NamedTuple

import numpy as np

from selectron.arrays import DType, Indices, Vector
from selectron.compiler.verbs import Verb, helper
from selectron.numeric.elementary import logarithm, sqrt
from selectron.numeric.rows import DenseRow, Row, ShiftedRow, SparseRow
from selectron.numeric.sums import gather_dot, lane_dot
from selectron.protocol import (
    absorb,
    flaw,
    has_statistics,
    in_file,
    out_of_range,
    present,
    ready,
    room_for,
)
from selectron.scalings.centred import keeps_statistics, past_warm_up
from selectron.spec import NOT_NEGATIVE, Range, Scaling

LEAST_LENGTH = 1e-6  # of a row about the mean: below, its direction is rounding


@dataclass(frozen=True)
class Text(Scaling):
    """Present z = [(u - μ)/|u - μ|, bias] in O(nnz), with u = x/|x| and μ the running mean of u.

    Rows of whole numbers are taken for counts of words. Then an entry becomes
    log(1 + count) log((t + 1)/df), where t counts the rows so far and df those with the word.
    Other rows stay as they are.

    Parameters
    ----------
    bias : float
        The last feature of every row, >= 0; it does not depend on the row.
    warmup : int
        Rows that teach the statistics before the first label is asked.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron.numeric.rows import SparseRow, dot
    >>> scaling = Text().begin(3, float)
    >>> for columns in ([0, 1], [0, 2]):
    ...     row = SparseRow(np.array([0.6, 0.8]), np.array(columns, np.uint32))
    ...     scaling = absorb(scaling, row)
    >>> z = present(scaling, row)
    >>> print([round(float(dot(z, e)), 3) for e in np.eye(4)])
    [0.0, -0.707, 0.707, 0.25]
    """

    bias: float = 0.25
    warmup: int = 50
    WRITTEN_OUT: ClassVar = False
    EXTRA: ClassVar = 1
    RANGES: ClassVar = {"bias": NOT_NEGATIVE, "warmup": Range(0, 2**31)}

    def begin(self, d: int, dtype: DType) -> "TextState":
        columns = np.zeros(0, np.uint32) if d >= 2**32 else np.arange(d, dtype=np.uint32)
        arrays = np.zeros(d), np.zeros(d), np.zeros(d), columns
        return TextState(*arrays, float(self.bias), int(self.warmup))


class TextState(NamedTuple):
    total: Vector  # the sum of the unit rows
    rows_with: Vector  # for each column: the rows with an entry there
    buffer: Vector  # the weighted entries of the row at hand
    columns: Indices  # 0, 1, 2, ...: the columns of a dense row
    bias: float
    warmup: int
    counts: bool = True  # all entries of the warm-up were whole numbers
    square_total: float = 0.0  # the squared length of `total`
    n_rows: int = 0


@Verb
def stored(x: Row, columns: Indices) -> SparseRow:
    """Return the row as entries and their columns."""


@stored.of(SparseRow)
def stored_sparse(x: SparseRow, columns: Indices) -> SparseRow:
    return x


@stored.of(DenseRow)
def stored_dense(x: DenseRow, columns: Indices) -> SparseRow:
    return SparseRow(x.values, columns)


@helper
def weigh(scaling: TextState, x: SparseRow, counts: bool, n_rows: int) -> float:
    """Write the weighted entries into the buffer; return their length."""
    buffer = scaling.buffer
    n = len(x.values)
    for k in range(n):
        value = np.float64(x.values[k])
        if counts and value > 0.0:
            rarity = (n_rows + 1.0) / max(scaling.rows_with[x.indices[k]], 1.0)
            value = np.float64(logarithm(1.0 + value) * logarithm(rarity))
        buffer[k] = value
    return sqrt(np.float64(lane_dot(buffer[:n], buffer[:n])))


@helper
def whole_numbers(values: Vector) -> bool:
    """Tell whether all values are whole and none is negative."""
    broken = 0
    for k in range(len(values)):
        broken += values[k] < 0.0 or values[k] != np.floor(values[k])
    return broken == 0


@absorb.of(TextState)
def text_absorb(scaling: TextState, given: Row) -> TextState:
    x = stored(given, scaling.columns)
    total, rows_with, buffer = scaling.total, scaling.rows_with, scaling.buffer
    n = len(x.values)
    size = np.float64(lane_dot(x.values, x.values))
    if size - size != 0.0:  # NaN or infinity: the pass will refuse the row
        return scaling
    counts = scaling.counts
    if scaling.n_rows < scaling.warmup:
        counts = counts and whole_numbers(x.values)
    for k in range(n):
        rows_with[x.indices[k]] += x.values[k] != 0.0
    n_rows = scaling.n_rows + 1
    length = weigh(scaling, x, counts, n_rows)
    scale = 1.0 / length if length > 0.0 else 0.0
    met = np.float64(gather_dot(buffer[:n], x.indices, total)) * scale
    for k in range(n):
        total[x.indices[k]] += scale * buffer[k]
    own = 1.0 if length > 0.0 else 0.0
    return scaling._replace(
        counts=counts, square_total=scaling.square_total + 2.0 * met + own, n_rows=n_rows
    )


@present.of(TextState)
def text_present(scaling: TextState, given: Row) -> ShiftedRow:
    x = stored(given, scaling.columns)
    n = len(x.values)
    length = weigh(scaling, x, scaling.counts, scaling.n_rows)
    values = scaling.buffer[:n]
    unit = 1.0 / length if length > 0.0 else 0.0
    if length - length != 0.0:  # the pass looks for NaN in the margin
        unit = nan
    share = 1.0 / max(scaling.n_rows, 1)
    own = 1.0 if length > 0.0 else 0.0
    met = unit * np.float64(gather_dot(values, x.indices, scaling.total))
    apart = own - 2.0 * share * met + share * share * scaling.square_total
    distance = sqrt(max(apart, 0.0)) if apart == apart else nan
    stretch = 0.0 if distance < LEAST_LENGTH else 1.0 / distance
    square = (1.0 if stretch > 0.0 else 0.0) + scaling.bias * scaling.bias
    scale, shift = unit * stretch, share * stretch
    return ShiftedRow(values, x.indices, scaling.total, scale, shift, unit, scaling.bias, square)


has_statistics.of(TextState)(keeps_statistics)
ready.of(TextState)(past_warm_up)

in_file(TextState, "bias", "warmup")


@flaw.of(TextState)
def wrong_columns(scaling: TextState) -> str:
    """The columns of a dense row are 0, 1, 2, ...; rows that were counted are not negative."""
    rise = np.array_equal(scaling.columns, np.arange(len(scaling.columns)))
    return out_of_range(scaling, rows_with=NOT_NEGATIVE) if rise else "the columns do not rise by 1"


room_for(TextState, "buffer")
