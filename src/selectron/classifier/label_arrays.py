"""Arrays of the user's labels, of any type: none is changed into another on the way."""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

TIMES = "mM"  # numpy's kinds of moments and of spans between them
EXACT = 2.0**53  # up to here every whole number is a float of its own


def read_labels(y: Any, n: int) -> NDArray[Any]:
    """Return y as a plain column of n labels."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    if type(y) is not np.ndarray and np.ma.is_masked(y):
        raise ValueError("y has masked labels: pass one for every row, or an oracle to ask")
    column = np.asarray(y)
    if column.dtype.kind in "USf" and not hasattr(y, "dtype") and column.ndim == 1:
        column = as_array(list(y), column)  # 1 beside "a" would have become "1"
    if column.ndim == 2 and column.shape[1] == 1:
        import warnings  # noqa: PLC0415

        from sklearn.exceptions import DataConversionWarning  # noqa: PLC0415

        warnings.warn(
            "A column-vector y was passed when a 1d array was expected", DataConversionWarning, 2
        )
        column = column.ravel()
    if column.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {column.shape} instead.")
    if len(column) != n:
        raise ValueError(f"X has {n} rows and y has {len(column)} labels: pass one for every row")
    return column


def found_classes(y: NDArray[Any]) -> NDArray[Any]:
    """Return the sorted classes of an array of labels."""
    if y.dtype == bool and 0 < np.count_nonzero(y) < len(y):
        return np.array([False, True])
    if y.dtype.kind in "biu" and len(y):  # without sorting, as long as there are two
        low, high = y.min(), y.max()
        if ((y == low) | (y == high)).all():
            return np.unique([low, high])
    if y.dtype.kind == "f" and not (np.isfinite(y).all() and (y == np.round(y)).all()):
        if not np.isfinite(y).all():
            raise ValueError("Input y contains NaN or infinity: every label must be a class")
        raise ValueError("Unknown label type: continuous. Labels must be classes, not numbers")
    if y.dtype.kind in "OmM" and any(label is None or label != label for label in y):
        raise ValueError("Input y contains NaN or None: every label must be a class")
    for label in y if y.dtype.kind == "O" else ():
        check_single(label)
    return _sorted(y)


def distinct(classes: Iterable[Any]) -> NDArray[Any]:
    names = list(classes)
    for label in names:
        check_single(label)
    named = classes if isinstance(classes, np.ndarray) else as_array(names)
    if any(label is None or label != label for label in listed(named)):
        raise ValueError(f"classes={listed(named)!r} has None or NaN in it: name classes only")
    found = _sorted(named)
    if len(found) < len(named):
        raise ValueError(f"classes={listed(named)!r} names a class twice: name each once")
    return found


def _sorted(labels: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct labels: sorted, or in their order where they cannot be compared."""
    try:
        return np.unique(labels)
    except TypeError:
        return as_array(list(dict.fromkeys(labels.tolist())))


def as_array(labels: list[Any], array: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return labels as an array, by default numpy's, in which those that differ still do."""
    array = np.array(labels) if array is None else array
    if array.ndim == 1 and array.dtype.kind == "f" and _rounded(labels, array):
        return _exact(labels)
    if array.ndim != 1 or (
        array.dtype.kind in "US" and not all(isinstance(x, str) for x in labels)
    ):
        return _objects(labels)
    return array


def _rounded(labels: list[Any], array: NDArray[Any]) -> bool:
    """Tell whether numpy, which makes floats of 2**63 beside 1, has changed whole numbers."""
    large = np.flatnonzero(np.abs(array) >= EXACT)
    whole = any(isinstance(labels[t], int | np.integer) for t in large)
    return whole and bool((array == np.round(array)).all() and np.isfinite(array).all())


def _exact(labels: list[Any]) -> NDArray[Any]:
    """Return whole numbers as they are: unsigned ones of 64 bits, or Python's own."""
    own = [plain(label) for label in labels]
    if all(isinstance(label, int) and 0 <= label < 2**64 for label in own):
        return np.array(own, np.uint64)
    return _objects(own)


def _objects(labels: list[Any]) -> NDArray[Any]:
    array = np.empty(len(labels), object)
    for k, label in enumerate(labels):
        array[k] = label
    return array


def check_single(label: Any) -> None:
    if isinstance(label, tuple) or not isinstance(label, Hashable):
        raise ValueError(f"a label must be a single value such as text or a number: {label!r}")


def plain(label: Any) -> Any:
    """Return a label as Python's own value; a moment in time would become a number by that."""
    own = isinstance(label, np.generic) and label.dtype.kind not in TIMES
    return label.item() if own else label


def listed(classes: NDArray[Any]) -> list[Any]:
    return list(classes) if classes.dtype.kind in TIMES else classes.tolist()


def some(classes: NDArray[Any]) -> str:
    shown = ", ".join(repr(plain(label)) for label in classes[:4])
    return shown + (", ..." if len(classes) > 4 else "")
