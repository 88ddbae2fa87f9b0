"""Mixtures of experts in files: safetensors, a version, a SHA-256 of everything, and no pickle."""

import hashlib
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from selectron.experts.fixed_share import FixedShare
from selectron.experts.learn_alpha import LearnAlpha
from selectron.experts.markov_share import MarkovShare
from selectron.experts.mixture import Mixture
from selectron.experts.static import StaticExpert

FORMAT = "selectron experts"
VERSION = 1
KINDS: dict[str, type[Mixture]] = {
    kind.__name__: kind for kind in (StaticExpert, FixedShare, MarkovShare, LearnAlpha)
}
Tensors = dict[str, NDArray[np.generic]]


class DamagedFile(ValueError):
    """The file is not what was saved."""


def save_experts(experts: Mixture, path: str | Path) -> None:
    """Write a mixture to a file, whole or not at all.

    Examples
    --------
    >>> import tempfile
    >>> experts = StaticExpert(3)
    >>> _ = experts.update([0.1, 0.7, 2.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_experts(experts, f"{folder}/three.experts")
    ...     load_experts(f"{folder}/three.experts").weights.round(4).tolist()
    [0.5888, 0.3231, 0.0881]
    """
    from safetensors.numpy import save as to_bytes  # noqa: PLC0415 - a quarter of a second

    kind = type(experts).__name__
    if KINDS.get(kind) is not type(experts):
        raise TypeError(f"cannot save a {kind}; known are {', '.join(KINDS)}")
    tensors = {
        name: np.ascontiguousarray(value).reshape(np.shape(value))  # a number stays one
        for name, value in experts.state().items()
    }
    metadata = {
        "format": FORMAT,
        "version": str(VERSION),
        "kind": kind,
        "sha256": _checksum(tensors, kind),
    }
    _write_whole(Path(path), to_bytes(tensors, metadata))


def load_experts(path: str | Path) -> Mixture:
    """Read a mixture that goes on exactly where it was saved."""
    from safetensors import SafetensorError, safe_open  # noqa: PLC0415

    if not Path(path).is_file():
        raise FileNotFoundError(f"{path}: there is no such file")
    try:
        with safe_open(str(path), "numpy") as file:
            metadata = file.metadata() or {}
            tensors: Tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise DamagedFile(f"{path} is truncated or not a file of experts: {error}") from None
    if metadata.get("format") != FORMAT:
        raise DamagedFile(f"{path} is a safetensors file, but not one of selectron's experts")
    version = metadata.get("version", "")
    if not version.isdecimal() or int(version) < 1:
        raise DamagedFile(f"{path} is damaged: it has no version; restore it from a copy")
    if int(version) > VERSION:
        raise DamagedFile(
            f"{path} has format version {version}, and this selectron reads up to "
            f"{VERSION}: install a newer one"
        )
    kind = metadata.get("kind", "")
    if kind not in KINDS or metadata.get("sha256") != _checksum(tensors, kind):
        raise DamagedFile(f"{path} is damaged: its SHA-256 does not match; restore it from a copy")
    return KINDS[kind].from_state(tensors)


def _checksum(tensors: Tensors, kind: str) -> str:
    total = hashlib.sha256(kind.encode())
    for name in sorted(tensors):
        array = tensors[name]
        total.update(f"{name} {array.dtype.name} {array.shape}".encode())
        total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


def _write_whole(path: Path, content: bytes) -> None:
    """Write beside the file, force it to the disk, then put it in its place."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent}: make it first")
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
