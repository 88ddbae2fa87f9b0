"""The user's labels, of any type, and the numbers that the rules know.

Arrays of labels, and lists of several labels a row, are read without changing one label into
another on the way.
"""

from collections.abc import Hashable, Iterable
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Array, Codes, Given, Label, Vector
from selectron.loop import UNKNOWN

Flags = NDArray[np.bool_]
SETS = (list, tuple, set, frozenset)
NO_CLASSES = np.array([])
TIMES = "mM"  # numpy's kinds of moments and of spans between them
UNLABELLED = (
    "every label must be a class; where labels are not known yet, pass an oracle instead, "
    "fit(X, oracle, classes=...), which is called with the positions of the rows asked"
)
EXACT = 2.0**53  # up to here every whole number is a float of its own


class Labels:
    """The classes and their numbers: of two, -1 and +1; of more, each has its number from 0 on.

    Classes that are given or found in an array are sorted. Classes that come one by one keep the
    order in which they came. Classes are told apart as Python's dictionaries do: 1 and "1" are two;
    1, 1.0 and True are one. None, NaN and fractions are no labels. Labels never change: `joined`
    returns new ones, so that a prediction in another thread keeps those it began with.
    """

    def __init__(
        self,
        classes: Array = NO_CLASSES,
        *,
        fixed: bool = False,
        most: int | None = None,
        found: bool = False,
    ) -> None:
        self.classes = classes
        self.fixed = fixed
        self.found = found  # in an array, and named by nobody
        self.most = most
        names = tuple(classes)
        self.many = len(names) > 2
        # For one row at a time: the names by side of the margin or by number, the codes by name.
        self.names_by_side = names if self.many or not names else (names[0], names[-1])
        codes = [float(k) for k in range(len(names))] if self.many else [-1.0, 1.0]
        self.codes_by_name: dict[Label, float] = dict(zip(listed(classes), codes, strict=False))
        both = classes.dtype == bool and len(classes) == 2  # beside True and False there is nothing
        self.open = not (fixed or most or both)
        self.complete = len(names) >= 2 or (fixed and len(names) == 1)

    @classmethod
    def named(cls, classes: Iterable[Label] | None) -> "Labels":
        """Take the classes that the user names, and no others later; all that come if None."""
        if classes is None:
            return cls()
        given = distinct(classes)
        if len(given) == 0:
            raise ValueError("classes is empty: name them")
        return cls(given, fixed=True)

    @classmethod
    def found_in(cls, y: Array) -> "Labels":
        """Take the classes of an array of labels, and no others later."""
        return cls(found_classes(y), fixed=True, found=True)

    @property
    def remedy(self) -> str:
        """What to say of a label that is none of the classes."""
        known = f"the classes are {some(self.classes)}"
        if self.most:
            return f"{known}, those seen first; more than two are not supported"
        return f"{known}; name all in classes=, or begin with partial_fit and let them join"

    def only_two(self) -> "Labels":
        """Return labels that refuse more than two classes: for learners that know no more."""
        if self.many:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"{len(self.classes)} classes, {some(self.classes)}"
            )
        return Labels(self.classes, fixed=self.fixed, most=2)

    def codes(self, y: Array) -> Codes:
        """Return the number of every label as the loop knows it, or that of an unknown one."""
        if y.dtype == bool and self.classes.tolist() == [False, True]:
            ones = y.view(np.int8)
            signs: Codes = ones - np.int8(1)
            signs += ones  # numpy adds many at a time, and shifts or chooses one by one
            return signs
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

    def knows(self, label: Label) -> bool:
        return isinstance(label, Hashable) and plain(label) in self.codes_by_name

    def code(self, label: Label) -> float:
        """Return the number of a class that is known."""
        return self.codes_by_name[plain(label)]

    def joined(self, label: Label) -> "Labels":
        """Return the labels with this one's class among them, or refuse it."""
        label = plain(label)
        check_single(label)
        if label in self.codes_by_name:
            return self
        if label is None or label != label:
            raise ValueError(f"a label is needed here, got {label!r}")
        if isinstance(label, float) and not label.is_integer():
            raise ValueError(
                f"Unknown label type: continuous. Labels must be classes, got {label!r}"
            )
        if not self.open and (self.most is None or len(self.classes) == self.most):
            raise ValueError(f"unknown label {label!r}: {self.remedy}")
        classes = as_array([*listed(self.classes), label])
        return Labels(classes, fixed=self.fixed, most=self.most)

    def names(self, sides: Vector) -> Array:
        """Return the class of every side: of two the second if it is positive, else that number."""
        if not len(self.classes):
            return np.full(len(sides), None)
        if self.many:
            return self.classes[sides.astype(np.intp)]
        last = len(self.classes) - 1
        return self.classes[np.where(sides > 0.0, last, 0)]


