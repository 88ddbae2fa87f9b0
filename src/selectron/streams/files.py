"""Whole files as rows and labels, for those who go over them more than once."""

import zlib
from gzip import BadGzipFile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from zipfile import BadZipFile, is_zipfile

import numpy as np

from selectron.arrays import Array, Label, Matrix, Table
from selectron.features import Recipe
from selectron.numeric.rows import check_pointers
from selectron.streams.arrays_file import NO_ARCHIVE, PAIRS
from selectron.streams.records import name_of
from selectron.streams.rows import FileRows

if TYPE_CHECKING:
    from scipy.sparse import csr_array, csr_matrix

    # svmlight files and CSR archives give sparse rows, all others a matrix.
    Features = Matrix | csr_array[np.float64, tuple[int, int]] | csr_matrix[np.float64]

Labels = Array
Arrays = dict[str, Array]
TEST_PAIRS = (("x_test", "y_test"), ("X_test", "y_test"))
UNREADABLE = (ValueError, EOFError, BadZipFile, BadGzipFile, zlib.error)


class Unlabelled(ValueError):
    """Some rows of a file have no label."""


class Content(NamedTuple):
    """The rows, labels and test rows of a file, and how rows were made of records."""

    X: "Features"
    y: Labels
    test: "tuple[Features, Labels] | None" = None
    recipe: Recipe | None = None


class Stream(NamedTuple):
    """Rows in their order, a label for each, and test rows where the file has some."""

    X: Table  # a matrix, or sparse rows (CSR)
    y: Labels
    name: str
    test: "tuple[Features, Labels] | None" = None
    recipe: Recipe | None = None  # how rows were made, if the file holds records


def read_stream(path: str | Path, target: str | None = None, *, pairs: bool = False) -> Stream:
    """Read all rows of a file, each with its label.

    Parameters
    ----------
    path : path
        `.npz` with X and y (or x_train, y_train, x_test, y_test; or the arrays of a CSR matrix),
        `.svm`, `.svmlight`, `.libsvm` or `.dat`, also gzipped, or anything that `read_records`
        reads: its columns become rows by a `Recipe`. Where there is no such file, the name of a
        data set that comes with scikit-learn: breast-cancer, digits, iris or wine.
    target : str, optional
        The column or array of the labels; by default y, label, target or class, else the last.
    pairs : bool
        Whether texts are read by pairs of words too.
    """
    path = Path(path)
    if str(path) in SHIPPED and not path.exists():
        return Stream(*read_shipped(str(path)), str(path))
    kind = path.name.removesuffix(".gz").rpartition(".")[2]
    reader = READERS.get(kind.lower())
    if reader is None or not path.is_file():
        content = _read_records(path, target, pairs=pairs)
    else:
        try:
            content = reader(path, target)
        except UNREADABLE as error:
            raise ValueError(f"{path}: {error}") from None
    X, y, test, recipe = content
    return Stream(X, y, name_of(str(path)), test, recipe)


def _read_npz(path: Path, target: str | None) -> Content:
    if not is_zipfile(path):
        raise ValueError(NO_ARCHIVE)
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


def _read_records(path: Path, target: str | None, *, pairs: bool) -> Content:
    """Read records whose labels are all there, and make rows of them."""
    rows = FileRows(path, target, supervised=True, pairs=pairs)
    pieces: list[Table] = []
    labels: list[Label] = []
    for batch in rows:
        pieces.append(batch.X)
        labels += batch.labels
    missing = sum(label is None for label in labels)
    if missing:
        raise Unlabelled(f"{path}: {missing} rows have no label in {rows.target!r}")
    return Content(_stacked(pieces), np.asarray(labels), None, rows.recipe)


def _stacked(pieces: list[Table]) -> Table:
    if isinstance(pieces[0], np.ndarray):
        return np.vstack(pieces)
    from scipy import sparse  # noqa: PLC0415

    return sparse.vstack(pieces).tocsr()


READERS = {
    "npz": _read_npz,
    **dict.fromkeys(("svm", "svmlight", "libsvm", "dat"), _read_svmlight),
}


SHIPPED = {
    "breast-cancer": "load_breast_cancer",
    "digits": "load_digits",
    "iris": "load_iris",
    "wine": "load_wine",
}


def read_shipped(name: str) -> tuple[Array, Array]:
    """Return the rows of a data set of this name, and their labels."""
    from sklearn import datasets  # noqa: PLC0415 - costs half a second

    X, y = getattr(datasets, SHIPPED[name])(return_X_y=True)
    return X, y
