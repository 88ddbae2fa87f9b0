"""The high-water mark: a small file beside the log that says how far it was acknowledged.

SQLite takes a damaged tail of its write-ahead log for one that was never finished, and drops it
without a word. The mark is written after the commit and before the acknowledgement, so a log that
ends before its mark has lost something. The file has two slots, written in turn: a write that is
torn by a power cut spoils the slot of a commit that nobody was told of, and the other one holds.
"""

import errno
import fcntl
import os
import struct
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from selectron.files import write_whole
from selectron.labelling.store import GENESIS, Damaged, DiskFull, StoreError

RECORD = struct.Struct("<8sQ32s16s")  # name, number of the event, its hash, check
NAME = b"SELMARK1"
SLOT = 4096  # bytes: slots on different pages are never torn by one write
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


class Marked(NamedTuple):
    """The last acknowledged event, and its hash."""

    seq: int
    head: bytes


def flush(descriptor: int) -> None:
    """Wait until what was written is on the disk itself."""
    if hasattr(fcntl, "F_FULLFSYNC"):  # macOS: fsync stops at the cache of the disk
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        os.fdatasync(descriptor)


def flush_folder(folder: Path) -> None:
    """Wait until the names of new files are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def error_of(path: Path, error: OSError) -> StoreError:
    """Say what went wrong with a file."""
    if error.errno in FULL:
        return DiskFull(f"{path} cannot be written: {error.strerror}")
    remedy = "; name a store where you may write" if error.errno in FORBIDDEN else ""
    return StoreError(f"{path} cannot be written: {error.strerror}{remedy}")


def read_mark(path: Path) -> Marked | None:
    """Return the newest mark of the file, or None if there is no file."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    marks = [mark for slot in (0, SLOT) if (mark := _read_slot(content[slot : slot + SLOT]))]
    if not marks:
        raise Damaged(f"{path} is damaged; if the log is whole, delete {path} and open it again")
    return max(marks)


class Mark:
    """The mark of a store that is open for writing."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            write_whole(path, _record(0, GENESIS).ljust(SLOT, b"\0") + _record(0, GENESIS))
        self._file = os.open(path, os.O_RDWR)
        self._path = path
        slots = [_read_slot(os.pread(self._file, RECORD.size, slot)) for slot in (0, SLOT)]
        newest_first = slots[0] and (not slots[1] or slots[0] > slots[1])
        self._slot = SLOT if newest_first else 0  # the newest one must stay

    def write(self, seq: int, head: bytes) -> None:
        """Make the mark durable."""
        try:
            os.pwrite(self._file, _record(seq, head), self._slot)
            flush(self._file)
        except OSError as error:
            raise error_of(self._path, error) from error
        self._slot = SLOT - self._slot

    def close(self) -> None:
        os.close(self._file)


def _record(seq: int, head: bytes) -> bytes:
    fields = RECORD.pack(NAME, seq, head, b"")[:-16]
    return fields + sha256(fields).digest()[:16]


def _read_slot(content: bytes) -> Marked | None:
    if len(content) < RECORD.size:
        return None
    name, seq, head, check = RECORD.unpack_from(content)
    whole = name == NAME and check == sha256(content[: RECORD.size - 16]).digest()[:16]
    return Marked(seq, head) if whole else None
