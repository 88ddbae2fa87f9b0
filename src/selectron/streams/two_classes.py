"""Two classes out of many: some against others, or against all the rest."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from selectron.streams.files import Stream


def two_classes(
    stream: Stream, positive: list[str] | None = None, negative: list[str] | None = None
) -> Stream:
    """Return the stream with labels True for `positive` and False for `negative` or the rest.

    Without `positive` the labels stay as they are; there must be two at least.
    """
    if not positive:
        return _as_it_is(stream, negative)
    both = set(positive) & set(negative or [])
    if both:
        raise ValueError(f"class {min(both)!r} is on the positive and on the negative side")
    X, y = _restricted(stream.X, np.asarray(stream.y), positive, negative)
    test = stream.test
    if test is not None:
        test = _restricted(test[0], np.asarray(test[1]), positive, negative)
    against = ",".join(negative) if negative else "all"
    return Stream(X, y, f"{stream.name} {','.join(positive)} v {against}", test)


def _as_it_is(stream: Stream, negative: list[str] | None) -> Stream:
    if negative:
        raise ValueError(f"--negative {','.join(negative)} needs --positive beside it")
    found = np.unique(stream.y)
    if len(found) < 2:
        shown = ", ".join(str(label) for label in found)
        raise ValueError(
            f"{stream.name} has {len(found)} class ({shown}): there is nothing to tell apart; "
            "choose another --target"
        )
    return stream


def _restricted(
    X: Any, y: NDArray[Any], positive: list[str], negative: list[str] | None
) -> tuple[Any, NDArray[Any]]:
    text = np.array([_text(label) for label in y])
    missing = [label for label in (*positive, *(negative or [])) if label not in text]
    if missing:
        raise ValueError(f"there is no row of class {missing[0]!r}; classes are {_some(text)}")
    wanted = np.isin(text, positive)
    if wanted.all() and not negative:
        raise ValueError("--positive names every class: leave one for the other side")
    if not negative:
        return X, wanted
    kept = wanted | np.isin(text, negative)
    return X[np.flatnonzero(kept)], wanted[kept]


def _text(label: Any) -> str:
    whole = isinstance(label, float | np.floating) and float(label).is_integer()
    return str(int(label)) if whole else str(label)


def _some(text: NDArray[Any]) -> str:
    return ", ".join(np.unique(text)[:12])
