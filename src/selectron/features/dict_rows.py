"""Dictionaries as rows: every key gets a column of its own, in the order in which keys come.

A row of the same keys as the row before costs least. Once more keys have come than a dense row
should have, rows are sparse, and the place of a key is its hash.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import itemgetter
from struct import Struct, error
from typing import Any, TypeAlias

import numpy as np

from selectron.arrays import Label, Table
from selectron.features.columns import hash_of

DictRow: TypeAlias = Mapping[Any, Any]  # a row by its keys: numbers, texts or None
WIDEST = 512  # columns of a dense row; with more keys than that, rows are sparse
PLACES = 1 << 18  # of sparse rows
SPARE, SHARE = 4, 8  # columns for keys that come later: so many at least, or one for every 8 keys
NOT_NUMBERS = KeyError, TypeError, error  # a key without a column, or a value that is no number


class Crowded(Exception):
    """There is no column for a key of the row."""


class DictRows:
    """Make a row of each dictionary.

    The value of a key is a number, or a text: then the pair has a column, which is 1. None is as
    good as no key, and the column of a key that is missing is 0.

    Parameters
    ----------
    width : int
        Columns of a dense row.
    sparse : bool
        Whether rows are sparse, of 2¹⁸ places.
    """

    def __init__(self, width: int = SPARE, *, sparse: bool = False) -> None:
        self.width, self.sparse = width, sparse
        self.columns: dict[Label, int] = {}
        self.settled = False  # True: keys that come later share the last columns
        self._begin()

    def widened(self, x: DictRow) -> "DictRows":
        """Return rows with a column for each key of x, and of the rows before."""
        n = len(self.columns.keys() | _cells(x).keys())
        if n > WIDEST:
            return DictRows(PLACES, sparse=True)
        return DictRows(n + max(SPARE, n // SHARE))

    def _begin(self) -> None:
        dense = np.zeros(0 if self.sparse else self.width)
        self._row: Table = None if self.sparse else dense
        self._cells = dense.data
        self._n = -1  # keys of the row before, if they have the first columns
        self._get: Callable[[DictRow], tuple[object, ...]] = itemgetter(0)
        self._pack: Callable[..., None] = Struct("").pack_into
        self._values: tuple[object, ...] = ()  # that lie in the row
        self.key = b""  # of the row: equal rows have equal keys

    def __getstate__(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in ("width", "sparse", "columns", "settled")}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._begin()

    def row(self, x: DictRow) -> Table:
        """Return the row of x, which holds until the next call; raise `Crowded` without room."""
        if x.__class__ is dict and len(x) == self._n:  # a Counter has a value for any key
            try:
                values = self._get(x)
                if values != self._values:
                    self._values = ()
                    self._pack(self._row, 0, *values)
                    self._values = values
                    self.key = self._row.tobytes()
                return self._row
            except NOT_NUMBERS:
                pass
        if self.sparse:
            row = self._sparse_row(x)
            self.key = row.indices.tobytes() + row.data.tobytes()
        else:
            row = self._dense_row(x)
            self.key = row.tobytes()
        return row

    def _dense_row(self, x: DictRow) -> Table:
        row, cells, columns = self._row, self._cells, self.columns
        self._n, self._values = -1, ()
        row.fill(0.0)
        try:
            for key, value in x.items():
                cells[columns[key]] = value  # an array would make 3.0 of "3", and NaN of None
        except NOT_NUMBERS:
            self._fill(_cells(x))
            return row
        self._remember_keys(x)
        return row

    def _fill(self, cells: dict[Label, float]) -> None:
        """Fill the row; a key that is new gets a column."""
        row, columns = self._row, self.columns
        new = sorted((key for key in cells if key not in columns), key=str)
        if len(columns) + len(new) > self.width and not self.settled:
            raise Crowded
        for key in new[: self.width - len(columns)]:
            columns[key] = len(columns)
        row.fill(0.0)
        for key, value in cells.items():
            column = columns.get(key)
            if column is None:
                column = self.width - 1 - hash_of(str(key)) % SPARE
            row[column] += value

    def _remember_keys(self, x: DictRow) -> None:
        """Take the short way with the next row, if it has these keys in the first columns."""
        places = sorted(x, key=self.columns.__getitem__)
        if len(x) > 1 and self.columns[places[-1]] == len(x) - 1:
            self._n, self._get = len(x), itemgetter(*places)
            self._pack = Struct(f"{len(x)}d").pack_into

    def _sparse_row(self, x: DictRow) -> Table:
        found: dict[int, float] = {}
        for key, value in _cells(x).items():
            place = _place(key, self.width)
            found[place] = found.get(place, 0.0) + value
        places = sorted(found)
        if self._row is None:
            from scipy.sparse import csr_array  # noqa: PLC0415 - costs a tenth of a second

            self._row = csr_array((1, self.width))
            self._row.has_canonical_format = True
        row = self._row
        row.data = np.array([found[place] for place in places])
        row.indices = np.array(places, np.int32)
        row.indptr = np.array([0, len(places)], np.int32)
        return row


def _cells(x: DictRow) -> dict[Label, float]:
    """Return numbers by key; a text is a key of its own, and None no key at all."""
    cells: dict[Label, float] = {}
    for key, value in x.items():
        if isinstance(value, str):
            cells[f"{key}={value}"] = 1.0
        elif value is not None:
            try:
                cells[key] = float(value)
            except (TypeError, ValueError):
                raise ValueError(
                    f"{key!r} has the value {value!r:.40}: a number, a text or None is wanted"
                ) from None
    return cells


@lru_cache(1 << 16)
def _place(key: Label, places: int) -> int:
    return hash_of(str(key)) % places
