"""The records of a file as people have them, one after the other, each with its place.

Files are read piece by piece: a line, a few rows of a row group or a picture at a time. What cannot
be read is refused with the place where it stands.
"""

import csv
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from selectron.arrays import Values
from selectron.extras import extra
from selectron.streams import opening
from selectron.streams.arrays_file import npz_records
from selectron.streams.opening import Joined, Tick, lines, opened
from selectron.streams.sparse_lines import svmlight_values, vw_values

CHUNK = 1 << 16
ROWS = 64  # of a Parquet file at a time: a dictionary may blow up each of them
READ_AHEAD = (
    1 << 20
)  # bytes of a column of a Parquet file: without a limit, all that was read is kept
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp")
DELIMITERS = ",;\t|"
BATCH, BATCH_BYTES = 1000, 8 << 20
MARKS = b"\xef\xbb\xbf \t\r\n"  # what may stand before the first character


class Record(NamedTuple):
    """What one row of a file says."""

    values: Values  # by column
    place: str  # for messages: "tickets.csv, line 7"
    size: int = 0  # bytes, about


def read_batches(source: str, tick: Tick = int) -> Iterator[list[Record]]:
    """Read a file as `read_records` does, a thousand records at a time, or fewer long ones."""
    batch: list[Record] = []
    size = 0
    for record in read_records(source, tick):
        batch.append(record)
        size += record.size
        if len(batch) == BATCH or size > BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def read_records(source: str, tick: Tick = int) -> Iterator[Record]:
    r"""Read a file, a folder of pictures or of Parquet files, or with "-" standard input.

    Parameters
    ----------
    source : str
        CSV or TSV, JSON lines or an array of JSON, Parquet, svmlight, Vowpal Wabbit's text, npz, or
        a text a line, known by the end of its name; also with .gz or .zst behind it.
    tick : callable, optional
        Told how many bytes were read since it was told last: see `size_of`.

    Examples
    --------
    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile("w+", suffix=".csv") as file:
    ...     print('town;people\nUlm;128000\n"Bad\nUrach";12700', file=file, flush=True)
    ...     for record in read_records(file.name):
    ...         print(record.values)
    {'town': 'Ulm', 'people': '128000'}
    {'town': 'Bad\nUrach', 'people': '12700'}
    """
    path = Path(source)
    if source == "-":
        yield from _by_content(sys.stdin.buffer, "standard input")
    elif path.is_dir():
        yield from _folder(path, tick)
    elif not path.is_file():
        raise FileNotFoundError(f"{source}: there is no such file")
    elif kind_of(path) == ".parquet":
        yield from parquet_records(path, tick)
    elif kind_of(path) == ".npz":
        numbered = enumerate(npz_records(path), 1)
        yield from (Record(values, f"{path.name}, row {number}") for number, values in numbered)
    else:
        with opened(path, tick) as file:
            yield from READERS.get(kind_of(path), _by_content)(file, path.name)


def kind_of(path: Path) -> str:
    """Return the end of the name that says what a file holds: ".csv" of rows.csv.gz."""
    name = path.name.lower()
    for packed in opening.PACKED:
        name = name.removesuffix(packed)
    return Path(name).suffix


def name_of(source: str) -> str:
    """Return what a source is called: "rows" of rows.csv.gz."""
    if source == "-":
        return "standard input"
    name = Path(source).name
    for packed in opening.PACKED:
        name = name.removesuffix(packed)
    return name if Path(source).is_dir() else name.rpartition(".")[0] or name


def images_of(source: str) -> Path:
    """Return the folder in which pictures are looked for: the source, or where the file is."""
    if source == "-":
        return Path.cwd()
    return Path(source) if Path(source).is_dir() else Path(source).absolute().parent


