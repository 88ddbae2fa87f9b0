"""Memory that every block writes anew, kept from one block to the next."""

from typing import Any

import numpy as np

from selectron.kernels.tiles import sheaf_rows


def no_sheaves(dtype: Any) -> Any:
    """Return room for none."""
    return np.empty((0, 0, sheaf_rows(dtype)), dtype)


class Scratch:
    """Room for the kernel values of a block, and for its rows bound in sheaves."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        self._values = np.empty(0)
        self._bound = np.empty(0, dtype)

    def sheaves(self, n: int, d: int) -> Any:
        """Return room for n rows; none for so few that they are faster one by one."""
        many = sheaf_rows(self.dtype)
        groups = -(-n // many) if n >= many else 0
        if self._bound.size < groups * d * many:
            self._bound = np.empty(groups * d * many, self.dtype)
        return self._bound[: groups * d * many].reshape(groups, d, many)

    def values(self, n: int, width: int) -> Any:
        """Return room for as many kernel values for each of n rows, and for a last sheaf's."""
        places = n + sheaf_rows(self.dtype)
        if self._values.size < places * width:
            self._values = np.empty(places * width)
        return self._values[: places * width].reshape(places, width)
