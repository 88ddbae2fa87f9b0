"""Rows of an npz archive, some at a time: arrays are read from the archive as they come."""

from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile, is_zipfile

import numpy as np

from selectron.arrays import Array, DType, Values

PAIRS = (("X", "y"), ("x", "y"), ("x_train", "y_train"), ("X_train", "y_train"))
CHUNK = 1 << 20  # bytes of an array at a time
NO_ARCHIVE = "it is no npz archive, or a damaged one; write it with numpy.savez"


def npz_records(path: Path) -> Iterator[Values]:
    """Yield each row as a vector, with its label where there is an array of labels."""
    if not is_zipfile(path):
        raise ValueError(f"{path.name}: {NO_ARCHIVE}")
    try:
        with ZipFile(path) as archive:
            names = {name.removesuffix(".npy") for name in archive.namelist()}
            X, y = next(((X, y) for X, y in PAIRS if X in names), (None, ""))
            if X is None:
                raise ValueError(f"it holds {', '.join(sorted(names))}, but no rows X")
            labels = _rows(archive, y) if y in names else repeat(None)
            for row, label in zip(_rows(archive, X), labels, strict=y in names):
                vector = row.astype(np.float64, copy=False).reshape(-1).tolist()
                yield {"vector": vector} | ({} if label is None else {"label": label.item()})
    except (ValueError, EOFError, BadZipFile, OSError, NotImplementedError) as error:
        raise ValueError(f"{path.name}: {error}") from None


def _rows(archive: ZipFile, name: str) -> Iterator[Array]:
    with archive.open(f"{name}.npy") as file:
        shape, dtype = _head(file)
        if dtype.hasobject or not shape:
            raise ValueError(f"the array {name!r} holds no rows of numbers; save plain arrays")
        width = dtype.itemsize * int(np.prod(shape[1:], dtype=np.int64))
        at_once, left = max(1, CHUNK // max(1, width)), shape[0]
        while left:
            n = min(left, at_once)
            data = file.read(n * width)
            if len(data) < n * width:
                raise ValueError(f"the array {name!r} is cut short")
            yield from np.frombuffer(data, dtype).reshape(n, *shape[1:])
            left -= n


def _head(file: Any) -> tuple[tuple[int, ...], DType]:
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0
    shape, columns_first, dtype = (
        read(file) if version == (1, 0) else np.lib.format.read_array_header_2_0(file)
    )
    if columns_first and len(shape) > 1:
        raise ValueError("an array is stored column by column; save it with order='C'")
    return shape, dtype
