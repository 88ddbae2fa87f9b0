"""How a row is made of a record: decided once from the first records, the same on every machine."""

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from io import BytesIO
from operator import add
from pathlib import Path
from typing import Any

import numpy as np

from selectron.arrays import Matrix, Table
from selectron.extras import extra
from selectron.features.columns import (
    KEY,
    Cells,
    Code,
    Column,
    Image,
    Letters,
    Tokens,
    Words,
    column_of,
    hashed_letters,
    hashed_names,
    hashed_words,
    moved,
    text_of,
)
from selectron.files import Description

Record = Mapping[str, Any]
LOOKED_AT = 1000  # records that decide
PLACES, PLACES_OF_PAIRS = 1 << 16, 1 << 18  # of a wide row: more cost time, and gain nothing
MOST_PLACES = 1 << 24
PIXELS = 28  # a picture becomes so many rows and columns of grey
MOST_PIXELS = 50_000_000  # of a picture that is read: larger ones are refused
WIDEST = 512  # places of a row that is written out
MOST_COLUMNS = 10_000


@dataclass(frozen=True)
class Recipe:
    """How a row is made of a record, column by column.

    Parameters
    ----------
    columns : tuple of Column
        The columns that are read.
    left_out : tuple of (str, str)
        The others, and why.
    places : int
        How many places a wide row has.

    Examples
    --------
    >>> first = [{"age": n % 7, "town": "Ulm" if n % 2 else "Bonn", "id": n} for n in range(30)]
    >>> recipe = Recipe.choose(first)
    >>> print(recipe)
    age   a number
    town  one of few values, hashed into 8 places
    id    left out: it numbers the rows
    >>> recipe.rows([{"town": "Bonn", "age": "4"}]).tolist()
    [[4.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]]
    """

    columns: tuple[Column, ...]
    left_out: tuple[tuple[str, str], ...] = ()
    places: int = PLACES

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        if not 0 < len(set(names)) == len(names) <= MOST_COLUMNS:
            raise ValueError(f"a row is made of 1 to {MOST_COLUMNS:,} columns, each once")
        if not isinstance(self.places, int) or not 1 <= self.places <= MOST_PLACES:
            raise ValueError(f"a wide row has {self.places!r:.40} places")

    @classmethod
    def choose(
        cls, records: Sequence[Record], leave: Sequence[str] = (), *, pairs: bool = False
    ) -> "Recipe":
        """Decide from the first records.

        `leave` names columns that are not read; with `pairs`, texts are read by pairs of words too.
        """
        first = records[:LOOKED_AT]
        names = dict.fromkeys(name for record in first for name in record)
        found = {
            name: column_of(name, [record.get(name) for record in first])
            for name in names
            if name not in leave
        }
        if not any(isinstance(column, Column) for column in found.values()):
            found |= {name: Letters(name) for name, why in found.items() if why == KEY}
        columns = tuple(column for column in found.values() if isinstance(column, Column))
        left_out = tuple((name, why) for name, why in found.items() if isinstance(why, str))
        if not columns:
            said = "; ".join(f"{name!r}: {why}" for name, why in left_out) or "there are none"
            raise ValueError(f"no column says anything about a row: {said}")
        if pairs:
            columns = tuple(replace(c, pairs=True) if isinstance(c, Words) else c for c in columns)
        return cls(columns, left_out, PLACES_OF_PAIRS if pairs else PLACES)

    @cached_property
    def is_wide(self) -> bool:
        """Whether rows are sparse, their places found by hashes."""
        unbounded = any(column.makes_wide for column in self.columns)
        codes = sum(column.width for column in self.columns if isinstance(column, Code))
        return unbounded or codes > WIDEST

    @property
    def width(self) -> int:
        """How many places a row has."""
        return self.places if self.is_wide else sum(column.width for column in self.columns)

    def rows(self, records: Sequence[Record | str], images: Path | None = None) -> Table:
        """Make a row of each record; `images` is the folder of the pictures that records name.

        A text alone stands for a record of which it is the only column.
        """
        taken = [self._record(record) for record in records]
        values: dict[str, Cells] = {
            column.name: [record.get(column.name) for record in taken] for column in self.columns
        }
        if self.is_wide:
            return self._wide(values, images)
        parts = [self._dense(column, values[column.name], images) for column in self.columns]
        return parts[0] if len(parts) == 1 else np.hstack(parts)

    def _record(self, record: Record | str) -> Record:
        if not isinstance(record, str):
            return record
        if len(self.columns) != 1:
            names = ", ".join(repr(column.name) for column in self.columns)
            raise ValueError(f"a row is made of {names}: pass records that have them, not texts")
        return {self.columns[0].name: record}

    def _dense(self, column: Column, values: Cells, images: Path | None) -> Matrix:
        if isinstance(column, Image):
            return np.array([_grey(value, column.side, images) for value in values])
        return column.dense(values)

    def _wide(self, values: dict[str, Cells], images: Path | None) -> Table:
        parts: list[Table] = []
        named: list[Iterable[Tokens]] = []
        for column in self.columns:
            found = values[column.name]
            if isinstance(column, Words | Letters):
                texts = [text_of(value) for value in found]
                hashed = (
                    hashed_words(texts, self.places, pairs=column.pairs)
                    if isinstance(column, Words)
                    else hashed_letters(texts, self.places)
                )
                parts.append(moved(hashed, column.name) if parts else hashed)
            elif isinstance(column, Image):
                grey = self._dense(column, found, images)
                named.append(
                    [
                        [(f"{column.name}^{k}", x) for k, x in enumerate(row)]
                        for row in grey.tolist()
                    ]
                )
            else:
                named.append(column.tokens(found))
        if named:
            joined = ([pair for pairs in row for pair in pairs] for row in zip(*named, strict=True))
            parts.append(hashed_names(joined, self.places))
        whole: Table = reduce(add, parts)
        return whole.tocsr()

    def __str__(self) -> str:
        lines = {column.name: column.says() for column in self.columns}
        lines |= {name: f"left out: {why}" for name, why in self.left_out}
        size = max(map(len, lines))
        return "\n".join(f"{name.ljust(size)}  {said}" for name, said in lines.items())

    def describe(self) -> Description:
        """Return all by name, ready for JSON."""
        columns = [column.describe() for column in self.columns]
        left_out = [list(pair) for pair in self.left_out]
        return {"columns": columns, "left_out": left_out, "places": self.places}

    @classmethod
    def described(cls, given: Description) -> "Recipe":
        """Make a recipe of what `describe` has returned, or refuse it."""
        left_out = tuple((str(name), str(why)) for name, why in given["left_out"])
        return cls(tuple(_column(each) for each in given["columns"]), left_out, given["places"])


