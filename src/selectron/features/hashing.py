"""Words and names as places of a wide row: hashes that are the same on every machine."""

from collections.abc import Iterable, Sequence
from functools import cache

from selectron.arrays import Table

WORD = r"(?u)\b\w\w+\b"


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
