"""Arrays and their description in a file: safetensors, a version, a SHA-256 of everything."""

import hashlib
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Tensors = dict[str, NDArray[Any]]


class DamagedFile(ValueError):
    """The file is not what was saved."""


class Format(NamedTuple):
    """One kind of file: what its metadata say, and what to call it in a refusal."""

    name: str
    version: int  # the newest that can be read
    described_by: str  # the metadata's name for the description
    file: str  # "a learner's file"
    owner: str  # "a selectron learner"


def write_file(path: Path, kind: Format, tensors: Tensors, description: str) -> None:
    """Write arrays and what describes them, whole or not at all."""
    from safetensors.numpy import save as to_bytes  # noqa: PLC0415 - a quarter of a second

    metadata = {
        "format": kind.name,
        "version": str(kind.version),
        kind.described_by: description,
        "sha256": _checksum(tensors, description),
    }
    _write_whole(path, to_bytes(tensors, metadata))


def read_file(path: Path, kind: Format) -> tuple[Tensors, str]:
    """Read the arrays and the description, and check that they are what was written."""
    from safetensors import SafetensorError  # noqa: PLC0415

    try:
        metadata, tensors = _open(path)
    except SafetensorError as error:
        raise DamagedFile(f"{path} is truncated or not {kind.file}: {error}") from None
    _check_format(path, kind, metadata)
    description = metadata.get(kind.described_by, "")
    if metadata.get("sha256") != _checksum(tensors, description):
        raise DamagedFile(f"{path} is damaged: its SHA-256 does not match; restore it from a copy")
    return tensors, description


def format_name(path: Path) -> str:
    """Return the name of the format that a file claims to have; empty if it has none."""
    from safetensors import SafetensorError  # noqa: PLC0415

    try:
        return _open(path)[0].get("format", "")
    except SafetensorError:
        return ""


def _open(path: Path) -> tuple[dict[str, str], Tensors]:
    from safetensors import safe_open  # noqa: PLC0415

    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file")
    with safe_open(str(path), "numpy") as file:
        names = file.keys()
        return file.metadata() or {}, {name: file.get_tensor(name) for name in names}


def _check_format(path: Path, kind: Format, metadata: dict[str, str]) -> None:
    found, version = metadata.get("format", ""), metadata.get("version", "")
    if found != kind.name:
        instead = f"; its format is {found!r}: load it with what saved it" if found else ""
        raise DamagedFile(f"{path} is a safetensors file, but not one of {kind.owner}{instead}")
    if not version.isdecimal() or int(version) < 1:
        raise DamagedFile(f"{path} is damaged: it has no version; restore it from a copy")
    if int(version) > kind.version:
        raise DamagedFile(
            f"{path} has format version {version}, and this selectron reads up to {kind.version}: "
            "install a newer one"
        )


def _checksum(tensors: Tensors, description: str) -> str:
    total = hashlib.sha256(description.encode())
    for name in sorted(tensors):
        array = tensors[name]
        total.update(f"{name} {array.dtype.name} {array.shape}".encode())
        total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


def _write_whole(path: Path, content: bytes) -> None:
    """Write beside the file, force it to the disk, then put it in its place."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent}: make it first")
    if path.exists() and not path.is_file():  # a device or a pipe must not be replaced
        path.write_bytes(content)
        return
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    directory = os.open(path.resolve().parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
