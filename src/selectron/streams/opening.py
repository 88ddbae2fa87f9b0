"""Files as bytes: plain, gzip or Zstandard, a piece at a time, counted, and never a bomb."""

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from selectron.extras import extra

LONGEST = 16 << 20  # bytes of a record
LARGEST_RATIO = 300  # a compressed file that grows by more is a bomb,
HARMLESS = 64 << 20  # if it grows to more bytes than these
PACKED = (".gz", ".zst")
ARCHIVES = (".zip", ".7z", ".xz", ".bz2", ".tar", ".tgz")

Tick = Callable[[int], object]


@contextmanager
def opened(path: Path, tick: Tick = int) -> Iterator[BinaryIO]:
    """Open a file, unpacked if its name ends in .gz or .zst.

    `tick` is told how many bytes of the file were read since it was told last.
    """
    suffix = path.suffix.lower()
    if suffix in ARCHIVES:
        raise ValueError(f"{path.name}: unpack it first; .gz and .zst are read as they are")
    with path.open("rb", buffering=0) as raw:
        file: Any = io.BufferedReader(_Counted(raw, tick), 1 << 16)
        if suffix in PACKED:
            file = io.BufferedReader(_Inflated(_inflating(file, suffix), path), 1 << 16)
        yield file


def _inflating(file: BinaryIO, suffix: str) -> Any:
    if suffix == ".gz":
        return gzip.GzipFile(fileobj=file)
    with extra("tables"):
        import pyarrow as pa  # noqa: PLC0415

    return pa.CompressedInputStream(pa.PythonFile(file), "zstd")


class _Counted(io.RawIOBase):
    """A file that says how much of it was read."""

    def __init__(self, file: io.RawIOBase, tick: Tick) -> None:
        self._file, self._tick = file, tick

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n: int = self._file.readinto(buffer) or 0
        self._tick(n)
        return n


class _Inflated(io.RawIOBase):
    """What a compressed file holds, until it turns out to be a bomb."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file, self._name, self._size = file, path.name, 0
        self._most = largest(path.stat().st_size)

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


def largest(size: int) -> int:
    """Return to how many bytes a file of this size may grow."""
    return max(HARMLESS, LARGEST_RATIO * size)


class Joined(io.RawIOBase):
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


def lines(file: BinaryIO, name: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file with their numbers, without a byte-order mark."""
    number, longest = 0, LONGEST
    while line := file.readline(longest + 1):
        number += 1
        if len(line) > longest:
            raise ValueError(f"{name}, line {number}: longer than {longest >> 20} MB")
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{name}, line {number}, byte {error.start + 1}: this is not UTF-8; "
                "save the file as UTF-8"
            ) from None
        yield number, text.removeprefix("\ufeff") if number == 1 else text
