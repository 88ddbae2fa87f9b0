"""Labels that come several at a time: an indicator matrix, or a list of labels for each row."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selectron.classifier.label_arrays import listed, plain, some
from selectron.classifier.labels import Labels

Flags = NDArray[np.bool_]
SETS = (list, tuple, set, frozenset)


def several_a_row(y: Any) -> bool:
    """Tell whether y has a set of labels for every row; a column of one label each has not."""
    if callable(y) or y is None or isinstance(y, str):
        return False
    if hasattr(y, "shape") and len(y.shape) == 2:
        return y.shape[1] > 1 and _is_indicator(y)
    if hasattr(y, "dtype") and y.dtype != object:
        return False
    listed = list(y) if isinstance(y, Iterable) else []
    sets = bool(listed) and all(isinstance(labels, SETS) for labels in listed)
    return sets and any(len(labels) != 1 for labels in listed)


def names_of(y: Any, classes: Iterable[Any] | None) -> Labels:
    """Return the labels that there are: those given, columns, or those found."""
    if classes is not None:
        return Labels(classes)
    if hasattr(y, "shape") and len(y.shape) == 2:
        return Labels(getattr(y, "columns", range(y.shape[1])))
    return Labels(sorted({plain(label) for labels in y for label in labels}))


def read_sets(y: Any, n: int, names: Labels) -> Flags:
    """Return y as flags, a row for each of the n rows and a column a label."""
    if hasattr(y, "shape") and len(y.shape) == 2:
        flags: Flags = _matrix(y).astype(bool)
        if flags.shape != (n, len(names.classes)):
            raise ValueError(
                f"y has shape {flags.shape}: {n} rows and {len(names.classes)} labels are expected"
            )
        return flags
    rows = list(y)
    if len(rows) != n:
        raise ValueError(f"X has {n} rows and y has {len(rows)} sets of labels: pass one for each")
    return np.array([_flags(labels, names) for labels in rows], bool)


def _flags(labels: Any, names: Labels) -> Flags:
    """Return the labels of one row as flags; they come as flags already, or as a set."""
    known = listed(names.classes)
    if not isinstance(labels, SETS):
        flags = np.asarray(labels)
        if flags.shape != (len(known),) or not np.isin(flags, (0, 1)).all():
            raise ValueError(
                f"the labels of a row are a list of them, or {len(known)} flags; got {labels!r}"
            )
        return flags.astype(bool)
    for label in labels:
        if plain(label) not in known:
            raise ValueError(
                f"unknown label {label!r}: the labels are {some(names.classes)}; name all of them "
                "with classes= at the first call"
            )
    return np.isin(np.arange(len(known)), [known.index(plain(label)) for label in labels])


def _matrix(y: Any) -> NDArray[Any]:
    return np.asarray(y.toarray() if hasattr(y, "toarray") else y)


def _is_indicator(y: Any) -> bool:
    matrix = _matrix(y)
    return matrix.dtype.kind in "biuf" and bool(np.isin(matrix, (0, 1)).all())
