"""The first rows tell, without a label, whether they are images or a table."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from selectron.arrays import DType, Matrix, Vector
from selectron.compiler.verbs import helper
from selectron.numeric.rows import WIDEST_KEPT, DenseRow, Row, write_out
from selectron.protocol import (
    Presented,
    QueryState,
    UpdateState,
    absorb,
    end_warm_up,
    has_statistics,
    in_file,
    present,
    preview,
    ready,
    warm_up,
)
from selectron.scalings.centred import Centred, CentredState, keeps_statistics
from selectron.scalings.winsorised import Winsorised, WinsorisedState
from selectron.spec import Range, Scaling

LEAST_PIXELS = 32
ALIKE = 4.0  # the largest values of the columns of an image are alike up to this factor
MEDIAN, MOST = 0.5, 0.95
HALVINGS = 60
MOST_EARLY = 50  # rows kept of the warm-up, for update rules that keep many more numbers

UNDECIDED, IMAGES, TABLE = range(3)


@dataclass(frozen=True)
class Automatic(Scaling):
    """Scale as `Centred` or as `Winsorised` does, whichever suits the first rows.

    The scaling takes rows for images, or other counts in one unit, if there are at least 32
    columns, no entry is negative, and the largest values of the columns are alike. They are alike
    if nineteen columns in twenty stay below four times the median.

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
        return AutomaticState(centred, winsorised, np.zeros(d), early)


class AutomaticState(NamedTuple):
    centred: CentredState
    winsorised: WinsorisedState
    largest: Vector  # for each column: its largest value in the warm-up
    early: Matrix  # the first rows, as they came
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
    low = 0.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        below = 0
        for value in values:
            below += 0.0 < value <= middle
        if below >= share * positive:
            high = middle
        else:
            low = middle
    return high


@helper
def kind_of(largest: Vector, least: float) -> int:
    """Return IMAGES or TABLE."""
    if len(largest) < LEAST_PIXELS or least < 0.0:
        return TABLE
    return IMAGES if quantile(largest, MOST) <= ALIKE * quantile(largest, MEDIAN) else TABLE


@absorb.of(AutomaticState)
def automatic_absorb(scaling: AutomaticState, x: Row) -> AutomaticState:
    centred, winsorised, largest, early, least, kind = scaling
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
        if winsorised.n_rows >= winsorised.warmup:
            kind = kind_of(largest, least)
    return AutomaticState(centred, winsorised, largest, early, least, kind)


@end_warm_up.of(AutomaticState)
def show_early_rows(
    scaling: AutomaticState, update: UpdateState, query: QueryState
) -> tuple[UpdateState, QueryState]:
    """Show the rows of the warm-up to the other two rules, now that their scale is known."""
    for k in range(len(scaling.early)):
        row = present(scaling, DenseRow(scaling.early[k]))
        query = preview(query, row)
        row.values[len(scaling.largest)] = 0.0  # the bias is no direction in which rows spread
        update = warm_up(update, row)
    return update, query


@present.of(AutomaticState)
def automatic_present(scaling: AutomaticState, x: Row) -> Presented:
    if scaling.kind == IMAGES:
        return present(scaling.centred, x)
    return present(scaling.winsorised, x)


has_statistics.of(AutomaticState)(keeps_statistics)


@ready.of(AutomaticState)
def automatic_ready(scaling: AutomaticState) -> bool:
    return max(scaling.centred.n_rows, scaling.winsorised.n_rows) > scaling.winsorised.warmup


in_file(AutomaticState, kind=Range(UNDECIDED, TABLE))
