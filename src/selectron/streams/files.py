"""Read rows and labels from a file: npz, svmlight, CSV or Parquet, by its name."""

import gzip
import zlib
from gzip import BadGzipFile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zipfile import BadZipFile, is_zipfile

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Matrix
from selectron.numeric.rows import check_pointers

if TYPE_CHECKING:
    from pyarrow import ChunkedArray
    from scipy.sparse import csr_array, csr_matrix

    # svmlight files and CSR archives give sparse rows, all others a matrix.
    Features = Matrix | csr_array[np.float64, tuple[int, int]] | csr_matrix[np.float64]

Labels = NDArray[Any]
Arrays = dict[str, NDArray[Any]]
TARGET_NAMES = ("y", "label", "labels", "target", "class")
PAIRS = (("X", "y"), ("x", "y"), ("x_train", "y_train"), ("X_train", "y_train"))
LONGEST_HEAD = 1 << 20  # bytes of the first line of a CSV file
TEST_PAIRS = (("x_test", "y_test"), ("X_test", "y_test"))
UNREADABLE = (ValueError, EOFError, BadZipFile, BadGzipFile, zlib.error)


class Content(NamedTuple):
    """The rows, labels and test rows of a file."""

    X: "Features"
    y: Labels
    test: "tuple[Features, Labels] | None" = None


class Stream(NamedTuple):
    """Rows in their order, a label for each, and test rows where the file has some."""

    X: Any  # a matrix, or sparse rows (CSR)
    y: Labels
    name: str
    test: "tuple[Features, Labels] | None" = None


def read_stream(path: str | Path, target: str | None = None) -> Stream:
    """Read a stream from a file.

    Parameters
    ----------
    path : path
        `.npz` with X and y (or x_train, y_train, x_test, y_test; or the arrays of a CSR matrix),
        `.svm`, `.svmlight`, `.libsvm` or `.dat`, also gzipped, `.csv` or `.tsv` with a line of
        names and columns parted by commas, semicolons or tabs, `.parquet`.
    target : str, optional
        The column or array of the labels; by default y, label, target or class, else the last.
    """
    path = Path(path)
    if not path.is_file():
        wrong = "it is a folder: name a file in it" if path.is_dir() else "there is no such file"
        raise FileNotFoundError(f"{path}: {wrong}")
    name, _, kind = path.name.removesuffix(".gz").rpartition(".")
    reader = READERS.get(kind.lower())
    if reader is None:
        raise ValueError(f"{path}: cannot read .{kind} files; pass one of {', '.join(READERS)}")
    try:
        X, y, test = reader(path, target)
    except UNREADABLE as error:
        raise ValueError(f"{path}: {error}") from None
    return Stream(X, y, name, test)


def _read_npz(path: Path, target: str | None) -> Content:
    if not is_zipfile(path):
        raise ValueError("it is no npz archive, or a damaged one; write it with numpy.savez")
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except ValueError as error:
        raise ValueError(f"{error}; save plain arrays, not pickled objects") from None
    found = ", ".join(arrays)
    if target is not None and target not in arrays:
        raise ValueError(f"there is no array {target!r}; it has {found}")
    if {"data", "indices", "indptr", "shape"} <= arrays.keys():
        return _from_csr(arrays, target)
    for rows, labels in PAIRS:
        if rows in arrays and (target or labels) in arrays:
            tests = (_pair(arrays, *p) for p in TEST_PAIRS if arrays.keys() >= set(p))
            return Content(*_pair(arrays, rows, target or labels), next(tests, None))
    raise ValueError(f"it holds {found}, but no rows X with labels y")


def _from_csr(arrays: Arrays, target: str | None) -> Content:
    from scipy.sparse import csr_array  # noqa: PLC0415

    target = target or next((name for name in arrays if name.startswith("y")), None)
    if target is None:
        raise ValueError(f"no labels among {', '.join(arrays)}; name them with --target")
    parts = arrays["data"], arrays["indices"], arrays["indptr"]
    y = arrays[target]
    X = csr_array(parts, shape=tuple(arrays["shape"]))
    check_pointers(X)  # before scipy follows them: it would read beyond its arrays
    return Content(X, y[:, 0] if y.ndim == 2 else y)


def _pair(arrays: Arrays, rows: str, labels: str) -> tuple[Matrix, Labels]:
    X = arrays[rows]
    return X.reshape(len(X), -1).astype(np.float64, copy=False), arrays[labels]


def _read_svmlight(path: Path, target: str | None) -> Content:
    from sklearn.datasets import load_svmlight_file  # noqa: PLC0415

    if target is not None:
        raise ValueError(f"svmlight rows begin with their label; leave --target {target} out")
    return Content(*load_svmlight_file(str(path)))


def _read_table(path: Path, target: str | None) -> Content:
    from pyarrow import csv, parquet  # noqa: PLC0415 - an extra: pip install selectron[tables]

    if path.name.removesuffix(".gz").lower().endswith(".parquet"):
        table = parquet.read_table(path)
    else:  # text in quotes may hold line ends
        parsing = csv.ParseOptions(delimiter=_separator(path), newlines_in_values=True)
        table = csv.read_csv(path, parse_options=parsing)
    names = table.column_names
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"two columns are called {twice[0]!r}; rename one")
    if target is None:
        target = next((n for n in TARGET_NAMES if n in names), names[-1])
    elif target not in names:
        raise ValueError(f"there is no column {target!r}; it has {', '.join(names)}")
    features = [name for name in names if name != target]
    if not features or table.num_rows == 0:
        raise ValueError(f"it holds no rows of features beside the labels {target!r}")
    labels = table.column(target).to_pylist()
    missing = sum(label is None or label == "" for label in labels)
    if missing:
        raise ValueError(f"{missing} rows have no label in {target!r}; drop them")
    columns = [_numbers(name, table.column(name)) for name in features]
    return Content(np.column_stack(columns), np.asarray(labels))


def _separator(path: Path) -> str:
    """Return what stands between the columns: the most frequent of three in the first line."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
        head = file.readline(LONGEST_HEAD).decode("utf-8", "replace")
    unquoted = "".join(head.split('"')[::2])
    return max(",;\t", key=unquoted.count)


def _numbers(name: str, column: "ChunkedArray") -> Matrix:
    values = column.to_numpy()
    if values.dtype.kind not in "fiub":
        raise ValueError(f"column {name!r} holds {column.type}, not numbers; encode it, or drop it")
    numbers: Matrix = values.astype(np.float64)
    return numbers


READERS = {
    "npz": _read_npz,
    **dict.fromkeys(("svm", "svmlight", "libsvm", "dat"), _read_svmlight),
    **dict.fromkeys(("csv", "tsv", "parquet"), _read_table),
}
