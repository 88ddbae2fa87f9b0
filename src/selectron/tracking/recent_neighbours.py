"""The nearest of the last labels: concepts of any shape, where columns are few."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from selectron.arrays import Indices, Matrix, Vector
from selectron.compiler.verbs import apart, helper
from selectron.numeric.rows import Row, write_out
from selectron.protocol import (
    Forecast,
    ManyForecast,
    already_exact,
    flaw,
    glance,
    learn,
    predict,
    room_for,
)
from selectron.spec import NOT_NEGATIVE, Range, UpdateRule
from selectron.tracking.changes import (
    Mistakes,
    no_mistakes,
    noted,
    place_of,
    size_since_change,
    unread,
)
from selectron.updates.first_order import lead


@dataclass(frozen=True)
class RecentNeighbours(UpdateRule):
    """Let the labels of the nearest rows vote, among those of the last labels.

    A forecast costs O(window · d).

    Parameters
    ----------
    window : int
        How many labels count.
    watch : float
        Standard deviations by which the mistakes of late must exceed the earlier ones for a change
        of the concept; labels from before then count no more. 0: never.
    nearest : int
        How many neighbours vote.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron.tracking import RecentNeighbours, TrackingClassifier
    >>> X = np.random.default_rng(0).uniform(-1, 1, (4000, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> clf = TrackingClassifier([RecentNeighbours()]).fit(X[:3000], y[:3000])
    >>> print(bool(clf.score(X[3000:], y[3000:]) > 0.95))
    True
    """

    window: int = 500
    watch: float = 0.0
    nearest: int = 5
    NAMED: ClassVar = False
    RANGES: ClassVar = {
        "window": Range(2, 2**20),
        "watch": NOT_NEGATIVE,
        "nearest": Range(1, 1000),
    }

    def begin(self, d: int, dtype: DTypeLike) -> "NeighboursState":
        return NeighboursState(self._kept(d, 2), 0)

    def many(self, d: int, dtype: DTypeLike, n_classes: int) -> "ManyNeighboursState":
        return ManyNeighboursState(np.zeros(n_classes), self._kept(d, n_classes), 0)

    def _kept(self, d: int, n_classes: int) -> "Kept":
        window, nearest = int(self.window), int(self.nearest)
        return Kept(
            rows=np.zeros((window, d)),
            classes=np.zeros(window, np.int64),
            row=np.zeros(d),
            distances=np.zeros(nearest),
            labels=np.zeros(nearest, np.int64),
            shares=np.zeros(n_classes),
            mistakes=no_mistakes(window, self.watch),
        )


class Kept(NamedTuple):
    """The rows of the last labels, in the ring of `mistakes`."""

    rows: Matrix
    classes: Indices
    row: Vector  # room for the row at hand
    distances: Vector  # room: to the nearest rows, squared, the nearest first
    labels: Indices  # room: their classes
    shares: Vector  # room: of each class among them
    mistakes: Mistakes


class NeighboursState(NamedTuple):
    """Neighbours of two classes."""

    kept: Kept
    n_updates: int


class ManyNeighboursState(NamedTuple):
    """Neighbours of many classes."""

    scores: Vector
    kept: Kept
    n_updates: int


@helper
def square_distance(x: Vector, z: Vector, most: float) -> float:
    """Return |x - z|², or some number above `most` as soon as it is clear that it is above."""
    total = 0.0
    for i in range(len(x)):
        total += (x[i] - z[i]) * (x[i] - z[i])
        if total > most:
            break
    return total


@helper
def find_nearest(kept: Kept) -> int:
    """Write distances and classes of the rows nearest to the row at hand; return how many."""
    found, distances, labels = 0, kept.distances, kept.labels
    for age in range(kept.mistakes.size):
        place = place_of(kept.mistakes, age)
        full = found == len(distances)
        most = distances[found - 1] if full else np.inf
        distance = square_distance(kept.row, kept.rows[place], most)
        if not full or distance < most:
            found += 0 if full else 1
            k = found - 1
            while k > 0 and distances[k - 1] > distance:
                distances[k], labels[k] = distances[k - 1], labels[k - 1]
                k -= 1
            distances[k], labels[k] = distance, kept.classes[place]
    return found


@helper
def write_shares(kept: Kept, x: Row) -> None:
    """Write the share of each class among the nearest labels; NaN if the row cannot be read."""
    write_out(x, kept.row)
    found = find_nearest(kept)
    kept.shares[:] = unread(kept.row)
    for k in range(found):
        kept.shares[kept.labels[k]] += 1.0 / found


@helper
def kept_label(kept: Kept, x: Row, label: int, mistaken: bool) -> Kept:
    place = kept.mistakes.end
    write_out(x, kept.rows[place])
    kept.classes[place] = label
    mistakes = noted(kept.mistakes, mistaken)
    return kept._replace(mistakes=mistakes._replace(size=size_since_change(mistakes)))


@glance.of(NeighboursState)
@apart
def neighbours_glance(update: NeighboursState, x: Row) -> Forecast:
    write_shares(update.kept, x)
    shares = update.kept.shares
    return Forecast(shares[1] - shares[0], 1.0, 1.0, 0.0, True)


@glance.of(ManyNeighboursState)
@apart
def many_neighbours_glance(update: ManyNeighboursState, x: Row) -> ManyForecast:
    write_shares(update.kept, x)
    for k in range(len(update.scores)):
        update.scores[k] = update.kept.shares[k]
    found = lead(update.scores)
    return ManyForecast(found.margin, 1.0, 1.0, 0.0, True, found.best, found.second)


predict.of(NeighboursState, ManyNeighboursState)(already_exact)


@learn.of(NeighboursState)
@apart
def neighbours_learn(
    update: NeighboursState, x: Row, y: float, forecast: Forecast
) -> NeighboursState:
    plus = y > 0.0
    kept = kept_label(update.kept, x, 1 if plus else 0, (forecast.margin > 0.0) != plus)
    return NeighboursState(kept, update.n_updates + 1)


@learn.of(ManyNeighboursState)
@apart
def many_neighbours_learn(
    update: ManyNeighboursState, x: Row, y: float, forecast: ManyForecast
) -> ManyNeighboursState:
    kept = kept_label(update.kept, x, int(y), forecast.best != int(y))
    return update._replace(kept=kept, n_updates=update.n_updates + 1)


@flaw.of(Kept)
def kept_flaw(kept: Kept) -> str:
    """Refuse labels of no class: compiled code would count them outside of an array."""
    if kept.classes.min() < 0 or kept.classes.max() >= len(kept.shares):
        return f"a label of class {kept.classes.max()} of {len(kept.shares)}"
    return ""


room_for(Kept, "row", "distances")
