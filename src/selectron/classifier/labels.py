"""The user's classes, of any type, and the numbers that the rules know."""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selectron.loop import UNKNOWN
from selectron.numeric.arrays import Codes, Vector

EXACT = 2.0**53  # up to here every whole number is a float of its own


class Labels:
    """Of two classes the first is -1, the second +1; of more, each has its number from 0 on.

    Given or found in an array of labels, they are sorted; met one by one, they keep the order in
    which they came, and a new one joins. They are told apart as Python's dictionaries do: 1 and "1"
    are two classes; 1, 1.0 and True are one. None, NaN and fractions are no labels.
    """

    def __init__(self, classes: Iterable[Any] | None = None) -> None:
        self.fixed = classes is not None
        self.most: int | None = None
        self.classes = np.array([]) if classes is None else _distinct(classes)
        if self.fixed and len(self.classes) == 0:
            raise ValueError("classes is empty: name them")

    @property
    def classes(self) -> NDArray[Any]:
        return self._classes

    @classes.setter
    def classes(self, classes: NDArray[Any]) -> None:
        self._classes = classes
        listed = list(classes)
        self.many = len(listed) > 2
        # For one row at a time: the names by side of the margin or by number, the codes by name.
        self.names_by_side = tuple(listed) if self.many or not listed else (listed[0], listed[-1])
        codes = [float(k) for k in range(len(listed))] if self.many else [-1.0, 1.0]
        self._see_whether_open()
        self.codes_by_name: dict[Any, float] = dict(zip(classes.tolist(), codes, strict=False))

    def _see_whether_open(self) -> None:
        """Classes may join unless they are fixed; beside True and False there is nothing."""
        both = self._classes.dtype == bool and len(self._classes) == 2
        self.open = not (self.fixed or self.most or both)

    def copy(self) -> "Labels":
        twin = Labels()
        twin.fixed, twin.most, twin.classes = self.fixed, self.most, self.classes
        return twin

    @property
    def complete(self) -> bool:
        return len(self.classes) >= 2 or (self.fixed and len(self.classes) == 1)

    def only_two(self) -> "Labels":
        """Refuse more than two classes, now and later: for learners that know no more."""
        if self.many:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"{len(self.classes)} classes, {some(self.classes)}"
            )
        self.most = 2
        self._see_whether_open()
        return self

    def codes(self, y: NDArray[Any]) -> Codes:
        """Return the number of every label as the loop knows it, or that of an unknown one."""
        if y.dtype == bool and self.classes.tolist() == [False, True]:
            doubled: Codes = y.view(np.int8) << 1
            return doubled - np.int8(1)
        if self.many:
            numbers = np.full(len(y), UNKNOWN, np.int32)
            for k, label in enumerate(self.classes):
                numbers[np.asarray(y == label, dtype=bool)] = k
            return numbers
        signs = np.zeros(len(y), np.int8)
        for step, label in zip((np.subtract, np.add), self.classes, strict=False):
            step(signs, np.asarray(y == label, dtype=bool).view(np.int8), out=signs)
        signs[signs == 0] = UNKNOWN
        return signs

    def knows(self, label: Any) -> bool:
        return isinstance(label, Hashable) and plain(label) in self.codes_by_name

    def code(self, label: Any) -> float:
        """Return the number of one label; a new class joins unless the classes are fixed."""
        label = plain(label)
        _check_single(label)
        code = self.codes_by_name.get(label)
        if code is not None:
            return code
        if label is None or label != label:
            raise ValueError(f"a label is needed here, got {label!r}")
        if isinstance(label, float) and not label.is_integer():
            raise ValueError(
                f"Unknown label type: continuous. Labels must be classes, got {label!r}"
            )
        if not self.open and (self.most is None or len(self.classes) == self.most):
            raise ValueError(
                f"unknown label {label!r}: the classes are {some(self.classes)}"
                + (", those seen first; more than two are not supported" if self.most else "")
            )
        self.classes = _as_array([*self.classes.tolist(), label])
        return self.codes_by_name[label]

    def names(self, sides: Vector) -> NDArray[Any]:
        """Return the class of every side: of two the second if it is positive, else that number."""
        if not len(self.classes):
            return np.full(len(sides), None)
        if self.many:
            return self.classes[sides.astype(np.intp)]
        last = len(self.classes) - 1
        return self.classes[np.where(sides > 0.0, last, 0)]


