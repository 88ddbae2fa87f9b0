"""Count the multiplications and divisions that numpy and plain Python do for a learner."""

from collections.abc import Callable
from typing import Any

import numpy as np

from selectron.arrays import Array

PRODUCTS = (np.multiply, np.divide)


class Counter:
    """How many multiplications and divisions were done so far."""

    def __init__(self) -> None:
        self.n = 0


class CountedArray(np.ndarray):
    """An array whose products are counted, and those of all arrays that are computed from it.

    A number that is read from it is a `CountedFloat`, so loops over entries are counted as well.
    """

    counter: Counter

    def __array_finalize__(self, origin: object) -> None:
        self.counter = getattr(origin, "counter", None) or Counter()

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **named: Any) -> object:
        found = getattr(ufunc, method)(*map(plain, inputs), **plain_values(named))
        if method == "__call__" and ufunc in PRODUCTS:
            self.counter.n += np.size(found)
        elif ufunc is np.matmul:
            self.counter.n += np.size(found) * inputs[0].shape[-1]
        return self.like(found)

    def __array_function__(
        self, function: Callable[..., object], types: object, args: Any, named: Any
    ) -> object:
        found = function(*map(plain, args), **plain_values(named))
        if function is np.einsum:
            self.counter.n += max(np.size(arg) for arg in args[1:])  # one index is summed over
        elif function is np.linalg.norm:
            self.counter.n += np.size(args[0])
        return self.like(found)

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return found if isinstance(found, np.ndarray) else CountedFloat(found).of(self.counter)

    def like(self, found: Any) -> object:
        """Return an array of floats that counts where this one does; other results as they are."""
        floats = isinstance(found, np.ndarray) and found.dtype == np.float64
        return counted(found, self.counter) if floats else found


class CountedFloat(float):
    """A number whose products are counted, also where the other factor is one of numpy's."""

    counter: Counter
    __array_ufunc__ = None  # else np.float64 * this would be numpy's own product, not counted

    def of(self, counter: Counter) -> "CountedFloat":
        self.counter = counter
        return self

    def __mul__(self, other: Any) -> Any:
        self.counter.n += 1
        return float(self) * other

    __rmul__ = __mul__


def counted(array: Array, counter: Counter) -> Any:
    """Return a view of an array whose products are counted."""
    view = array.view(CountedArray)
    view.counter = counter
    return view


def plain(value: Any) -> Any:
    """Return the array, or the arrays of a tuple or list, without their counter."""
    if isinstance(value, tuple | list):
        return type(value)(map(plain, value))
    return value.view(np.ndarray) if isinstance(value, CountedArray) else value


def plain_values(named: dict[str, object]) -> dict[str, object]:
    return {name: plain(value) for name, value in named.items()}