def read_labels(y: Given, n: int) -> Array:
    """Return y as a plain column of n labels."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    if type(y) is not np.ndarray and np.ma.is_masked(y):
        raise ValueError("y has masked labels: pass one for every row, or an oracle to ask")
    column = np.asarray(y)
    if column.dtype.kind in "USf" and not hasattr(y, "dtype") and column.ndim == 1:
        column = as_array(list(y), column)  # 1 beside "a" would have become "1"
    if column.ndim == 2 and column.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning  # noqa: PLC0415

        warn("A column-vector y was passed when a 1d array was expected", DataConversionWarning, 2)
        column = column.ravel()
    if column.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {column.shape} instead.")
    if len(column) != n:
        raise ValueError(f"X has {n} rows and y has {len(column)} labels: pass one for every row")
    return column


def found_classes(y: Array) -> Array:
    """Return the sorted classes of an array of labels."""
    if y.dtype == bool and 0 < np.count_nonzero(y) < len(y):
        return np.array([False, True])
    if y.dtype.kind in "biu" and len(y):  # without sorting, as long as there are two
        low, high = y.min(), y.max()
        if ((y == low) | (y == high)).all():
            return np.unique([low, high])
    if y.dtype.kind == "f" and not (np.isfinite(y).all() and (y == np.round(y)).all()):
        if not np.isfinite(y).all():
            raise ValueError(f"Input y contains NaN or infinity: {UNLABELLED}")
        raise ValueError("Unknown label type: continuous. Labels must be classes, not numbers")
    if y.dtype.kind in "OmM" and any(label is None or label != label for label in y):
        raise ValueError(f"Input y contains NaN or None: {UNLABELLED}")
    for label in y if y.dtype.kind == "O" else ():
        check_single(label)
    found = _sorted(y)
    _warn_of_unlabelled(found)
    return found


def _warn_of_unlabelled(found: Array) -> None:
    """Ask about -1 beside 0 and more: elsewhere it marks rows without a label."""
    if found.dtype.kind in "if" and len(found) > 2 and found[0] == -1 and found[1] == 0:
        warn(
            f"y has the classes {some(found)}: -1 is taken for a class like the others; where it "
            "marks rows without a label, pass an oracle instead of y",
            stacklevel=5,
        )


def distinct(classes: Iterable[Label]) -> Array:
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


def _sorted(labels: Array) -> Array:
    """Return the distinct labels: sorted, or in their order where they cannot be compared."""
    try:
        return np.unique(labels)
    except TypeError:
        return as_array(list(dict.fromkeys(labels.tolist())))


def as_array(labels: list[Label], array: Array | None = None) -> Array:
    """Return labels as an array, by default numpy's, in which those that differ still do."""
    array = np.array(labels) if array is None else array
    if array.ndim == 1 and array.dtype.kind == "f" and _rounded(labels, array):
        return _exact(labels)
    if array.ndim != 1 or (
        array.dtype.kind in "US" and not all(isinstance(x, str) for x in labels)
    ):
        return _objects(labels)
    return array


def _rounded(labels: list[Label], array: Array) -> bool:
    """Tell whether numpy, which makes floats of 2**63 beside 1, has changed whole numbers."""
    large = np.flatnonzero(np.abs(array) >= EXACT)
    whole = any(isinstance(labels[t], int | np.integer) for t in large)
    return whole and bool((array == np.round(array)).all() and np.isfinite(array).all())


def _exact(labels: list[Label]) -> Array:
    """Return whole numbers as they are: unsigned ones of 64 bits, or Python's own."""
    own = [plain(label) for label in labels]
    if all(isinstance(label, int) and 0 <= label < 2**64 for label in own):
        return np.array(own, np.uint64)
    return _objects(own)


def _objects(labels: list[Label]) -> Array:
    array = np.empty(len(labels), object)
    for k, label in enumerate(labels):
        array[k] = label
    return array


def check_single(label: Label) -> None:
    if isinstance(label, tuple) or not isinstance(label, Hashable):
        raise ValueError(f"a label must be a single value such as text or a number: {label!r}")


def plain(label: Label) -> Label:
    """Return a label as Python's own value; a moment in time would become a number by that."""
    if isinstance(label, np.generic) and label.dtype.kind not in TIMES:
        own: Label = label.item()
        return own
    return label


def listed(classes: Array) -> list[Label]:
    return list(classes) if classes.dtype.kind in TIMES else classes.tolist()


def some(classes: Array) -> str:
    shown = ", ".join(repr(plain(label)) for label in classes[:4])
    return shown + (", ..." if len(classes) > 4 else "")


def several_a_row(y: Given) -> bool:
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


def names_of(y: Given, classes: Iterable[Label] | None) -> Labels:
    """Return the labels that there are: those given, columns, or those found."""
    if classes is not None:
        return Labels.named(classes)
    if hasattr(y, "shape") and len(y.shape) == 2:
        return Labels.named(getattr(y, "columns", range(y.shape[1])))
    found: set[Given] = {plain(label) for labels in y for label in labels}
    return Labels.named(sorted(found))


def read_sets(y: Given, n: int, names: Labels) -> Flags:
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


def _flags(labels: Given, names: Labels) -> Flags:
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


def _matrix(y: Given) -> Array:
    return np.asarray(y.toarray() if hasattr(y, "toarray") else y)


def _is_indicator(y: Given) -> bool:
    matrix = _matrix(y)
    return matrix.dtype.kind in "biuf" and bool(np.isin(matrix, (0, 1)).all())


def paired(tickets: Given, labels: Given) -> list[tuple[int, Label]]:
    """Return each ticket of a call of `tell` with its label, or say what to pass instead."""
    if isinstance(tickets, tuple) and hasattr(tickets, "tickets"):
        which = "[ask.asked]" if np.ndim(tickets.tickets) else ""
        raise ValueError(
            f"tell got the whole answer of ask, for {np.size(tickets.tickets)} rows: pass its "
            f"tickets, tell(ask.tickets{which}, labels)"
        )
    if np.ndim(tickets) == 0:
        return [(tickets, labels)]
    if np.ndim(tickets) != 1:
        raise ValueError(f"tickets have shape {np.shape(tickets)}: pass a flat list of them")
    if isinstance(labels, str | bytes) or not hasattr(labels, "__len__"):
        raise ValueError(
            f"{len(tickets)} tickets but one label, {labels!r}: pass a list with one for each"
        )
    if len(tickets) != len(labels):
        raise ValueError(f"{len(tickets)} tickets but {len(labels)} labels: pass one for each")
    return list(zip(tickets, labels, strict=True))
