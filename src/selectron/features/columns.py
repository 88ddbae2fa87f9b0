"""The kinds of columns: what each makes of its values, and how the first values tell the kind."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime, time
from functools import cache, lru_cache
from math import ceil, isfinite, log2
from typing import Any, ClassVar, TypeAlias

import numpy as np

from selectron.arrays import Matrix, Table
from selectron.files import Description

Cells: TypeAlias = Sequence[Any]  # the values of a column: texts, numbers, lists, pictures or None
Tokens = list[tuple[str, float]]  # names of places in a wide row, and what is added there
MOSTLY = 0.95  # share of values that must be numbers or dates for a column to be of them
TELLING = 20  # values, before a column is called constant or a key
PARTS = 10  # of the first numbers, of equal size: a wide row has a place for each
LONG_TEXT, LONG_WORDS = 40, 4  # characters and words of the usual value of a text
FEW = 20  # different values of a code, or a tenth of the values if that is more
MOST_CODES = 200
EPOCH = datetime(2000, 1, 1)
NOTHING = ("", None)
WORD = r"(?u)\b\w\w+\b"
ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?)?\s?(Z|[+-]\d\d:?\d\d)?")
OTHER_DATE = re.compile(r"(\d{1,4})([./])(\d{1,2})\2(\d{1,4})(?:[T ](\d\d):(\d\d)(?::(\d\d))?)?")
ORDERS = ("iso", "ymd", "dmy", "mdy")  # of year, month and day


@dataclass(frozen=True)
class Column:
    """A column that is read: its name, and knobs that the first values have set."""

    name: str
    kind: ClassVar[str]
    makes_wide: ClassVar[bool] = False  # it has no fixed number of places
    KINDS: ClassVar[dict[str, type["Column"]]] = {}

    def __init_subclass__(cls) -> None:
        Column.KINDS[cls.kind] = cls

    def describe(self) -> Description:
        return {"kind": self.kind, **asdict(self)}

    @property
    def width(self) -> int:
        """How many places the column takes in a row of fixed places."""
        raise NotImplementedError  # every kind has its own, unless it makes rows wide

    def dense(self, values: Cells) -> Matrix:
        """Return the places of each value."""
        raise NotImplementedError  # the same

    def tokens(self, values: Cells) -> Iterable[Tokens]:
        """Return for each value the names of its places in a wide row."""
        raise NotImplementedError  # every kind but texts has its own

    def says(self) -> str:
        """Say what becomes of a value."""
        raise NotImplementedError  # every kind has its own


@dataclass(frozen=True)
class Number(Column):
    """A number, and a flag where it may be missing; in a wide row, the part in which it lies."""

    middle: float = 0.0  # stands for a number that is missing
    flag: bool = False
    edges: tuple[float, ...] = ()
    kind: ClassVar = "number"

    def __post_init__(self) -> None:
        _check_floats(self.middle, *self.edges)

    @property
    def width(self) -> int:
        return 2 if self.flag else 1

    def dense(self, values: Cells) -> Matrix:
        found = numbers(values)
        missing = np.isnan(found)
        found[missing] = self.middle
        return np.column_stack([found, missing]) if self.flag else found[:, np.newaxis]

    def tokens(self, values: Cells) -> Iterable[Tokens]:
        found = numbers(values)
        parts = np.searchsorted(self.edges, found, side="right")
        for part, missing in zip(parts.tolist(), np.isnan(found).tolist(), strict=True):
            yield [(f"{self.name}={'' if missing else part}", 1.0)]

    def says(self) -> str:
        return "a number" + (", and a flag where it is missing" if self.flag else "")


@dataclass(frozen=True)
class Code(Column):
    """One of few values: each has a place, found by a hash, so that new values have one too."""

    places: int = 4
    salt: int = 0  # chosen such that the first values hardly share a place
    kind: ClassVar = "code"

    def __post_init__(self) -> None:
        _check_whole(self.places, 1, 1 << 16)
        _check_whole(self.salt, 0, 1 << 16)

    @property
    def width(self) -> int:
        return self.places

    def dense(self, values: Cells) -> Matrix:
        out = np.zeros((len(values), self.places))
        chosen = [_place(self.salt, self.places, text_of(value)) for value in values]
        out[np.arange(len(values)), chosen] = 1.0
        return out

    def tokens(self, values: Cells) -> Iterable[Tokens]:
        return ([(f"{self.name}={text_of(value)}", 1.0)] for value in values)

    def says(self) -> str:
        return f"one of few values, hashed into {self.places} places"


@dataclass(frozen=True)
class Codes(Column):
    """A list of values, each with a place of its own."""

    kind: ClassVar = "codes"
    makes_wide: ClassVar = True

    def tokens(self, values: Cells) -> Iterable[Tokens]:
        for value in values:
            many = value if isinstance(value, list) else [] if value in NOTHING else [value]
            yield [(f"{self.name}={text_of(each)}", 1.0) for each in many] or [(f"{self.name}=", 1)]

    def says(self) -> str:
        return "several values a row, each hashed"


@dataclass(frozen=True)
class Words(Column):
    """A text: how often each word stands in it, and perhaps each pair of neighbours."""

    pairs: bool = False
    kind: ClassVar = "words"
    makes_wide: ClassVar = True

    def says(self) -> str:
        return "a text: words" + (" and pairs of words" if self.pairs else "") + ", hashed"


@dataclass(frozen=True)
class Letters(Column):
    """A short text: its runs of two to four letters, and the whole."""

    kind: ClassVar = "letters"
    makes_wide: ClassVar = True

    def says(self) -> str:
        return "a short text: runs of two to four letters, hashed"


@dataclass(frozen=True)
class Date(Column):
    """A moment: the day, the hour, and which month and weekday it is."""

    order: str = "iso"
    middle: float = 0.0  # the day that stands for one that is missing
    kind: ClassVar = "date"
    WIDTH: ClassVar = 3 + 12 + 7

    def __post_init__(self) -> None:
        _check_floats(self.middle)
        if self.order not in ORDERS:
            raise ValueError(f"a date has the order {self.order!r:.30}")

    @property
    def width(self) -> int:
        return self.WIDTH

    def dense(self, values: Cells) -> Matrix:
        out = np.zeros((len(values), self.WIDTH))
        for row, value in zip(out, values, strict=True):
            moment = moment_of(value, self.order)
            if moment is None:
                row[0], row[2] = self.middle, 1.0
            else:
                row[0], row[1] = (moment - EPOCH).days, moment.hour + moment.minute / 60
                row[2 + moment.month] = row[15 + moment.weekday()] = 1.0
        return out

    def tokens(self, values: Cells) -> Iterable[Tokens]:
        for value in values:
            m = moment_of(value, self.order)
            parts = ["missing"] if m is None else [
                f"year {m.year}", f"month {m.month}", f"weekday {m.weekday()}", f"hour {m.hour}"
            ]  # fmt: skip
            yield [(f"{self.name}={part}", 1.0) for part in parts]

    def says(self) -> str:
        return "a date: day, hour, month and weekday"


@dataclass(frozen=True)
class Vector(Column):
    """A list of numbers of one length."""

    length: int = 1
    kind: ClassVar = "vector"

    def __post_init__(self) -> None:
        _check_whole(self.length, 1, 1 << 24)

    @property
    def width(self) -> int:
        return self.length

    def dense(self, values: Cells) -> Matrix:
        for value in values:
            if not isinstance(value, list | np.ndarray) or len(value) != self.length:
                found = f"{len(value)} numbers" if isinstance(value, list) else f"{value!r:.40}"
                raise ValueError(f"{self.name!r} has {found}, not {self.length} numbers")
        return np.array(values, float).reshape(len(values), self.length)

    def tokens(self, values: Cells) -> Iterable[Tokens]:
        for row in self.dense(values):
            yield [(f"{self.name}^{k}", x) for k, x in enumerate(row.tolist()) if x]

    def says(self) -> str:
        return f"{self.length} numbers"


@dataclass(frozen=True)
class Named(Column):
    """Numbers by name, any of them: each name has a hashed place."""

    kind: ClassVar = "named"
    makes_wide: ClassVar = True

    def tokens(self, values: Cells) -> Iterable[Tokens]:
        for value in values:
            pairs = value.items() if isinstance(value, dict) else ()
            yield [_named(name, x) for name, x in pairs if x is not None]

    def says(self) -> str:
        return "numbers by name, names hashed"


@dataclass(frozen=True)
class Image(Column):
    """A picture, or the name of one: its shades of grey."""

    side: int = 28
    kind: ClassVar = "image"

    def __post_init__(self) -> None:
        _check_whole(self.side, 1, 1024)

    @property
    def width(self) -> int:
        return self.side * self.side

    def says(self) -> str:
        return f"a picture: {self.side} x {self.side} shades of grey"


# --- what the first values tell


def column_of(name: str, values: Cells) -> Column | str:
    """Return the kind of column that the first values tell, or why the column is left out."""
    there = [value for value in values if value not in NOTHING and value == value]
    if not there:
        return "it is empty"
    if all(isinstance(value, dict) for value in there):
        return Image(name) if "bytes" in there[0] else Named(name)
    if all(isinstance(value, bytes) for value in there) or _pictures(there):
        return Image(name)
    if all(isinstance(value, list | np.ndarray) for value in there):
        return _of_lists(name, there)
    texts = [text_of(value) for value in there]
    different = len(set(texts))
    if different == 1 and len(values) >= TELLING and len(there) == len(values):
        return "it is the same in every row"
    return _of_texts(name, values, there, texts, different)


def _of_lists(name: str, there: Cells) -> Column:
    lengths = {len(value) for value in there}
    numeric = all(isinstance(x, int | float) for value in there[:TELLING] for x in value)
    if numeric and len(lengths) == 1 and 0 not in lengths:
        return Vector(name, lengths.pop())
    return Codes(name)


def _of_texts(
    name: str, values: Cells, there: Cells, texts: list[str], different: int
) -> Column | str:
    is_key = different == len(texts) == len(values) >= TELLING
    found = numbers(there)
    numeric = ~np.isnan(found)
    if numeric.mean() >= MOSTLY and not any(_padded(text) for text in texts):
        counts_rows = np.all(np.diff(found) == 1.0) or _is_id(name)
        if is_key and counts_rows and np.all(found == np.floor(found)):
            return "it numbers the rows"
        known = found[numeric]
        edges = np.unique(np.quantile(known, np.arange(1, PARTS) / PARTS)).tolist()
        flag = len(known) < len(values)
        return Number(name, float(np.median(known)), flag, tuple(edges))
    for order in ORDERS:
        moments = [moment_of(value, order) for value in there]
        days = [(moment - EPOCH).days for moment in moments if moment is not None]
        if len(days) >= MOSTLY * len(there):
            return Date(name, order, float(np.median(days)))
    size, words = np.mean([len(text) for text in texts]), np.mean([t.count(" ") + 1 for t in texts])
    few = different <= min(MOST_CODES, max(FEW, len(texts) // 10)) and different < len(texts)
    if few and size < LONG_TEXT:
        return _code(name, set(texts))
    if size >= LONG_TEXT or words >= LONG_WORDS:
        return Words(name)
    if is_key and words < 2.0:
        return KEY
    return Letters(name)


KEY = "it differs in every row"


def _code(name: str, texts: set[str]) -> Code:
    """Choose the hash that keeps the values apart best."""
    places = 1 << max(2, ceil(log2(2 * (len(texts) + 1))))
    known = [*sorted(texts), ""]

    def shared(salt: int) -> int:
        return len(known) - len({_place(salt, places, text) for text in known})

    return Code(name, places, min(range(64), key=shared))


def _pictures(there: Cells) -> bool:
    endings = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp")
    return all(isinstance(v, str) and (v.lower().endswith(endings) or v.startswith("data:image/"))
               for v in there)  # fmt: skip


def _padded(text: str) -> bool:
    """Tell whether zeros stand before a number: then it is a code, such as 00730."""
    return len(text) > 1 and text[0] == "0" and text.isdecimal()


def _is_id(name: str) -> bool:
    return name.lower() in ("id", "key", "index", "nr", "no", "") or name.lower().endswith("_id")


@lru_cache(1 << 14)
def _place(salt: int, places: int, text: str) -> int:
    return hash_of(text, salt) % places


def _named(name: object, x: object) -> tuple[str, float]:
    if isinstance(x, int | float):
        return str(name), float(x)
    number = float(numbers([x])[0])
    return (f"{name}={text_of(x)}", 1.0) if number != number else (str(name), number)


# --- values


def text_of(value: object) -> str:
    """Write a value as a text: 3.0 of a column of numbers is "3", None is empty."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def numbers(values: Cells) -> Matrix:
    """Return numbers, or what texts say of them; NaN for anything else."""
    try:
        found = np.array(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        found = np.array([_number(value) for value in values])
    found[~np.isfinite(found)] = np.nan
    return found


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def moment_of(value: object, order: str) -> datetime | None:
    """Return a moment without its time zone, or what a text says of one."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    if isinstance(value, date):
        return datetime.combine(value, time())
    if not isinstance(value, str):
        return None
    text = value.strip()
    try:
        if order == "iso":
            found = ISO.fullmatch(text)
            return datetime.fromisoformat(text).replace(tzinfo=None) if found else None
        match = OTHER_DATE.fullmatch(text)
        if match is None:
            return None
        first, _, middle, last, *clock = match.groups()
        parts = dict(zip(order, (int(first), int(middle), int(last)), strict=True))
        if parts["y"] < 1000:
            return None
        hour, minute, second = (int(part or 0) for part in clock)
        return datetime(parts["y"], parts["m"], parts["d"], hour, minute, second)
    except ValueError:
        return None


def _check_floats(*found: object) -> None:
    for each in found:
        if not isinstance(each, float) or not isfinite(each):
            raise ValueError(f"{each!r:.60} is not a number")


def _check_whole(value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ValueError(f"{value!r:.60} is not a whole number from {low} to {high}")


# --- words and names as places of a wide row: hashes that are the same on every machine


def hash_of(text: str, salt: int = 0) -> int:
    """Return a number of the text that is the same on every machine."""
    from sklearn.utils import murmurhash3_32  # noqa: PLC0415 - costs seconds

    return int(murmurhash3_32(text, seed=salt, positive=True))


def hashed_words(texts: Sequence[str], places: int = 1 << 18, *, pairs: bool = False) -> Table:
    """Return how often each word stands in each text; with `pairs`, each pair of neighbours too."""
    hashing = _vectoriser(
        places, analyzer="word", token_pattern=WORD, ngram_range=(1, 2 if pairs else 1)
    )
    return hashing.transform(texts)


def hashed_letters(texts: Sequence[str], places: int) -> Table:
    """Return how often each run of two to four letters stands in each text."""
    return _vectoriser(places, analyzer="char_wb", ngram_range=(2, 4)).transform(texts)


@cache
def _vectoriser(places: int, **options: object) -> Table:
    from sklearn.feature_extraction.text import HashingVectorizer  # noqa: PLC0415 - costs seconds

    return HashingVectorizer(n_features=places, alternate_sign=False, norm=None, **options)


def hashed_names(rows: Iterable[Iterable[tuple[str, float]]], places: int) -> Table:
    """Return rows that have a number at the place of each name."""
    from sklearn.feature_extraction import FeatureHasher  # noqa: PLC0415 - costs seconds

    return FeatureHasher(places, input_type="pair", alternate_sign=False).transform(rows)


def moved(rows: Table, name: str) -> Table:
    """Move the places of a column, so that the words of two columns do not meet."""
    places = rows.shape[1]
    rows.indices[:] = (rows.indices + hash_of(name) % places) % places
    rows.has_sorted_indices = False
    rows.sort_indices()
    return rows
