"""The records of a file as people have them, one after the other, each with its place.

Files are read piece by piece: a line, a row group or a picture at a time. What cannot be read is
refused with the place where it stands.
"""

import csv
import gzip
import io
import json
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

LONGEST = 16 << 20  # bytes of a line, or characters of an element of a JSON array
LARGEST_RATIO = 300  # a compressed file that grows by more is a bomb,
HARMLESS = 64 << 20  # if it grows to more bytes than these
CHUNK = 1 << 16
ROWS = 64  # of a Parquet file at a time: a dictionary may blow up each of them
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp")
DELIMITERS = ",;\t|"


class Record(NamedTuple):
    values: dict[str, Any]  # by column
    place: str  # for messages: "tickets.csv, line 7"


def read_records(source: str) -> Iterator[Record]:
    """Read a file, a folder of pictures or of Parquet files, or with "-" standard input."""
    if source == "-":
        yield from _by_content(sys.stdin.buffer, "standard input")
        return
    path = Path(source)
    if path.is_dir():
        yield from _folder(path)
    elif not path.is_file():
        raise FileNotFoundError(f"{source}: there is no such file")
    else:
        yield from _file(path)


def _file(path: Path) -> Iterator[Record]:
    suffixes = [suffix.lower() for suffix in path.suffixes] or [""]
    if suffixes[-1] == ".parquet":
        yield from _parquet(path)
        return
    if suffixes[-1] in (".zip", ".7z", ".xz", ".bz2", ".tar", ".tgz"):
        raise ValueError(f"{path.name}: unpack it first; .gz and .zst are read as they are")
    packed = suffixes[-1] in (".gz", ".zst")
    kind = suffixes[-2] if packed and len(suffixes) > 1 else suffixes[-1]
    with _opened(path, suffixes[-1]) as file:
        yield from READERS.get(kind, _by_content)(file, path.name)


@contextmanager
def _opened(path: Path, suffix: str) -> Iterator[BinaryIO]:
    with path.open("rb") as file:
        if suffix == ".gz":
            inflated: Any = gzip.GzipFile(fileobj=file)
        elif suffix == ".zst":
            import pyarrow as pa  # noqa: PLC0415 - an extra

            inflated = pa.CompressedInputStream(pa.PythonFile(file), "zstd")
        else:
            yield file
            return
        yield io.BufferedReader(_Inflated(inflated, path))


