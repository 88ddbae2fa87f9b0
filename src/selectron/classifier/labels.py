"""The user's classes, of any type, and the numbers that the rules know."""

from collections.abc import Hashable, Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Codes, Vector
from selectron.classifier.label_arrays import (
    as_array,
    check_single,
    distinct,
    found_classes,
    listed,
    plain,
    some,
)
from selectron.loop import UNKNOWN


class Labels:
    """Of two classes the first is -1, the second +1; of more, each has its number from 0 on.

    Given or found in an array of labels, they are sorted; met one by one, they keep the order in
    which they came, and a new one joins. They are told apart as Python's dictionaries do: 1 and "1"
    are two classes; 1, 1.0 and True are one. None, NaN and fractions are no labels.
    """

    def __init__(self, classes: Iterable[Any] | None = None) -> None:
        self.fixed = classes is not None
        self.most: int | None = None
        self.classes = np.array([]) if classes is None else distinct(classes)
        if self.fixed and len(self.classes) == 0:
            raise ValueError("classes is empty: name them")

    @classmethod
    def found_in(cls, y: NDArray[Any]) -> Self:
        """Take the classes of an array of labels, and no others later."""
        labels = cls()
        labels.fixed, labels.classes = True, found_classes(y)
        return labels

    @property
    def classes(self) -> NDArray[Any]:
        return self._classes

    @classes.setter
    def classes(self, classes: NDArray[Any]) -> None:
        self._classes = classes
        names = tuple(classes)
        self.many = len(names) > 2
        # For one row at a time: the names by side of the margin or by number, the codes by name.
        self.names_by_side = names if self.many or not names else (names[0], names[-1])
        codes = [float(k) for k in range(len(names))] if self.many else [-1.0, 1.0]
        self._see_whether_open()
        self.codes_by_name: dict[Any, float] = dict(zip(listed(classes), codes, strict=False))

    @property
    def remedy(self) -> str:
        """What to say of a label that is none of the classes."""
        known = f"the classes are {some(self.classes)}"
        if self.most:
            return f"{known}, those seen first; more than two are not supported"
        return f"{known}; name all in classes=, or begin with partial_fit and let them join"

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

    def knows(self, label: Any) -> bool:
        return isinstance(label, Hashable) and plain(label) in self.codes_by_name

    def code(self, label: Any) -> float:
        """Return the number of one label; a new class joins unless the classes are fixed."""
        label = plain(label)
        check_single(label)
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
            raise ValueError(f"unknown label {label!r}: {self.remedy}")
        self.classes = as_array([*listed(self.classes), label])
        return self.codes_by_name[label]

    def names(self, sides: Vector) -> NDArray[Any]:
        """Return the class of every side: of two the second if it is positive, else that number."""
        if not len(self.classes):
            return np.full(len(sides), None)
        if self.many:
            return self.classes[sides.astype(np.intp)]
        last = len(self.classes) - 1
        return self.classes[np.where(sides > 0.0, last, 0)]
