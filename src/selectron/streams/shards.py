"""A file in shards: where its rows lie, so that any process can read any stretch of them.

Rows have numbers, from 0 in the order of the file, or of the files of a folder. Tables and files of
lines are gone over once to mark where every thousandth row begins; Parquet says so itself.
"""

import csv
import hashlib
import io
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from selectron.arrays import Indices
from selectron.extras import extra
from selectron.streams import opening
from selectron.streams.opening import Joined
from selectron.streams.records import READERS, Record, csv_rows, kind_of, parquet_records, tables_in

EVERY = 1000  # rows from one mark to the next
SHARDS = 8  # of a single file
TABLES = {".csv": "", ".tsv": "\t", ".tab": "\t"}
LINES = (".jsonl", ".ndjson", ".svm", ".svmlight", ".libsvm", ".dat", ".vw", ".txt")
PACKED = (".gz", ".zst")


class Stretch(NamedTuple):
    """Some rows of a file one after the other, and where to begin to read."""

    path: str
    number: int  # of the first row, in all files together
    rows: int
    skip: int  # rows after the mark; of Parquet, after the first
    mark: int = 0  # byte
    head: int = 0  # bytes before the first row: the names of the columns

    def read(self) -> Iterator[Record]:
        """Yield the records of the stretch."""
        path = Path(self.path)
        if kind_of(path) == ".parquet":
            yield from islice(parquet_records(path, start=self.skip), self.rows)
            return
        with path.open("rb") as file:
            head = file.read(self.head)
            file.seek(self.mark)
            whole = io.BufferedReader(Joined(head, file))
            records = READERS[kind_of(path)](whole, path.name)
            row = self.number + 1
            try:
                for record in islice(records, self.skip, self.skip + self.rows):
                    yield record._replace(place=f"{path.name}, row {row}")
                    row += 1
            except ValueError as error:  # its lines are counted from the mark on
                why = str(error).partition(": ")[2]
                raise ValueError(f"{path.name}, row {row}: {why}") from None


class Piece(NamedTuple):
    """A file and its marks."""

    path: str
    first: int  # number of its first row
    rows: int
    head: int
    marks: Indices

    def stretch(self, start: int, stop: int) -> Stretch:
        """Return the rows of the file with these numbers."""
        begin = start - self.first
        if not len(self.marks):
            return Stretch(self.path, start, stop - start, begin)
        mark = int(self.marks[begin // EVERY])
        return Stretch(self.path, start, stop - start, begin % EVERY, mark, self.head)


class Shards:
    r"""The rows of a file or a folder of Parquet files, cut into shards.

    Parameters
    ----------
    source : str
        A Parquet file or a folder of them, or a table or a file of lines that is not compressed.
    n : int, optional
        How many shards, alike in rows. By default each file of a folder is a shard, and a file is
        cut into eight.
    limit : int, optional
        Take the first rows only.

    Examples
    --------
    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile("w+", suffix=".csv") as file:
    ...     rows = "\n".join(f"{n},{n % 2}" for n in range(10))
    ...     print(f"size,label\n{rows}", file=file, flush=True)
    ...     shards = Shards(file.name, 3)
    ...     print(shards.bounds, [record.values["size"] for record in shards.read(4, 6)])
    [(0, 3), (3, 6), (6, 10)] ['4', '5']
    """

    def __init__(self, source: str, n: int | None = None, limit: int | None = None) -> None:
        if n is not None and n < 1:
            raise ValueError(f"there must be a shard at least, got {n}")
        self.pieces = _pieces(source)
        rows = sum(piece.rows for piece in self.pieces)
        self.n_rows = rows if limit is None else min(rows, limit)
        if not self.n_rows:
            raise ValueError(f"{source}: it holds no rows")
        ends = [piece.first + piece.rows for piece in self.pieces if piece.rows]
        if n is not None or len(ends) == 1:
            n = min(n or SHARDS, self.n_rows)
            ends = [(k + 1) * self.n_rows // n for k in range(n)]
        ends = [end for end in ends if end < self.n_rows] + [self.n_rows]
        self.bounds = list(zip([0, *ends[:-1]], ends, strict=True))

    def stretches(self, start: int, stop: int) -> tuple[Stretch, ...]:
        """Return where the rows with these numbers lie."""
        return tuple(
            piece.stretch(max(start, piece.first), min(stop, piece.first + piece.rows))
            for piece in self.pieces
            if piece.first < stop and start < piece.first + piece.rows
        )

    def read(self, start: int, stop: int) -> list[Record]:
        """Return the records with these numbers."""
        return [record for part in self.stretches(start, stop) for record in part.read()]

    @property
    def fingerprint(self) -> str:
        """Tells these files and shards from others: names, sizes in bytes, rows, bounds."""
        files = [(Path(p.path).name, Path(p.path).stat().st_size, p.rows) for p in self.pieces]
        return hashlib.sha256(json.dumps([files, self.bounds]).encode()).hexdigest()


def _pieces(source: str) -> list[Piece]:
    path = Path(source)
    files = tables_in(path) if path.is_dir() else [path]
    if path.is_dir() and not files:
        raise ValueError(f"{source}: shards are of Parquet files, and there are none in it")
    pieces: list[Piece] = []
    first = 0
    for file in files:
        pieces.append(_piece(file, first))
        first += pieces[-1].rows
    return pieces


def _piece(path: Path, first: int) -> Piece:
    kind = kind_of(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file")
    if path.suffix.lower() in PACKED or kind not in (".parquet", *TABLES, *LINES):
        raise ValueError(
            f"{path}: it cannot be read from the middle, so there are no shards of it; write it "
            "as Parquet, or as plain CSV or JSON lines"
        )
    if kind == ".parquet":
        with extra("tables"):
            import pyarrow.parquet as pq  # noqa: PLC0415

        return Piece(str(path), first, pq.read_metadata(path).num_rows, 0, np.zeros(0, np.int64))
    with path.open("rb") as file:
        return Piece(str(path), first, *(_of_table if kind in TABLES else _of_lines)(file, path))


def _of_lines(file: BinaryIO, path: Path) -> tuple[int, int, Indices]:
    """Count the lines that are not blank; return where every thousandth begins."""
    marks, rows, at = [], 0, 0
    while line := file.readline(opening.LONGEST + 1):
        if len(line) > opening.LONGEST:
            most = f"longer than {opening.LONGEST >> 20} MB"
            raise ValueError(f"{path.name}, after row {rows}: a line is {most}")
        if line.strip():
            if rows % EVERY == 0:
                marks.append(at)
            rows += 1
        at += len(line)
    return rows, 0, np.array(marks or [0], np.int64)


def _of_table(file: BinaryIO, path: Path) -> tuple[int, int, Indices]:
    """Count the rows of a table, whose cells may hold line ends."""
    counted = _CountedLines(file)
    text, table = csv_rows(counted, path.name, TABLES[kind_of(path)])  # type: ignore[arg-type]
    try:
        next(table, None)
        head = at = counted.at
        marks, rows = [], 0
        for row in table:
            text.size = 0
            if row:
                if rows % EVERY == 0:
                    marks.append(at)
                rows += 1
            at = counted.at
    except csv.Error as error:
        raise ValueError(f"{path.name}, line {table.line_num}: {error}") from None
    return rows, head, np.array(marks or [head], np.int64)


class _CountedLines:
    """A file that is read by lines, and knows where the next one begins."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.at = file, 0

    def readline(self, limit: int) -> bytes:
        line = self._file.readline(limit)
        self.at += len(line)
        return line
