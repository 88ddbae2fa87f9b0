"""Arrays and their description in a file: safetensors, a version, a SHA-256 of everything.

A file is written whole or not at all, also while other threads or processes write to the same path:
then the last whole one stays. Nothing in a file is executed. Every array is taken by its name and
checked (`Reader`) before anything uses it, and whatever is wrong is said in one line (`refusing`).
"""

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from time import time
from typing import Any, NamedTuple

import numpy as np

from selectron.arrays import Array, DType

Tensors = dict[str, Array]
Description = dict[str, Any]  # what a file says of its arrays: an object of JSON

LARGEST = 2**53  # of whole numbers: up to here a float is exact
LONGEST_VERSION = 10  # digits
PART = ".part"  # ends the name of a file that is being written
# What safetensors raises for types of numbers that NumPy has not.
UNREADABLE = TypeError, ValueError, LookupError, AttributeError
MOST_BYTES = 1 << 33  # of a file: 8 GiB, twice the largest matrix of a learner
STALE = 3600.0  # seconds after which such a file has no writer any more


class DamagedFile(ValueError):
    """The file is not what was saved."""


class MissingRule(DamagedFile):
    """A file that is whole, and needs a rule of a package that is not there."""


class Format(NamedTuple):
    """One kind of file: what its metadata say, and what to call it in a refusal."""

    name: str
    version: int  # the only one that can be read
    described_by: str  # the metadata's name for the description
    file: str  # "a learner's file"
    owner: str  # "a selectron learner"


def write_file(path: Path, kind: Format, tensors: Tensors, description: str) -> None:
    """Write arrays and what describes them, whole or not at all."""
    write_whole(path, file_of(kind, tensors, description))


def file_of(kind: Format, tensors: Tensors, description: str) -> bytes:
    """Return the file of arrays and of what describes them."""
    from safetensors.numpy import save as to_bytes  # noqa: PLC0415 - a quarter of a second

    metadata = {
        "format": kind.name,
        "version": str(kind.version),
        kind.described_by: description,
    }
    checksum = _checksum(tensors, metadata)
    file = _in_order(to_bytes(tensors, metadata | {"sha256": checksum}))
    if len(file) > MOST_BYTES:
        raise ValueError(f"{kind.file} takes at most {MOST_BYTES >> 30} GiB: this one is larger")
    return file


def _in_order(file: bytes) -> bytes:
    """Return the file with its header in order: safetensors writes metadata in any order.

    So the same learner always makes the same file, byte for byte.
    """
    end = 8 + int.from_bytes(file[:8], "little")
    header = json.dumps(json.loads(file[8:end]), sort_keys=True, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + file[end:]


def read_file(path: Path, kind: Format) -> tuple[Tensors, str]:
    """Read the arrays and the description, and check that they are what was written."""
    from safetensors import SafetensorError  # noqa: PLC0415

    try:
        with _opened(path) as file:
            metadata = file.metadata() or {}
            _check_format(path, kind, metadata)
            if path.stat().st_size > MOST_BYTES:
                raise DamagedFile(
                    f"{path} is larger than {MOST_BYTES >> 30} GiB: {kind.file} is never that large"
                )
            names = file.keys()
            tensors = {name: file.get_tensor(name) for name in names}
    except DamagedFile:
        raise
    except (SafetensorError, *UNREADABLE) as error:
        said = " ".join(str(error).split())[:200]
        raise DamagedFile(f"{path} is truncated or not {kind.file}: {said}") from None
    checksum = metadata.pop("sha256", "")
    if checksum != _checksum(tensors, metadata):
        raise DamagedFile(f"{path} is damaged: its SHA-256 does not match; restore it from a copy")
    return tensors, metadata.get(kind.described_by, "")


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """Say of the file whatever is raised while a learner is made of it: nothing else is read."""
    try:
        yield
    except MissingRule as error:
        raise MissingRule(f"{path} needs {error}") from None
    except Exception as error:
        said = str(error) if isinstance(error, DamagedFile) else f"{type(error).__name__} {error}"
        said = " ".join(said.split())[:200]
        raise DamagedFile(f"{path} is damaged: {said}; restore it from a copy") from None


def format_name(path: Path) -> str:
    """Return the name of the format that a file claims to have; empty if it has none."""
    from safetensors import SafetensorError  # noqa: PLC0415

    try:
        with _opened(path) as file:
            return str((file.metadata() or {}).get("format", ""))
    except (SafetensorError, *UNREADABLE):
        return ""


def _opened(path: Path) -> Any:
    """Return the file, of which only the header is read."""
    from safetensors import safe_open  # noqa: PLC0415

    if not path.is_file():
        wrong = "is a folder" if path.is_dir() else "there is no such file"
        raise FileNotFoundError(f"{path}: {wrong}")
    return safe_open(str(path), "numpy")


def _check_format(path: Path, kind: Format, metadata: dict[str, str]) -> None:
    found, version = metadata.get("format", ""), metadata.get("version", "")
    if found != kind.name:
        instead = f"; its format is {found!r}: load it with what saved it" if found else ""
        raise DamagedFile(f"{path} is a safetensors file, but not one of {kind.owner}{instead}")
    digits = version.isascii() and version.isdecimal() and len(version) < LONGEST_VERSION
    if not digits or int(version) < 1:
        raise DamagedFile(f"{path} is damaged: it has no version; restore it from a copy")
    if int(version) != kind.version:
        other = "a newer" if int(version) > kind.version else "the older"
        raise DamagedFile(
            f"{path} has format version {version}, and this selectron reads {kind.version}: "
            f"load it with {other} selectron"
        )


def _checksum(tensors: Tensors, metadata: dict[str, str]) -> str:
    total = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode())
    for name in sorted(tensors):
        array = tensors[name]
        total.update(f"{name} {array.dtype.name} {array.shape}".encode())
        total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


