"""Make a stream of two classes out of one of many: some against others, or against the rest."""

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from selectron.arrays import Label
from selectron.features.columns import text_of
from selectron.streams.files import Labels, Stream
from selectron.streams.rows import RowBatch

if TYPE_CHECKING:
    from selectron.streams.files import Features


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
    test = stream.test and _restricted(*stream.test, positive, negative)
    against = ",".join(negative) if negative else "all"
    name = f"{stream.name} {','.join(positive)} v {against}"
    return stream._replace(X=X, y=y, name=name, test=test)


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
    X: "Features", y: Labels, positive: list[str], negative: list[str] | None
) -> "tuple[Features, Labels]":
    text = np.array([_text(label) for label in y])
    missing = [label for label in (*positive, *(negative or [])) if label not in text]
    if missing:
        known = ", ".join(np.unique(text)[:12])
        raise ValueError(f"there is no row of class {missing[0]!r}; classes are {known}")
    wanted = np.isin(text, positive)
    if wanted.all() and not negative:
        raise ValueError("--positive names every class: leave one for the other side")
    if not negative:
        return X, wanted
    kept = wanted | np.isin(text, negative)
    return X[np.flatnonzero(kept)], wanted[kept]


def _text(label: object) -> str:
    if isinstance(label, float | np.floating) and float(label).is_integer():
        return str(int(label))
    return str(label)


class Sides(NamedTuple):
    """The classes of a stream that passes by: some against others, or each for itself."""

    positive: frozenset[str]
    negative: frozenset[str]

    @classmethod
    def of(cls, positive: str | None, negative: str | None) -> Self:
        """Read classes divided by commas."""
        sides = cls(*(frozenset((text or "").split(",")) - {""} for text in (positive, negative)))
        if sides.negative and not sides.positive:
            raise ValueError(f"--negative {negative} needs --positive beside it")
        if both := sides.positive & sides.negative:
            raise ValueError(f"class {min(both)!r} is on the positive and on the negative side")
        return sides

    def side(self, label: Label) -> Label:
        """Return the side of a label, or the label where there are no sides."""
        if label is None or not self.positive:
            return label
        return text_of(label) in self.positive

    def taken(self, batch: RowBatch) -> RowBatch:
        """Return the rows of both sides; a row without a label may be of either."""
        if not self.positive:
            return batch
        sides = self.positive | self.negative
        kept = [
            t
            for t, label in enumerate(batch.labels)
            if label is None or not self.negative or text_of(label) in sides
        ]
        labels = [self.side(batch.labels[t]) for t in kept]
        return RowBatch(batch.X[kept], labels, [batch.records[t] for t in kept])
