"""Items as rows: the kind of the first item decides how all of them are read."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from enum import Enum
from io import BytesIO
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from selectron.arrays import Matrix, Table

HASHED_WORDS = 1 << 18
WORDS_FROM = 40  # characters: a longer text in a record is read word by word
CODES = 64  # columns for the values of a record that are short texts
PIXELS = 28  # a picture becomes so many rows and columns of grey
MOST_PIXELS = 50_000_000  # of a picture that is read: larger ones are refused
Item = Mapping[str, Any]


class Kind(Enum):
    """What an item shows."""

    TEXT = "text"
    IMAGE = "image"
    FIELDS = "fields"
    VECTOR = "vector"


def kind_of(item: Item) -> Kind:
    """Return what an item shows.

    >>> kind_of({"id": "1", "text": "hello"})
    <Kind.TEXT: 'text'>
    """
    found = [kind for kind in Kind if kind.value in item]
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
        The first items. They decide the kind, and of records which columns there are.
    images : path, optional
        The folder of the pictures that items name.

    Examples
    --------
    >>> features = Features([{"id": "1", "text": "a good day"}])
    >>> features.rows([{"id": "2", "text": "good, good night"}]).data.tolist()
    [2.0, 1.0]
    """

    def __init__(self, first: Sequence[Item], images: Path | None = None) -> None:
        self.kind = kind_of(first[0])
        self.images = images
        self.columns: list[str] = []
        self.worded = self.kind is Kind.TEXT
        if self.kind is Kind.FIELDS:
            self.columns = list(first[0]["fields"])
            self.worded = any(
                isinstance(value, str) and len(value) >= WORDS_FROM
                for item in first
                for value in item["fields"].values()
            )

    def rows(self, items: Sequence[Item]) -> Table:
        """Return a row for each item: sparse ones of words, others dense."""
        for item in items:
            if kind_of(item) is not self.kind:
                raise ValueError(
                    f"item {item.get('id')!r} is {kind_of(item).value}, and the first ones are "
                    f"{self.kind.value}: label each kind in a store of its own"
                )
        if self.worded:
            return hashed_words([self._text(item) for item in items])
        if self.kind is Kind.VECTOR:
            return np.array([item["vector"] for item in items], dtype=float)
        if self.kind is Kind.IMAGE:
            return np.array([self._pixels(item) for item in items])
        return np.array([self._record(item["fields"]) for item in items])

    def _text(self, item: Item) -> str:
        if self.kind is Kind.TEXT:
            return str(item["text"])
        return "\n".join(str(value) for value in item["fields"].values() if value is not None)

    def picture(self, item: Item) -> Matrix:
        """Return the picture of an item in grey, or refuse it."""
        return grey_pixels(self._image(item))

    def _pixels(self, item: Item) -> Matrix:
        """Return a picture in grey; one that cannot be read is blank, and people see that it is."""
        try:
            return self.picture(item)
        except (ValueError, OSError):
            return np.zeros(PIXELS * PIXELS)

    def _image(self, item: Item) -> bytes:
        name = str(item["image"])
        if name.startswith("data:"):
            try:
                return base64.b64decode(name.partition(",")[2], validate=True)
            except binascii.Error:
                raise ValueError(f"item {item['id']!r}: its picture is not base64") from None
        if self.images is None:
            raise ValueError(f"item {item['id']!r} names a picture, and there is no folder of them")
        path = (self.images / name).resolve()
        if not path.is_relative_to(self.images.resolve()):
            raise ValueError(f"item {item['id']!r}: the picture {name!r} lies outside its folder")
        return path.read_bytes()

    def _record(self, values: Mapping[str, Any]) -> Matrix:
        """Return numbers, whether they are there, and a hashed place for every short text."""
        numbers, missing, codes = [], [], np.zeros(CODES)
        for column in self.columns:
            value = values.get(column)
            number = _number(value)
            numbers.append(0.0 if number is None else number)
            missing.append(1.0 if value is None or value == "" else 0.0)
            if isinstance(value, str) and number is None and value:
                codes[hash_of(f"{column}={value}") % CODES] += 1.0
        return np.concatenate([numbers, missing, codes])


def _number(value: Any) -> float | None:
    """Return a number, or what a text says of one; None if it is neither."""
    if isinstance(value, bool):
        return float(value)
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if isfinite(number) else None


def hash_of(text: str) -> int:
    """Return a number of the text that is the same on every machine."""
    from sklearn.utils import murmurhash3_32  # noqa: PLC0415 - costs seconds

    return int(murmurhash3_32(text, positive=True))


def hashed_words(texts: Sequence[str]) -> Any:
    """Return how often each word stands in each text, words hashed into 2¹⁸ columns."""
    from sklearn.feature_extraction.text import HashingVectorizer  # noqa: PLC0415 - costs seconds

    hashing = HashingVectorizer(
        n_features=HASHED_WORDS,
        alternate_sign=False,
        norm=None,
        token_pattern=r"(?u)\b\w\w+\b",
    )
    return hashing.transform(texts)


def grey_pixels(picture: bytes) -> Matrix:
    """Return a picture as 28 x 28 shades of grey from 0 to 1."""
    from PIL import Image, UnidentifiedImageError  # noqa: PLC0415 - an extra

    try:
        with Image.open(BytesIO(picture)) as image:
            if image.width * image.height > MOST_PIXELS:
                raise ValueError(
                    f"a picture of {image.width} x {image.height} pixels is too large: make it "
                    f"smaller than {MOST_PIXELS:,} in all"
                )
            grey = image.convert("L").resize((PIXELS, PIXELS), Image.Resampling.BOX)
            return np.asarray(grey, float).reshape(-1) / 255.0
    except (UnidentifiedImageError, OSError, SyntaxError) as error:
        raise ValueError(f"a picture cannot be read: {error}") from None