def read_labels(y: Any, n: int) -> NDArray[Any]:
    """Return y as a plain column of n labels."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    column = np.asarray(y)
    if column.dtype.kind in "USf" and not hasattr(y, "dtype") and column.ndim == 1:
        column = _as_array(list(y), column)  # 1 beside "a" would have become "1"
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
    if y.dtype == bool and y.any() and not y.all():
        return np.array([False, True])
    if y.dtype.kind in "biu" and len(y):  # without sorting, as long as there are two
        low, high = y.min(), y.max()
        if ((y == low) | (y == high)).all():
            return np.unique([low, high])
    if y.dtype.kind == "f" and not (np.isfinite(y).all() and (y == np.round(y)).all()):
        if not np.isfinite(y).all():
            raise ValueError("Input y contains NaN or infinity: every label must be a class")
        raise ValueError("Unknown label type: continuous. Labels must be classes, not numbers")
    if y.dtype.kind == "O" and any(label is None or label != label for label in y):
        raise ValueError("Input y contains NaN or None: every label must be a class")
    return _sorted(y)


def _distinct(classes: Iterable[Any]) -> NDArray[Any]:
    listed = classes if isinstance(classes, np.ndarray) else _as_array(list(classes))
    if any(label is None or label != label for label in listed.tolist()):
        raise ValueError(f"classes={listed.tolist()!r} has None or NaN in it: name classes only")
    found = _sorted(listed)
    if len(found) < len(listed):
        raise ValueError(f"classes={listed.tolist()!r} names a class twice: name each once")
    return found


def _sorted(labels: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct labels: sorted, or in their order where they cannot be compared."""
    try:
        return np.unique(labels)
    except TypeError:
        listed = labels.tolist()
        for label in listed:
            _check_single(label)
        return _as_array(list(dict.fromkeys(listed)))


def _as_array(labels: list[Any], array: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return labels as an array, by default numpy's, in which those that differ still do."""
    array = np.array(labels) if array is None else array
    if array.ndim == 1 and array.dtype.kind == "f" and _rounded(labels, array):
        return _exact(labels)
    if array.ndim != 1 or (
        array.dtype.kind in "US" and not all(isinstance(x, str) for x in labels)
    ):
        array = np.empty(len(labels), object)
        array[:] = labels
    return array


def _rounded(labels: list[Any], array: NDArray[Any]) -> bool:
    """Tell whether numpy, which makes floats of 2**63 beside 1, has changed whole numbers."""
    large = np.flatnonzero(np.abs(array) >= EXACT)
    whole = any(isinstance(labels[t], int | np.integer) for t in large)
    return whole and bool((array == np.round(array)).all() and np.isfinite(array).all())


def _exact(labels: list[Any]) -> NDArray[Any]:
    """Return whole numbers as they are: unsigned ones of 64 bits, or Python's own."""
    listed = [plain(label) for label in labels]
    if all(isinstance(label, int) and 0 <= label < 2**64 for label in listed):
        return np.array(listed, np.uint64)
    array = np.empty(len(listed), object)
    array[:] = listed
    return array


def _check_single(label: Any) -> None:
    if not isinstance(label, Hashable):
        raise ValueError(f"a label must be a single value such as text or a number: {label!r}")


def plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def some(classes: NDArray[Any]) -> str:
    shown = ", ".join(repr(plain(label)) for label in classes[:4])
    return shown + (", ..." if len(classes) > 4 else "")
