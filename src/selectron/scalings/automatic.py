"""The first rows tell, without a label, whether they are images or a table."""

from dataclasses import dataclass
from math import frexp, inf, ldexp
from typing import ClassVar, NamedTuple

import numpy as np

from selectron.arrays import DType, Matrix, Vector
from selectron.compiler.verbs import helper, seldom
from selectron.numeric.pictures import smooth
from selectron.numeric.rows import WIDEST_KEPT, Row, sealed_row, write_out
from selectron.protocol import (
    Folded,
    Presented,
    QueryState,
    UpdateState,
    absorb,
    end_warm_up,
    fold,
    has_statistics,
    in_file,
    present,
    preview,
    ready,
    warm_up,
)
from selectron.scalings.centred import Centred, CentredState, keeps_statistics
from selectron.scalings.strokes import Smoothing, smoothed_weights, smoothing_for
from selectron.scalings.winsorised import Winsorised, WinsorisedState, presented_up_to
from selectron.spec import Range, Scaling

CUT = 3.0  # deviations at which a table's features are cut; below, the separator loses more
LEAST_PIXELS = 32
ALIKE = 4.0  # the largest values of the columns of an image are alike up to this factor
MEDIAN, MOST = 0.5, 0.95
MOST_EARLY = 50  # rows kept of the warm-up, for update rules that keep many more numbers
OUTLYING = 30.0  # times the usual distance from the median: such an entry is left out
LEAST_EARLY = 10  # among fewer rows, no entry is an outlier
ODD_SIZE, ODD_SHARE = 10.0, 0.05  # rows so many times the usual size, if few, have no say
LEAST_SPREAD, MOST_SPREAD = 1e-90, 1e90  # columns beyond are rescaled, so that squares are numbers
MOST_DOUBLINGS = 1000

UNDECIDED, IMAGES, TABLE = range(3)


@dataclass(frozen=True)
class Automatic(Scaling):
    """Scale as `Centred` or as `Winsorised` does, whichever suits the first rows.

    The scaling takes rows for images, or other counts in one unit, if there are at least 32
    columns, no entry is negative, and the largest values of the columns are alike. They are alike
    if nineteen columns in twenty stay below four times the median. The features of a table are cut
    at 3 deviations, whose estimate cuts them at 2.5.

    Parameters
    ----------
    warmup : int
        Rows > 0 that teach the scale before the first label is asked.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron.numeric.rows import DenseRow
    >>> scaling = Automatic(warmup=5).begin(64, float)
    >>> for x in np.random.default_rng(0).random((5, 64)):
    ...     scaling = absorb(scaling, DenseRow(x))
    >>> print(scaling.kind, ("undecided", "images", "table")[scaling.kind])
    1 images
    """

    warmup: int = 50
    EXTRA: ClassVar = 1
    RANGES: ClassVar = {"warmup": Range(1, 2**31)}

    def begin(self, d: int, dtype: DType) -> "AutomaticState":
        centred = Centred(warmup=self.warmup).begin(d, dtype)
        winsorised = Winsorised(warmup=self.warmup).begin(d, dtype)
        early = np.zeros((min(self.warmup, MOST_EARLY) if d <= WIDEST_KEPT else 0, d))
        rooms = np.zeros(d), early, np.zeros(len(early)), Smoothing(np.zeros(d))
        return AutomaticState(centred, winsorised, *rooms)


class AutomaticState(NamedTuple):
    centred: CentredState
    winsorised: WinsorisedState
    largest: Vector  # for each column: its largest value in the warm-up
    early: Matrix  # the first rows; of a table, without outliers once all are there
    column: Vector  # room for one of their columns
    smoothing: Smoothing  # of pictures of strokes
    least: float = 0.0  # the least of all entries and 0
    kind: int = UNDECIDED


@helper
def quantile(values: Vector, share: float) -> float:
    """Return the value that this share of the positive ones does not exceed, by halving."""
    positive = 0
    high = 0.0
    for value in values:
        positive += value > 0.0
        high = max(high, value)
    low, middle = 0.0, 0.5 * high
    while low < middle < high:
        below = 0
        for value in values:
            below += 0.0 < value <= middle
        if below >= share * positive:
            high = middle
        else:
            low = middle
        middle = low + 0.5 * (high - low)
    return high


@helper
@seldom
def kind_of(largest: Vector, least: float) -> int:
    """Return IMAGES or TABLE."""
    if len(largest) < LEAST_PIXELS or least < 0.0:
        return TABLE
    return IMAGES if quantile(largest, MOST) <= ALIKE * quantile(largest, MEDIAN) else TABLE


