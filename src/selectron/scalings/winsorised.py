"""Tables of any scale: running means and spreads that outliers cannot move far."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from selectron.arrays import DType, Vector
from selectron.compiler.verbs import helper, seldom
from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import DenseRow, Row, write_out
from selectron.numeric.sums import lane_dot
from selectron.protocol import absorb, has_statistics, in_file, present, ready, room_for
from selectron.scalings.centred import finished, keeps_statistics, past_warm_up, unreadable
from selectron.spec import NOT_NEGATIVE, POSITIVE, Range, Scaling

TRUSTED = 20  # rows after which a spread is trusted to tell an outlier
LARGEST_CHANGE = 1e150  # its square is still a number
LARGEST_VALUE = 1e300


@dataclass(frozen=True)
class Winsorised(Scaling):
    """Present z = [v, b]/|[v, b]| with v the features in standard deviations, clipped.

    Mean and deviation follow the rows. Each deviation is clipped before it counts, so that a heavy
    tail does not swallow the scale. The last feature b is `bias` times the usual length of v, so
    the sign of w.z is that of an affine rule in v.

    Parameters
    ----------
    clip : float
        Standard deviations > 0 beyond which a feature is cut.
    bias : float
        The last feature, >= 0, in units of the usual length of a row.
    warmup : int
        Rows that teach mean and deviation before the first label is asked.
    memory : int
        How many rows mean and deviation look back on, for streams that drift; 0: on all.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron.numeric.rows import DenseRow
    >>> scaling = Winsorised().begin(2, float)
    >>> for x in ([1.0, 100.0], [3.0, 100.0], [2.0, 400.0]):
    ...     scaling = absorb(scaling, DenseRow(np.array(x)))
    >>> present(scaling, DenseRow(np.array([3.0, 100.0]))).values.round(3).tolist()
    [0.816, -0.471, 0.333]
    """

    clip: float = 2.5
    bias: float = 0.5
    warmup: int = 50
    memory: int = 0
    EXTRA: ClassVar = 1
    RANGES: ClassVar = {
        "clip": POSITIVE,
        "bias": NOT_NEGATIVE,
        "warmup": Range(0, 2**31),
        "memory": Range(0, 2**31),
    }

    def begin(self, d: int, dtype: DType) -> "WinsorisedState":
        arrays = np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(d + 1), np.ones(d)
        knobs = float(self.clip), float(self.bias), int(self.warmup), int(self.memory)
        return WinsorisedState(*arrays, *knobs)


class WinsorisedState(NamedTuple):
    mean: Vector
    squares: Vector  # sums of squared deviations, clipped
    deviation: Vector
    buffer: Vector  # the row at hand, as presented
    factors: Vector  # powers of two: columns of extreme units are multiplied by them
    clip: float
    bias: float
    warmup: int
    memory: int  # rows; 0: all
    square_length: float = 0.0  # the mean of |v|²
    n_rows: int = 0
    rescaled: bool = False  # the factors are not all 1


@helper
def all_finite(values: Vector) -> bool:
    """Tell whether no value is NaN or infinite."""
    bad = 0
    for i in range(len(values)):
        bad += values[i] - values[i] != 0.0
    return bad == 0


@helper
def clipped(value: float, bound: float) -> float:
    """Return the value, or the bound that it exceeds on either side."""
    return bound if value > bound else (-bound if value < -bound else value)


@helper
@seldom
def rescale(buffer: Vector, factors: Vector) -> None:
    """Multiply the row in the buffer by the factors of its columns."""
    for i in range(len(factors)):
        buffer[i] = clipped(buffer[i] * factors[i], LARGEST_VALUE)


@helper
def standardise(scaling: WinsorisedState, most: float) -> float:
    """Turn the row in the buffer into v, cut at `most` deviations; return |v|²."""
    buffer, d = scaling.buffer, len(scaling.mean)
    for i in range(d):
        deviation = scaling.deviation[i]
        scale = 1.0 / deviation if deviation > 0.0 else 0.0
        buffer[i] = clipped((buffer[i] - scaling.mean[i]) * scale, most)
    return np.float64(lane_dot(buffer[:d], buffer[:d]))


@absorb.of(WinsorisedState)
def winsorised_absorb(scaling: WinsorisedState, x: Row) -> WinsorisedState:
    mean, squares, deviation, buffer = scaling[:4]
    d = len(mean)
    write_out(x, buffer)
    if not all_finite(buffer[:d]):  # the pass will refuse the row
        return scaling
    if scaling.rescaled:
        rescale(buffer, scaling.factors)
    n_rows = scaling.n_rows + 1
    looked_at = n_rows
    if 0 < scaling.memory < n_rows:
        looked_at = scaling.memory
        for i in range(d):
            squares[i] *= 1.0 - 1.0 / looked_at
    for i in range(d):
        change = buffer[i] - mean[i]
        # A feature that never moved has no spread to judge by.
        trusted = n_rows > TRUSTED and deviation[i] > 0.0
        change = clipped(change, scaling.clip * deviation[i] if trusted else LARGEST_CHANGE)
        mean[i] += change / looked_at
        squares[i] += change * change * (1.0 - 1.0 / looked_at)
        deviation[i] = sqrt(squares[i] / looked_at)
    usual = scaling.square_length
    usual += (standardise(scaling, scaling.clip) - usual) / looked_at
    return scaling._replace(square_length=usual, n_rows=n_rows)


@helper
def presented_up_to(scaling: WinsorisedState, x: Row, most: float) -> DenseRow:
    """Present a row whose features are cut at `most` deviations."""
    buffer, d = scaling.buffer, len(scaling.mean)
    write_out(x, buffer)
    if not all_finite(buffer[:d]):
        return unreadable(buffer)
    if scaling.rescaled:
        rescale(buffer, scaling.factors)
    square = standardise(scaling, most)
    bias = scaling.bias * sqrt(scaling.square_length)
    length = sqrt(square + bias * bias)
    shrink = 1.0 / length if length > 0.0 else 0.0
    return finished(buffer, shrink, bias * shrink)


@present.of(WinsorisedState)
def winsorised_present(scaling: WinsorisedState, x: Row) -> DenseRow:
    return presented_up_to(scaling, x, scaling.clip)


has_statistics.of(WinsorisedState)(keeps_statistics)
ready.of(WinsorisedState)(past_warm_up)

SPREAD = {"squares": NOT_NEGATIVE, "deviation": NOT_NEGATIVE, "square_length": NOT_NEGATIVE}
in_file(WinsorisedState, "clip", "bias", "warmup", "memory", factors=POSITIVE, **SPREAD)
room_for(WinsorisedState, "buffer")
