"""Read rows and labels from a file: npz, svmlight, CSV or Parquet, by its name."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

TARGET_NAMES = ("y", "label", "labels", "target", "class")
PAIRS = (("X", "y"), ("x", "y"), ("x_train", "y_train"), ("X_train", "y_train"))
TEST_PAIRS = (("x_test", "y_test"), ("X_test", "y_test"))


class Stream(NamedTuple):
    """Rows in their order, a label for each, and test rows where the file has some."""

    X: Any
    y: Any
    name: str
    test: Any = None


def read_stream(path: str | Path, target: str | None = None) -> Stream:
    """Read a stream from a file.

    Parameters
    ----------
    path : path
        `.npz` with X and y (or x_train, y_train, x_test, y_test; or the arrays of a CSR matrix),
        `.svm`, `.svmlight`, `.libsvm` or `.dat`, also gzipped, `.csv`, `.parquet`.
    target : str, optional
        The column or array of the labels; by default y, label, target or class, else the last.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file")
    kind = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    reader = READERS.get(kind)
    if reader is None:
        raise ValueError(f"{path}: cannot read .{kind} files; pass one of {', '.join(READERS)}")
    return reader(path, target)


def _read_npz(path: Path, target: str | None) -> Stream:
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except ValueError as error:
        raise ValueError(f"{path}: {error}; save plain arrays, not pickled objects") from None
    if {"data", "indices", "indptr", "shape"} <= arrays.keys():
        from scipy.sparse import csr_array  # noqa: PLC0415

        parts = arrays["data"], arrays["indices"], arrays["indptr"]
        X: Any = csr_array(parts, shape=tuple(arrays["shape"]))
        y = _pick(path, arrays, [target] if target else [n for n in arrays if n.startswith("y")])
        return Stream(X, y[:, 0] if y.ndim == 2 else y, path.stem)
    for rows, labels in PAIRS:
        if rows in arrays and (target or labels) in arrays:
            test = next((_pair(arrays, *p) for p in TEST_PAIRS if p[0] in arrays), None)
            return Stream(*_pair(arrays, rows, target or labels), path.stem, test)
    raise ValueError(f"{path}: holds {', '.join(arrays)}, but no rows X with labels y")


def _pair(arrays: dict[str, Any], rows: str, labels: str) -> tuple[Any, Any]:
    X = arrays[rows]
    return X.reshape(len(X), -1).astype(np.float64, copy=False), arrays[labels]


def _pick(path: Path, arrays: dict[str, Any], names: list[str]) -> Any:
    for name in names:
        if name in arrays:
            return arrays[name]
    raise ValueError(f"{path}: no labels among {', '.join(arrays)}; name them with --target")


def _read_svmlight(path: Path, target: str | None) -> Stream:
    from sklearn.datasets import load_svmlight_file  # noqa: PLC0415

    X, y = load_svmlight_file(str(path))
    return Stream(X, y, path.name.split(".")[0])


def _read_csv(path: Path, target: str | None) -> Stream:
    from pyarrow import csv  # noqa: PLC0415 - an extra: pip install selectron[tables]

    return _from_table(path, csv.read_csv(path), target)


def _read_parquet(path: Path, target: str | None) -> Stream:
    from pyarrow import parquet  # noqa: PLC0415

    return _from_table(path, parquet.read_table(path), target)


def _from_table(path: Path, table: Any, target: str | None) -> Stream:
    names = table.column_names
    if target is None:
        target = next((n for n in TARGET_NAMES if n in names), names[-1])
    elif target not in names:
        raise ValueError(f"{path}: there is no column {target!r}; it has {', '.join(names)}")
    y = np.asarray(table.column(target).to_pylist())
    features = [name for name in names if name != target]
    if not features or table.num_rows == 0:
        raise ValueError(f"{path}: holds no rows of features beside the labels {target!r}")
    columns = [_numbers(path, name, table.column(name)) for name in features]
    return Stream(np.column_stack(columns), y, path.stem)


def _numbers(path: Path, name: str, column: Any) -> Any:
    values = column.to_numpy()
    if values.dtype.kind not in "fiub":
        raise ValueError(
            f"{path}: column {name!r} holds {column.type}, not numbers; encode it, or drop it"
        )
    return values.astype(np.float64)


READERS = {
    "npz": _read_npz,
    "svm": _read_svmlight,
    "svmlight": _read_svmlight,
    "libsvm": _read_svmlight,
    "dat": _read_svmlight,
    "csv": _read_csv,
    "parquet": _read_parquet,
}