def size_of(source: str) -> int | None:
    """Return how many bytes will be read; None if nobody knows."""
    path = Path(source)
    if source == "-" or (path.is_dir() and not tables_in(path)):
        return None
    files = tables_in(path) if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def _by_content(file: BinaryIO, name: str) -> Iterator[Record]:
    """Read what has no name that says how: JSON by its first character, anything else as CSV."""
    start = b""
    while not start.strip(MARKS) and (more := file.read(1)):
        start += more
    whole = io.BufferedReader(Joined(start, file))
    first = start.strip(MARKS)
    if first == b"P" and whole.peek(4)[:4] == b"PAR1":
        raise ValueError(f"{name}: Parquet is read from a file whose name ends in .parquet")
    yield from {b"{": _json_lines, b"[": _json_array}.get(first, _table)(whole, name)


def _json_lines(file: BinaryIO, name: str) -> Iterator[Record]:
    for number, line in lines(file, name):
        if line.strip():
            place = f"{name}, line {number}"
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{place}: this is not JSON: {error}") from None
            yield _object(value, place, len(line))


def _json_array(file: BinaryIO, name: str) -> Iterator[Record]:
    """Read the elements of an array one by one."""
    text = io.TextIOWrapper(file, "utf-8-sig")
    longest = opening.LONGEST
    buffer, start, number = "", 0, 0
    decode = json.JSONDecoder().raw_decode
    while True:
        while start < len(buffer) and buffer[start] in "[, \t\r\n":
            start += 1
        place = f"{name}, element {number + 1}"
        try:
            if buffer.startswith("]", start):
                return
            value, end = decode(buffer, start)
        except RecursionError:
            raise ValueError(f"{place}: too many brackets in each other") from None
        except json.JSONDecodeError as error:
            buffer, start = buffer[start:], 0
            more = "" if len(buffer) > longest else _more(text, max(CHUNK, len(buffer)), place)
            if not more:
                long = len(buffer) > longest
                why = f"longer than {longest >> 20} MB" if long else f"not JSON: {error.msg}"
                raise ValueError(f"{place}: {why}") from None
            buffer += more
            continue
        number, size, start = number + 1, end - start, end
        yield _object(value, place, size)


def _more(text: io.TextIOWrapper, n: int, place: str) -> str:
    try:
        return text.read(n)
    except UnicodeDecodeError:
        raise ValueError(f"{place} or soon after: this is not UTF-8") from None


def _object(value: object, place: str, size: int) -> Record:
    if not isinstance(value, dict):
        raise ValueError(f'{place}: not an object such as {{"text": "..."}}')
    return Record(value, place, size)


class _CsvLines:
    """The lines of a table, which count how long the row at hand is."""

    def __init__(self, numbered: Iterable[tuple[int, str]], name: str) -> None:
        self._numbered, self._name, self.size = iter(numbered), name, 0

    def __iter__(self) -> "_CsvLines":
        return self

    def __next__(self) -> str:
        number, line = next(self._numbered)
        self.size += len(line)
        if self.size > opening.LONGEST:
            most = f"longer than {opening.LONGEST >> 20} MB"
            raise ValueError(
                f"{self._name}, line {number}: a row is {most}: is a quote not closed?"
            )
        return line


def csv_rows(file: BinaryIO, name: str, delimiter: str = "") -> tuple[_CsvLines, Any]:
    """Return the lines of a table, and a reader of its rows that takes no line too early."""
    csv.field_size_limit(opening.LONGEST)
    numbered = lines(file, name)
    first = next(numbered, (1, ""))
    text = _CsvLines(chain([first], numbered), name)
    return text, csv.reader(text, delimiter=delimiter or _delimiter(first[1]), strict=True)


def _table(file: BinaryIO, name: str, delimiter: str = "") -> Iterator[Record]:
    text, rows = csv_rows(file, name, delimiter)
    try:
        head: list[str] = next(rows, [])
        if len(set(head)) < len(head):
            twice = next(column for column in head if head.count(column) > 1)
            raise ValueError(f"{name}, line 1: two columns are called {twice!r}; rename one")
        size, text.size = text.size, 0
        for row in rows:
            size, text.size = text.size, 0
            if len(row) == len(head):
                place = f"{name}, line {rows.line_num}"
                yield Record(dict(zip(head, row, strict=True)), place, size)
            elif row:
                found = f"{len(row)} cells, and the first line has {len(head)}"
                raise ValueError(f"{name}, line {rows.line_num}: {found}")
    except csv.Error as error:
        raise ValueError(f"{name}, line {rows.line_num}: {error}") from None


