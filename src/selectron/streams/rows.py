"""Rows of a file in batches: its records, the labels they have, and the rows made of them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from selectron.arrays import Label, Table
from selectron.features import Recipe
from selectron.streams.opening import Tick
from selectron.streams.records import Record, images_of, name_of, read_batches

TARGET_NAMES = ("y", "label", "labels", "target", "class")
FOLDER = "folder"  # pictures in folders: the folder is the class
NO_LABEL = ("", None)


class RowBatch(NamedTuple):
    """Some rows in their order; None where a row has no label."""

    X: Table
    labels: list[Label]
    records: list[Record]


class RowMaker(NamedTuple):
    """How rows and labels are made of the records of a file; any process makes the same."""

    recipe: Recipe
    target: str | None  # the column of the labels
    whole: bool  # labels that are texts are whole numbers: 7 of a table is no "7"
    images: Path  # the folder of the pictures that records name

    def label_of(self, record: Record) -> Label:
        """Return the label of a record, None if it has none."""
        if self.target is None:
            return None
        label = record.values.get(self.target)
        if label in NO_LABEL or label != label:
            return None
        if isinstance(label, str):
            return int(label) if self.whole and _is_whole(label) else label
        if isinstance(label, float) and label.is_integer():
            return int(label)
        if not isinstance(label, int | float):
            raise ValueError(f"{record.place}: the label {label!r:.60} is no class")
        return label

    def batch(self, records: list[Record]) -> RowBatch:
        """Return the rows of some records, with their labels."""
        names = [column.name for column in self.recipe.columns]
        for record in records:
            if not any(name in record.values for name in names):
                missing = ", ".join(map(repr, names[:5]))
                raise ValueError(f"{record.place}: it has none of the columns {missing}")
        labels = [self.label_of(record) for record in records]
        return RowBatch(self._rows(records), labels, records)

    def _rows(self, records: list[Record]) -> Table:
        try:
            return self.recipe.rows([record.values for record in records], self.images)
        except ValueError as error:
            if len(records) == 1:
                raise ValueError(f"{records[0].place}: {error}") from None
        for record in records:  # one of them is to blame
            self._rows([record])
        raise AssertionError("every row can be made, and all of them together cannot")


class FileRows:
    r"""The rows of a file, made of its records by a recipe; nothing is held but the batch at hand.

    Parameters
    ----------
    source : str
        What `read_records` reads.
    target : str, optional
        The column of the labels; by default y, label, labels, target or class, else none.
    supervised : bool
        Whether there must be labels: then the last column has them if no other has.
    recipe : Recipe, optional
        How rows are made; chosen from the first thousand records if left out, with `pairs` of words
        as `Recipe.choose` says.
    tick : callable, optional
        Told how many bytes were read since it was told last.

    Examples
    --------
    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile("w+", suffix=".csv") as file:
    ...     print("size,sort,label\n3,new,yes\n5,old,no\n4,new,", file=file, flush=True)
    ...     rows = FileRows(file.name)
    ...     for batch in rows:
    ...         print(batch.X[:, 0].tolist(), batch.labels)
    [3.0, 5.0, 4.0] ['yes', 'no', None]
    """

    def __init__(
        self,
        source: str | Path,
        target: str | None = None,
        recipe: Recipe | None = None,
        *,
        supervised: bool = False,
        pairs: bool = False,
        tick: Tick = int,
    ) -> None:
        self.source, self.name = str(source), name_of(str(source))
        batches = read_batches(self.source, tick)
        first = next(batches, [])
        if not first:
            raise ValueError(f"{self.source}: it holds no rows")
        self.columns = list(dict.fromkeys(name for record in first for name in record.values))
        self.target = self._target(target) or (self.columns[-1] if supervised else None)
        self._batches: Iterable[list[Record]] = chain([first], batches)
        if recipe is None:
            recipe = self._chosen(first, pairs=pairs)
        self.recipe = recipe
        whole, images = self._are_whole(first), images_of(self.source)
        self.maker = RowMaker(recipe, self.target, whole, images)

    def _target(self, wanted: str | None) -> str | None:
        if wanted is not None:
            if wanted not in self.columns:
                there = ", ".join(self.columns)
                raise ValueError(f"{self.source}: there is no column {wanted!r}; it has {there}")
            return wanted
        names = (*TARGET_NAMES, FOLDER) if "image" in self.columns else TARGET_NAMES
        return next((name for name in names if name in self.columns), None)

    def _are_whole(self, first: Sequence[Record]) -> bool:
        """Tell whether labels that are texts are whole numbers: 7 of a table is no "7"."""
        given = [record.values.get(self.target) for record in first if self.target]
        texts = [label for label in given if isinstance(label, str) and label]
        return bool(texts) and all(_is_whole(text) for text in texts)

    def _chosen(self, first: Sequence[Record], *, pairs: bool) -> Recipe:
        leave = [self.target] if self.target else []
        if "image" in self.columns and FOLDER in self.columns:
            leave.append(FOLDER)
        try:
            return Recipe.choose([record.values for record in first], leave, pairs=pairs)
        except ValueError as error:
            raise ValueError(f"{self.source}: {error}") from None

    def __iter__(self) -> Iterator[RowBatch]:
        return map(self.maker.batch, self._batches)


def _is_whole(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isdecimal() and digits.isascii() and (digits == "0" or digits[0] != "0")