class _Inflated(io.RawIOBase):
    """What a compressed file holds, until it turns out to be a bomb."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file, self._name, self._size = file, path.name, 0
        self._most = max(HARMLESS, LARGEST_RATIO * path.stat().st_size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._file.read(len(buffer))
        except (OSError, EOFError, zlib.error, ValueError) as error:
            raise ValueError(f"{self._name} is damaged: {error}") from None
        self._size += len(data)
        if self._size > self._most:
            raise ValueError(
                f"{self._name} grows to more than {LARGEST_RATIO} times its size: "
                "unpack it yourself if you trust it"
            )
        buffer[: len(data)] = data
        return len(data)


def _lines(file: BinaryIO, name: str) -> Iterator[tuple[int, str]]:
    number = 0
    while line := file.readline(LONGEST + 1):
        number += 1
        if len(line) > LONGEST:
            raise ValueError(f"{name}, line {number}: longer than {LONGEST >> 20} MB")
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{name}, line {number}, byte {error.start + 1}: this is not UTF-8; "
                "save the file as UTF-8"
            ) from None
        yield number, text.removeprefix("\ufeff") if number == 1 else text


def _by_content(file: BinaryIO, name: str) -> Iterator[Record]:
    """Read what has no name that says how: JSON by its first character, anything else as CSV."""
    start = b""
    while not start.strip(b"\xef\xbb\xbf \t\r\n") and (more := file.read(1)):
        start += more
    whole = io.BufferedReader(_Joined(start, file))
    first = start.strip(b"\xef\xbb\xbf \t\r\n")
    if first == b"P" and whole.peek(4)[:4] == b"PAR1":
        raise ValueError(f"{name}: Parquet is read from a file whose name ends in .parquet")
    yield from {b"{": _json_lines, b"[": _json_array}.get(first, _table)(whole, name)


class _Joined(io.RawIOBase):
    """Bytes that were read already, and the rest of their file."""

    def __init__(self, start: bytes, rest: BinaryIO) -> None:
        self._start, self._rest = start, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data, self._start = self._start[: len(buffer)], self._start[len(buffer) :]
        data = data or self._rest.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _json_lines(file: BinaryIO, name: str) -> Iterator[Record]:
    for number, line in _lines(file, name):
        if line.strip():
            place = f"{name}, line {number}"
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{place}: this is not JSON: {error}") from None
            yield _object(value, place)


def _json_array(file: BinaryIO, name: str) -> Iterator[Record]:
    """Read the elements of an array one by one."""
    text = io.TextIOWrapper(file, "utf-8-sig")
    buffer, start, number = "", 0, 0
    decode = json.JSONDecoder().raw_decode
    while True:
        while start < len(buffer) and buffer[start] in "[, \t\r\n":
            start += 1
        place = f"{name}, element {number + 1}"
        try:
            if buffer.startswith("]", start):
                return
            value, start = decode(buffer, start)
        except RecursionError:
            raise ValueError(f"{place}: too many brackets in each other") from None
        except json.JSONDecodeError as error:
            buffer, start = buffer[start:], 0
            more = "" if len(buffer) > LONGEST else _more(text, max(CHUNK, len(buffer)), place)
            if not more:
                long = len(buffer) > LONGEST
                why = f"longer than {LONGEST >> 20} MB" if long else f"not JSON: {error.msg}"
                raise ValueError(f"{place}: {why}") from None
            buffer += more
            continue
        number += 1
        yield _object(value, place)


def _more(text: io.TextIOWrapper, n: int, place: str) -> str:
    try:
        return text.read(n)
    except UnicodeDecodeError:
        raise ValueError(f"{place} or soon after: this is not UTF-8") from None


def _json(file: BinaryIO, name: str) -> Iterator[Record]:
    """Read .json: an array of objects, or an object a line."""
    return _by_content(file, name)


def _object(value: Any, place: str) -> Record:
    if not isinstance(value, dict):
        raise ValueError(f'{place}: not an object such as {{"text": "..."}}')
    return Record(value, place)


def _table(file: BinaryIO, name: str, delimiter: str = "") -> Iterator[Record]:
    csv.field_size_limit(LONGEST)
    lines = (line for _, line in _lines(file, name))
    first = next(lines, "")
    rows = csv.reader(chain([first], lines), delimiter=delimiter or _delimiter(first), strict=True)
    try:
        head = next(rows, [])
        if len(set(head)) < len(head):
            twice = next(column for column in head if head.count(column) > 1)
            raise ValueError(f"{name}, line 1: two columns are called {twice!r}")
        for row in rows:
            place = f"{name}, line {rows.line_num}"
            if row and len(row) != len(head):
                raise ValueError(f"{place}: {len(row)} cells, and the first line has {len(head)}")
            if row:
                yield Record(dict(zip(head, row, strict=True)), place)
    except csv.Error as error:
        raise ValueError(f"{name}, line {rows.line_num}: {error}") from None


def _delimiter(head: str) -> str:
    """Return what separates the cells of the first line."""
    outside = "".join(head.split('"')[::2])
    return max(DELIMITERS, key=outside.count)


def _tabbed(file: BinaryIO, name: str) -> Iterator[Record]:
    return _table(file, name, "\t")


def _texts(file: BinaryIO, name: str) -> Iterator[Record]:
    """Read one text a line."""
    for number, line in _lines(file, name):
        if line.strip():
            yield Record({"text": line.rstrip("\r\n")}, f"{name}, line {number}")


READERS: dict[str, Callable[[BinaryIO, str], Iterator[Record]]] = {
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".json": _json,
    ".csv": _table,
    ".tsv": _tabbed,
    ".tab": _tabbed,
    ".txt": _texts,
}


def _parquet(path: Path) -> Iterator[Record]:
    import pyarrow as pa  # noqa: PLC0415 - an extra
    import pyarrow.parquet as pq  # noqa: PLC0415

    most = max(HARMLESS, LARGEST_RATIO * path.stat().st_size)
    try:
        with pq.ParquetFile(path) as file:
            groups = (file.metadata.row_group(k) for k in range(file.metadata.num_row_groups))
            if sum(group.total_byte_size for group in groups) > most:
                raise ValueError(f"it grows to more than {LARGEST_RATIO} times its size")
            number = 0
            for batch in file.iter_batches(batch_size=ROWS):
                for values in batch.to_pylist():
                    number += 1
                    yield Record(values, f"{path.name}, row {number}")
    except (pa.ArrowException, ValueError) as error:
        raise ValueError(f"{path.name}: {error}") from None


def _folder(folder: Path) -> Iterator[Record]:
    """Read the Parquet files of a folder, or name the pictures in it and its folders."""
    tables = sorted(folder.glob("*.parquet"))
    if tables:
        yield from chain.from_iterable(map(_parquet, tables))
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
                yield Record({"image": path.relative_to(folder).as_posix()}, str(path))
    if not found:
        raise ValueError(f"{folder}: there are no pictures in it ({', '.join(PICTURES)})")