@helper
def lower_median(values: Vector, start: int) -> float:
    """Sort the values; return the median of those from `start` on, the lower of two."""
    for k in range(1, len(values)):
        value, place = values[k], k
        while place > 0 and values[place - 1] > value:
            values[place] = values[place - 1]
            place -= 1
        values[place] = value
    return np.float64(values[start + (len(values) - start - 1) // 2])


@helper
def column_spread(column: Vector, median: float) -> float:
    """Turn a column into distances from its median; return the median of those that are not 0."""
    equal = 0
    for k in range(len(column)):
        column[k] = abs(column[k] - median)
        equal += column[k] == 0.0
    return lower_median(column, equal) if equal < len(column) else 0.0


@helper
def factor_of(size: float) -> float:
    """Return 1 for a column of usual size, else the power of two that makes it usual."""
    if size == 0.0 or LEAST_SPREAD < size < MOST_SPREAD:
        return 1.0
    return ldexp(1.0, min(-frexp(size)[1], MOST_DOUBLINGS))


@helper
def cleaned(early: Matrix, column: Vector, factors: Vector) -> int:
    """Put medians in the place of outliers, and find the factors of columns of extreme units.

    Return how many entries and columns this changes.
    """
    changes = 0
    for i in range(len(factors)):
        for k in range(len(early)):
            column[k] = early[k, i]
        median = lower_median(column, 0)
        spread = column_spread(column, median)
        most = OUTLYING * spread if len(early) >= LEAST_EARLY else inf
        for k in range(len(early)):
            if abs(early[k, i] - median) > most:
                early[k, i] = median
                changes += 1
        factors[i] = factor_of(spread if spread > 0.0 else abs(median))
        changes += factors[i] != 1.0
    return changes


@helper
@seldom
def taught_again(
    winsorised: WinsorisedState, early: Matrix, column: Vector, kind: int
) -> WinsorisedState:
    """Return what the early rows of a table teach, if some of them had to be cleaned."""
    if kind != TABLE or cleaned(early, column, winsorised.factors) == 0:
        return winsorised
    winsorised.mean[:] = 0.0
    winsorised.squares[:] = 0.0
    winsorised.deviation[:] = 0.0
    rescaled = False
    for factor in winsorised.factors:
        rescaled = rescaled or factor != 1.0
    winsorised = winsorised._replace(square_length=0.0, n_rows=0, rescaled=rescaled)
    for k in range(len(early)):
        winsorised = absorb(winsorised, sealed_row(early[k]))
    return winsorised


@helper
def size_of(row: Vector) -> float:
    """Return the largest distance of an entry from 0."""
    size = 0.0
    for value in row:
        size = max(size, abs(value))
    return size


@helper
def is_odd(row: Vector, most: float) -> bool:
    """Tell whether a row has an entry that is negative or very large."""
    odd = 0
    for value in row:
        odd += value < 0.0 or value > most
    return odd > 0


@helper
@seldom
def without_odd_rows(early: Matrix, column: Vector, largest: Vector, least: float) -> float:
    """Take back what a few odd rows said about the largest and least values; return the least.

    If many rows are odd, that is what rows are like, and nothing changes.
    """
    for k in range(len(early)):
        column[k] = size_of(early[k])
    most = ODD_SIZE * lower_median(column, 0)
    n_odd = 0
    for k in range(len(early)):
        n_odd += is_odd(early[k], most)
    if most == 0.0 or n_odd == 0 or n_odd > max(1.0, ODD_SHARE * len(early)):
        return least
    largest[:] = 0.0
    for k in range(len(early)):
        if not is_odd(early[k], most):
            for i in range(len(largest)):
                largest[i] = max(largest[i], early[k, i])
    return 0.0


@absorb.of(AutomaticState)
def automatic_absorb(scaling: AutomaticState, x: Row) -> AutomaticState:
    centred, winsorised, largest, early, column, smoothing, least, kind = scaling
    if kind != TABLE:
        centred = absorb(centred, x)
    if kind != IMAGES:
        winsorised = absorb(winsorised, x)
    if kind == UNDECIDED and winsorised.n_rows > scaling.winsorised.n_rows:
        buffer = centred.buffer
        write_out(x, buffer)
        for i in range(len(largest)):
            largest[i] = max(largest[i], buffer[i])
            least = min(least, buffer[i])
        if winsorised.n_rows <= len(early):
            write_out(x, early[winsorised.n_rows - 1])
        if winsorised.n_rows == len(early):
            least = without_odd_rows(early, column, largest, least)
            winsorised = taught_again(winsorised, early, column, kind_of(largest, least))
        if winsorised.n_rows >= winsorised.warmup:
            kind = kind_of(largest, least)
            smoothing = smoothing_for(smoothing, centred, early, kind == IMAGES)
    return AutomaticState(centred, winsorised, largest, early, column, smoothing, least, kind)


@end_warm_up.of(AutomaticState)
@seldom
def show_early_rows(
    scaling: AutomaticState, update: UpdateState, query: QueryState
) -> tuple[UpdateState, QueryState]:
    """Show the rows of the warm-up to the other two rules, now that their scale is known."""
    for k in range(len(scaling.early)):
        row = present(scaling, sealed_row(scaling.early[k]))
        query = preview(query, row)
        row.values[len(scaling.largest)] = 0.0  # the bias is no direction in which rows spread
        update = warm_up(update, row)
    return update, query


@present.of(AutomaticState)
def automatic_present(scaling: AutomaticState, x: Row) -> Presented:
    if scaling.kind != IMAGES:
        return presented_up_to(scaling.winsorised, x, CUT)
    z = present(scaling.centred, x)
    room, passes, gain = scaling.smoothing
    if passes > 0:
        smooth(z.values[: len(room)], room, passes, gain)
    return z


@fold.of(AutomaticState)
def fold_images(scaling: AutomaticState, weights: Matrix) -> Folded:
    """Fold the centring and the smoothing of images; entries of tables are cut one by one."""
    if scaling.kind != IMAGES:
        return None
    smoothing = scaling.smoothing
    return fold(
        scaling.centred, smoothed_weights(smoothing, weights) if smoothing.passes > 0 else weights
    )


has_statistics.of(AutomaticState)(keeps_statistics)


@ready.of(AutomaticState)
def automatic_ready(scaling: AutomaticState) -> bool:
    return max(scaling.centred.n_rows, scaling.winsorised.n_rows) > scaling.winsorised.warmup


in_file(AutomaticState, kind=Range(UNDECIDED, TABLE))
