"""The rows that were asked about while two classes were known, for the day a third one appears.

The learner of two classes is not that of many, so the first is taught again what it was told. What
is kept is bounded: the latest rows, 2²⁰ numbers in all.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from selectron.arrays import Codes, DType, Indices, Vector
from selectron.files import DamagedFile, Reader, Tensors
from selectron.loop import Log
from selectron.numeric.rows import Csr, Dense, Rows, part, row_columns, row_values

MOST_NUMBERS = 1 << 20


# A row and the sign of its label; a dense row has no columns. A plain tuple is made faster.
Taught = tuple[Vector, Indices | None, float]


@dataclass
class Memory:
    """The latest rows taught, the oldest first."""

    rows: deque[Taught] = field(default_factory=deque)
    n_numbers: int = 0

    def keep(self, values: Vector, indices: Indices | None, sign: float) -> None:
        """Keep a row, and let the oldest go while there are too many numbers."""
        self.rows.append((values, indices, sign))
        self.n_numbers += len(values)
        while self.n_numbers > MOST_NUMBERS:
            self.n_numbers -= len(self.rows.popleft()[0])

    def keep_asked(self, rows: Rows, codes: Codes, log: Log) -> None:
        """Keep the rows of a batch that were asked."""
        positions, room = [], MOST_NUMBERS
        for t in np.flatnonzero(log.asked)[::-1].tolist():
            room -= row_values(part(rows, t, t + 1)).size
            if room < 0:
                break
            positions.append(t)
        for t in reversed(positions):
            self.keep_row(part(rows, t, t + 1), float(codes[t]))

    def keep_row(self, row: Rows, sign: float) -> None:
        columns = row_columns(row)
        self.keep(
            row_values(row).reshape(-1).copy(), None if columns is None else columns.copy(), sign
        )

    def relabel(self, values: Vector, before: float, after: float) -> None:
        """Replace the label of the latest row that has these numbers."""
        for k in reversed(range(len(self.rows))):
            kept, indices, sign = self.rows[k]
            if sign == before and np.array_equal(kept, values):
                self.rows[k] = kept, indices, after
                return

    def batches(self, d: int) -> Iterator[tuple[Rows, Codes]]:
        """Yield the rows with the numbers of their classes, those alike together."""
        for dense, alike in groupby(self.rows, key=lambda row: row[1] is None):
            values, columns, signs = zip(*alike, strict=True)
            classes = (np.array(signs) > 0.0).astype(np.int32)
            if dense:
                yield Dense(np.stack(values)), classes
            else:
                starts = np.cumsum([0, *map(len, values)], dtype=np.int64)
                yield Csr(np.concatenate(values), np.concatenate(columns), starts, d), classes

    def tensors(self) -> Tensors:
        """Return all there is, as plain arrays."""
        if not self.rows:
            return {}
        values, columns, signs = zip(*self.rows, strict=True)
        sparse = [entries for entries in columns if entries is not None]
        return {
            "memory.values": np.concatenate(values),
            "memory.lengths": np.array([len(row) for row in values], np.int64),
            "memory.sparse": np.array([entries is not None for entries in columns]),
            "memory.indices": np.concatenate([np.zeros(0, np.uint32), *sparse]),
            "memory.signs": np.array(signs),
        }

    @classmethod
    def read(cls, reader: Reader, d: int, dtype: DType) -> "Memory":
        """Take what `tensors` gave from a file."""
        memory = cls()
        if "memory.signs" not in reader.tensors:
            return memory
        signs = reader.take("memory.signs", np.float64, (None,), -1.0, 1.0)
        lengths = reader.take("memory.lengths", np.int64, signs.shape, 0, d).tolist()
        sparse = reader.take("memory.sparse", np.bool_, signs.shape).tolist()
        n, n_sparse = (
            sum(lengths),
            sum(k for k, is_sparse in zip(lengths, sparse, strict=True) if is_sparse),
        )
        values = reader.take("memory.values", dtype, (n,))
        columns = reader.take("memory.indices", np.uint32, (n_sparse,), 0, d - 1)
        if not (np.abs(signs) == 1.0).all():
            raise DamagedFile("a row is remembered with a label that is neither -1 nor +1")
        at = used = 0
        for length, is_sparse, sign in zip(lengths, sparse, signs.tolist(), strict=True):
            indices = columns[used : used + length].copy() if is_sparse else None
            check_row(length, indices, d)
            memory.keep(values[at : at + length].copy(), indices, sign)
            at, used = at + length, used + length * is_sparse
        return memory

    def copy(self) -> "Memory":
        return Memory(self.rows.copy(), self.n_numbers)


def read_row(reader: Reader, place: str, d: int, dtype: DType) -> tuple[Vector, Indices | None]:
    """Take one row of a file: d numbers, or fewer with their columns."""
    values = reader.take(f"{place}values", dtype, (None,))
    indices = None
    if f"{place}indices" in reader.tensors:
        indices = reader.take(f"{place}indices", np.uint32, values.shape, 0, d - 1)
    check_row(len(values), indices, d)
    return values, indices


def check_row(length: int, indices: Indices | None, d: int) -> None:
    """Refuse a row whose columns do not rise, or that is not as wide as the others."""
    rises = indices is not None and (indices[1:] > indices[:-1]).all()
    if (indices is None and length != d) or (indices is not None and not rises):
        raise DamagedFile(f"a row of {length} entries does not fit {d} features")
