"""Items as rows: the kind of the first item decides how all of them are read."""

from collections.abc import Sequence
from enum import Enum
from pathlib import Path

from selectron.arrays import Matrix, Table
from selectron.features.columns import Image, Vector, Words
from selectron.features.recipe import Recipe, Record, grey_pixels, picture_of

PLACES = 1 << 18  # of a text at hand


class Kind(Enum):
    """What an item shows."""

    TEXT = "text"
    IMAGE = "image"
    FIELDS = "fields"
    VECTOR = "vector"


KINDS = {kind.value: kind for kind in Kind}


def kind_of(item: Record) -> Kind:
    """Return what an item shows.

    >>> kind_of({"id": "1", "text": "hello"})
    <Kind.TEXT: 'text'>
    """
    found = [kind for name, kind in KINDS.items() if name in item]
    if len(found) != 1:
        raise ValueError(
            f"item {item.get('id')!r} has {len(found)} of text, image, fields and vector: give one"
        )
    return found[0]


class Features:
    """Rows of items of one kind.

    Parameters
    ----------
    first : list of dict
        The first items. They decide the kind, and of records the recipe.
    images : path, optional
        The folder of the pictures that items name.

    Examples
    --------
    >>> features = Features([{"id": "1", "text": "a good day"}])
    >>> features.rows([{"id": "2", "text": "good, good night"}]).data.tolist()
    [2.0, 1.0]
    """

    def __init__(self, first: Sequence[Record], images: Path | None = None) -> None:
        self.kind = kind_of(first[0])
        self.images = images
        if self.kind is Kind.FIELDS:
            self.recipe = Recipe.choose([self._record(item) for item in first])
        elif self.kind is Kind.TEXT:
            self.recipe = Recipe((Words("text"),), places=PLACES)
        elif self.kind is Kind.IMAGE:
            self.recipe = Recipe((Image("image"),))
        else:
            self.recipe = Recipe((Vector("vector", len(first[0]["vector"])),))

    def rows(self, items: Sequence[Record]) -> Table:
        """Return a row for each item: sparse ones of words, others dense."""
        return self.recipe.rows([self._record(item) for item in items], self.images)

    def _record(self, item: Record) -> Record:
        kind = kind_of(item)
        if kind is not self.kind:
            raise ValueError(
                f"item {item.get('id')!r} is {kind.value}, and the first ones are "
                f"{self.kind.value}: label each kind in a store of its own"
            )
        record: Record = item["fields"] if kind is Kind.FIELDS else item
        return record

    def picture(self, item: Record) -> Matrix:
        """Return the picture of an item in grey, or refuse it."""
        try:
            return grey_pixels(picture_of(item["image"], self.images))
        except ValueError as error:
            raise ValueError(f"item {item.get('id')!r}: {error}") from None