def _column(given: Description) -> Column:
    knobs = {name: value for name, value in given.items() if name != "kind"}
    if not isinstance(knobs.get("name"), str):
        raise ValueError(f"a column is called {knobs.get('name')!r:.40}")
    if "edges" in knobs:
        knobs["edges"] = tuple(knobs["edges"])
    return Column.KINDS[given["kind"]](**knobs)


def _grey(value: object, side: int, images: Path | None) -> Matrix:
    """Return a picture in grey; one that is missing or cannot be read is blank."""
    try:
        return grey_pixels(picture_of(value, images), side)
    except (ValueError, OSError):
        return np.zeros(side * side)


# --- pictures as shades of grey


def picture_of(value: object, folder: Path | None) -> bytes:
    """Return a picture: bytes, a data: address, or the name of a file in the folder."""
    if isinstance(value, dict):
        value = value.get("bytes") or value.get("path")
    if isinstance(value, bytes):
        return value
    name = str(value)
    if name.startswith("data:"):
        try:
            return base64.b64decode(name.partition(",")[2], validate=True)
        except binascii.Error:
            raise ValueError("its picture is not base64") from None
    if folder is None:
        raise ValueError(f"the picture {name!r} is named, and there is no folder of pictures")
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise ValueError(f"the picture {name!r} lies outside its folder")
    return path.read_bytes()


def grey_pixels(picture: bytes, side: int = PIXELS) -> Matrix:
    """Return a picture as side x side shades of grey from 0 to 1."""
    with extra("label"):
        from PIL import Image, UnidentifiedImageError  # noqa: PLC0415

    try:
        with Image.open(BytesIO(picture)) as image:
            if image.width * image.height > MOST_PIXELS:
                raise ValueError(
                    f"a picture of {image.width} x {image.height} pixels is too large: make it "
                    f"smaller than {MOST_PIXELS:,} in all"
                )
            grey = image.convert("L").resize((side, side), Image.Resampling.BOX)
            return np.asarray(grey, float).reshape(-1) / 255.0
    except UnidentifiedImageError:
        raise ValueError("a picture cannot be read: it is no PNG, JPEG, GIF, BMP or WebP") from None
    except ValueError:
        raise
    except Exception as error:  # decoders raise many kinds, for a picture of too many pixels too
        raise ValueError(f"a picture cannot be read: {error}") from None