def write_whole(path: Path, content: bytes) -> None:
    """Write beside the file, force it to the disk, then put it in its place.

    A link is followed, and the permissions of a file that is replaced are kept. What writers left
    behind that were killed is swept.
    """
    path = Path(os.path.realpath(path))
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent}: make it first")
    if path.exists() and not path.is_file():  # a device or a pipe must not be replaced
        path.write_bytes(content)
        return
    mark = f".{hashlib.sha256(path.name.encode()).hexdigest()[:16]}."  # a long name has no room
    _sweep(path.parent, mark)
    beside = path.with_name(f"{mark}{token_hex(8)}{PART}")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            if path.exists():
                os.fchmod(file.fileno(), stat.S_IMODE(path.stat().st_mode))
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _sweep(folder: Path, mark: str) -> None:
    """Remove what killed writers of the same file left behind; a writer at work is younger."""
    for left in folder.glob(f"{mark}*{PART}"):
        try:
            if time() - left.stat().st_mtime > STALE:
                left.unlink(missing_ok=True)
        except OSError:  # another process has just moved or removed it
            continue


class Reader:
    """The arrays of a file: each is taken once, by its name, and checked."""

    def __init__(self, tensors: Tensors) -> None:
        self.tensors = dict(tensors)

    @property
    def n_numbers(self) -> int:
        """How many numbers nobody has taken yet."""
        return sum(array.size for array in self.tensors.values())

    def names(self, prefix: str) -> Iterator[str]:
        """Yield the names that begin so, without that beginning."""
        return (name.removeprefix(prefix) for name in self.tensors if name.startswith(prefix))

    def within(self, prefix: str) -> "Reader":
        """Take all arrays whose names begin so, under what is left of their names."""
        taken = {name: self.tensors[prefix + name] for name in [*self.names(prefix)]}
        for name in taken:
            del self.tensors[prefix + name]
        return Reader(taken)

    def take(
        self,
        name: str,
        dtype: DType | type,
        shape: tuple[int | None, ...],
        low: float = -np.inf,
        high: float = np.inf,
    ) -> Array:
        """Take an array of this type and shape (None: any length), its numbers within bounds.

        Numbers are finite; whole ones lie below 2⁵³ in any case.
        """
        if name not in self.tensors:
            raise DamagedFile(f"the array {name!r} is missing")
        array = self.tensors.pop(name)
        if array.dtype != dtype:
            raise DamagedFile(f"the array {name!r} is of {array.dtype}, not of {np.dtype(dtype)}")
        fits = len(array.shape) == len(shape) and all(
            wanted in (None, found) for wanted, found in zip(shape, array.shape, strict=True)
        )
        if not fits:
            raise DamagedFile(f"the array {name!r} has shape {array.shape}, not {shape}")
        if array.dtype.kind in "fiu" and array.size:
            least, most = array.min(), array.max()
            if not (np.isfinite(least) and np.isfinite(most) and low <= least and most <= high):
                raise DamagedFile(f"the array {name!r} has numbers from {least} to {most}")
            if array.dtype.kind == "i" and max(-int(least), int(most)) > LARGEST:
                raise DamagedFile(f"the array {name!r} has numbers from {least} to {most}")
        return array

    def fill(self, name: str, into: Array) -> None:
        """Take an array of the type and shape of this one, and write it there.

        A number is finite, or as infinite as the one it replaces.
        """
        found = self.tensors.get(name)
        if found is not None and found.shape == into.shape and found.dtype == into.dtype:
            endless = np.isinf(into) & (found == into)
            self.tensors[name] = np.where(endless, into.dtype.type(0), found)
            self.take(name, into.dtype, into.shape)
            into[...] = found
        else:
            self.take(name, into.dtype, into.shape)  # refused

    def check_all_taken(self) -> None:
        """Refuse arrays that nobody asked for."""
        if self.tensors:
            raise DamagedFile(f"the array {min(self.tensors)!r} does not belong there")


def whole(value: object, name: str, low: int = 0, high: int = LARGEST) -> int:
    """Return a whole number of a description within bounds."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise DamagedFile(f"{name} is {value!r:.60}, not a whole number from {low} to {high}")
    return value


def flag(value: object, name: str) -> bool:
    """Return True or False of a description."""
    if not isinstance(value, bool):
        raise DamagedFile(f"{name} is {value!r:.60}, not true or false")
    return value


def fields(value: object, name: str, names: tuple[str, ...]) -> Description:
    """Return an object of a description that has just these fields."""
    if not isinstance(value, dict) or sorted(value) != sorted(names):
        found = sorted(value) if isinstance(value, dict) else value
        raise DamagedFile(f"{name} has {found!r:.80}, not {', '.join(names)}")
    return value