def _delimiter(head: str) -> str:
    """Return what separates the cells of the first line."""
    outside = "".join(head.split('"')[::2])
    return max(DELIMITERS, key=outside.count)


def _each_line(values_of: Callable[[str], Values], file: BinaryIO, name: str) -> Iterator[Record]:
    for number, line in lines(file, name):
        if line.strip():
            place = f"{name}, line {number}"
            try:
                values = values_of(line)
            except ValueError as error:
                raise ValueError(f"{place}: {error}") from None
            yield Record(values, place, len(line))


def _text(line: str) -> Values:
    return {"text": line.rstrip("\r\n")}


_tabbed = partial(_table, delimiter="\t")
_svmlight = partial(_each_line, svmlight_values)
_vw = partial(_each_line, vw_values)

READERS: dict[str, Callable[[BinaryIO, str], Iterator[Record]]] = {
    **dict.fromkeys((".jsonl", ".ndjson"), _json_lines),
    ".json": _by_content,  # an array of objects, or an object a line
    ".csv": _table,
    **dict.fromkeys((".tsv", ".tab"), _tabbed),
    **dict.fromkeys((".svm", ".svmlight", ".libsvm", ".dat"), _svmlight),
    ".vw": _vw,
    ".txt": partial(_each_line, _text),
}


def parquet_records(path: Path, tick: Tick = int, start: int = 0) -> Iterator[Record]:
    """Read the rows of a Parquet file from row `start` on."""
    with extra("tables"):
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415

    size, number = path.stat().st_size, 0
    try:
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=READ_AHEAD) as file:
            groups = [file.metadata.row_group(k) for k in range(file.metadata.num_row_groups)]
            if sum(group.total_byte_size for group in groups) > opening.largest(size):
                raise ValueError(f"it grows to more than {opening.LARGEST_RATIO} times its size")
            while groups and number + groups[0].num_rows <= start:
                number += groups.pop(0).num_rows
            wanted = range(file.metadata.num_row_groups - len(groups), file.metadata.num_row_groups)
            for batch in file.iter_batches(batch_size=ROWS, row_groups=list(wanted)):
                unwanted = min(max(0, start - number), batch.num_rows)
                number += unwanted
                share = batch.nbytes // max(batch.num_rows, 1)
                if share > opening.LONGEST:
                    raise ValueError(f"row {number + 1}: longer than {opening.LONGEST >> 20} MB")
                for values in batch.slice(unwanted).to_pylist():
                    number += 1
                    yield Record(values, f"{path.name}, row {number}", share)
                tick(size * batch.num_rows // file.metadata.num_rows)
    except (pa.ArrowException, ValueError, OSError) as error:
        place = f"{path.name}, after row {number}" if number else path.name
        raise ValueError(f"{place}: {error}") from None


def tables_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.parquet"))


def _folder(folder: Path, tick: Tick) -> Iterator[Record]:
    """Read the Parquet files of a folder, or name the pictures in it and in its folders."""
    tables = tables_in(folder)
    if tables:
        yield from chain.from_iterable(parquet_records(table, tick) for table in tables)
        return
    root, found = folder.resolve(), False
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(place, name)
            if path.suffix.lower() in PICTURES:
                if not path.resolve().is_relative_to(root):
                    raise ValueError(f"{path}: this link leads out of the folder")
                found = True
                inside = path.relative_to(folder)
                values = {"image": inside.as_posix()}
                if len(inside.parts) > 1:
                    values["folder"] = inside.parts[0]
                yield Record(values, str(path))
    if not found:
        raise ValueError(f"{folder}: there are no pictures in it ({', '.join(PICTURES)})")
