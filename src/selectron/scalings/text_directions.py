"""Texts: words weighted by rarity, and the directions in which unlabelled texts spread."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from selectron.arrays import DType, Indices, Matrix, Vector
from selectron.numeric.directions import leading_directions, weigh, weigh_table
from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import Csr, Row, Rows, SparseRow, as_sparse, shape
from selectron.numeric.sums import lane_dot
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
from selectron.scalings.text import stored, whole_numbers
from selectron.spec import NOT_NEGATIVE, SHARE, Range, Scaling

MOST_WORDS = 1 << 14  # columns that take part in directions: those of most rows
FEW = 2000  # rows that have half as many directions
SAMPLE = 4000  # rows from which directions are found
MOST_HELD = 256  # entries of a row that is held back; the rest of a long text is not studied


@dataclass(frozen=True)
class TextDirections(Scaling):
    """Present z = [√(1-s) u, √s v, bias]: u the words of a text, v where they point to.

    u has length 1, its entries are weighted by rarity: log(1 + count) log((n + 1)/(df + 1)), or
    x log((n + 1)/(df + 1)) where rows are not whole numbers. v is the product of u with the leading
    directions of rows that were studied, at length 1: rows at hand, or the first ones of a stream.
    Before rows were studied v is 0.

    Parameters
    ----------
    directions : int
        How many directions are looked for; half as many in fewer than 2,000 rows.
    held_back : int
        Rows of a stream that go by without a question, to be studied; 0: only `study` does.
    share : float
        s, what the directions count for beside the words.
    bias : float
        The last feature of every row, >= 0; it does not depend on the row.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron.numeric.rows import SparseRow
    >>> scaling = TextDirections(directions=2)
    >>> row = SparseRow(np.array([3.0, 1.0]), np.array([0, 2], np.uint32))
    >>> present(absorb(scaling.begin(3, float), row), row).values.round(3).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.25]
    """

    directions: int = 100
    held_back: int = 0
    share: float = 0.3
    bias: float = 0.25
    RANGES: ClassVar = {
        "directions": Range(1, 1000),
        "held_back": Range(0, 10_000),
        "share": SHARE,
        "bias": NOT_NEGATIVE,
    }

    @property
    def EXTRA(self) -> int:  # type: ignore[override] # noqa: N802 - one for each direction
        return int(self.directions) + 1

    @property
    def HOLDS_BACK(self) -> bool:  # type: ignore[override] # noqa: N802 - by a knob
        return self.held_back > 0

    def begin(self, d: int, dtype: DType) -> "DirectionsState":
        k, room, held = int(self.directions), d + self.EXTRA, int(self.held_back)
        columns = np.arange(d if d < 2**32 else 0, dtype=np.uint32)
        return DirectionsState(
            np.zeros(d),
            np.zeros(d, np.int32),
            np.zeros((min(d, MOST_WORDS) + 1, k), np.float32),
            np.zeros(room),
            np.zeros(room, np.uint32),
            columns,
            np.zeros((held, MOST_HELD)),
            np.zeros((held, MOST_HELD), np.uint32),
            np.zeros(held, np.int32),
            sqrt(1.0 - float(self.share)),
            sqrt(float(self.share)),
            float(self.bias),
        )

    def waits_for(self, state: "DirectionsState") -> int | None:
        return None if state.studied else len(state.held_sizes) - state.n_rows

    def study_held(self, state: "DirectionsState") -> "DirectionsState":
        sizes = state.held_sizes
        kept = np.arange(MOST_HELD) < sizes[:, np.newaxis]
        starts = np.append(0, np.cumsum(sizes)).astype(np.int64)
        table = Csr(state.held_values[kept], state.held_columns[kept], starts, len(state.places))
        state = self.study(state, table)
        for held in (state.held_values, state.held_columns, state.held_sizes):
            held[:] = 0
        return state

    def study(self, state: "DirectionsState", rows: Rows) -> "DirectionsState":
        """Learn rarities and directions from rows at hand, once."""
        table = as_sparse(rows)
        n, d = shape(rows)
        whole = (table.values >= 0.0) & (table.values == np.floor(table.values))
        state = state._replace(counts=bool(whole.all()), n_rows=n, studied=True)
        state.rows_with[:] = np.bincount(table.indices[table.values != 0.0], minlength=d)
        common = np.argsort(-state.rows_with, kind="stable")[: len(state.basis) - 1]
        common = np.sort(common[state.rows_with[common] > 1.0])
        state.places[:] = 0
        state.places[common] = np.arange(1, len(common) + 1, dtype=np.int32)
        k = state.basis.shape[1] if n >= FEW else (state.basis.shape[1] + 1) // 2
        found = leading_directions(_weighed(state, table, min(n, SAMPLE)), k)
        state.basis[:] = 0.0
        state.basis[1 : len(found) + 1, :k] = found
        return state


class DirectionsState(NamedTuple):
    rows_with: Vector  # for each column: the rows with an entry there
    places: Indices  # for each column: where it is in the basis; 0 is nowhere
    basis: Matrix  # a row a place, a column a direction
    values: Vector  # room for one row
    indices: Indices
    columns: Indices  # 0, 1, 2, ...: the columns of a dense row
    held_values: Matrix  # the first rows of a stream, until they are studied
    held_columns: Indices
    held_sizes: Indices  # entries of each
    words: float  # what the words are multiplied by
    latent: float  # what the directions are multiplied by
    bias: float
    counts: bool = True  # all entries so far were whole numbers
    studied: bool = False
    n_rows: int = 0


def _weighed(state: DirectionsState, table: Csr, n: int) -> Csr:
    """Return n of the rows as words of the basis, weighted, each row of length one."""
    chosen = np.unique(np.linspace(0, len(table.starts) - 2, n).astype(np.int64))
    sizes = table.starts[chosen + 1] - table.starts[chosen]
    starts = np.append(0, np.cumsum(sizes))
    entries = np.arange(starts[-1]) + np.repeat(table.starts[chosen] - starts[:-1], sizes)
    columns = table.indices[entries]
    values = table.values[entries].astype(np.float64)
    weigh_table(values, columns, starts, state.rows_with, state.n_rows, state.counts)
    places = state.places[columns]
    ends = np.append(0, np.cumsum(places > 0))[starts]
    kept = places > 0
    width = max(int(places.max(initial=0)), 1)
    return Csr(values[kept], (places[kept] - 1).astype(np.uint32), ends, width)


@absorb.of(DirectionsState)
def directions_absorb(scaling: DirectionsState, given: Row) -> DirectionsState:
    x = stored(given, scaling.columns)
    square = np.float64(lane_dot(x.values, x.values))
    if scaling.studied or square - square != 0.0:  # NaN or infinity: the pass will refuse the row
        return scaling
    for k in range(len(x.values)):
        scaling.rows_with[x.indices[k]] += x.values[k] != 0.0
    if scaling.n_rows < len(scaling.held_sizes):
        size = min(len(x.values), MOST_HELD)
        for k in range(size):
            scaling.held_values[scaling.n_rows, k] = x.values[k]
            scaling.held_columns[scaling.n_rows, k] = x.indices[k]
        scaling.held_sizes[scaling.n_rows] = size
    counts = scaling.counts and whole_numbers(x.values)
    return scaling._replace(counts=counts, n_rows=scaling.n_rows + 1)


@present.of(DirectionsState)
def directions_present(scaling: DirectionsState, given: Row) -> SparseRow:
    x = stored(given, scaling.columns)
    values, indices, basis = scaling.values, scaling.indices, scaling.basis
    n, k, d = len(x.values), basis.shape[1], len(scaling.rows_with)
    for i in range(n):
        values[i] = x.values[i]
    square = weigh(values[:n], x.indices, scaling.rows_with, scaling.n_rows, scaling.counts)
    scale = scaling.words / sqrt(square) if square != 0.0 else 0.0
    latent = values[n : n + k]
    latent[:] = 0.0
    for i in range(n):
        values[i] *= scale
        indices[i] = x.indices[i]
        place = scaling.places[x.indices[i]]
        if place > 0:
            for m in range(k):
                latent[m] += values[i] * basis[place, m]
    size = np.float64(lane_dot(latent, latent))
    stretch = scaling.latent / sqrt(size) if size > 0.0 else 0.0
    for m in range(k):
        latent[m] *= stretch
        indices[n + m] = d + m
    values[n + k] = scaling.bias
    indices[n + k] = d + k
    return SparseRow(values[: n + k + 1], indices[: n + k + 1])


@has_statistics.of(DirectionsState)
def counts_words(scaling: DirectionsState) -> bool:
    return True


@ready.of(DirectionsState)
def knows_a_row(scaling: DirectionsState) -> bool:
    return scaling.studied or (scaling.n_rows > 0 and len(scaling.held_sizes) == 0)


in_file(DirectionsState, "words", "latent", "bias")


@flaw.of(DirectionsState)
def wrong_places(scaling: DirectionsState) -> str:
    """Columns rise by 1; places lie in the basis; rows that were counted are not negative."""
    if not np.array_equal(scaling.columns, np.arange(len(scaling.columns))):
        return "the columns do not rise by 1"
    places = Range(0, len(scaling.basis) - 1)
    sizes, held = Range(0, MOST_HELD), Range(0, len(scaling.columns) - 1)
    return out_of_range(
        scaling, places=places, rows_with=NOT_NEGATIVE, held_sizes=sizes, held_columns=held
    )


room_for(DirectionsState, "values", "indices")
