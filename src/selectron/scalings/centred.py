"""Online centring: directions from the running mean, with a bias feature. No labels needed."""

from dataclasses import dataclass
from math import nan
from typing import Any, ClassVar, NamedTuple

import numpy as np

from selectron.arrays import Vector
from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import DenseRow, Row, square_norm, write_out
from selectron.numeric.sums import lane_dot
from selectron.protocol import absorb, has_statistics, present, ready
from selectron.spec import NOT_NEGATIVE, Range, Scaling


@dataclass(frozen=True)
class Centred(Scaling):
    """Present z = [(u - μ)/|u - μ|, bias], with u = x/|x| and μ the running mean of u.

    A sparse row is spread out into one buffer of d + 1 numbers, so a round costs O(d).

    Parameters
    ----------
    bias : float
        The last feature of every row, >= 0.
    warmup : int
        Rows that only teach the mean before the first label is asked.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron.numeric.rows import DenseRow
    >>> from selectron.protocol import absorb, present
    >>> from selectron.scalings import Centred
    >>> scaling = Centred().begin(2, np.float64)
    >>> for x in ([3.0, 4.0], [8.0, 6.0]):
    ...     scaling = absorb(scaling, DenseRow(np.array(x)))
    >>> present(scaling, DenseRow(np.array([3.0, 4.0]))).values.round(3).tolist()
    [-0.707, 0.707, 0.5]
    """

    bias: float = 0.5
    warmup: int = 50
    RANGES: ClassVar = {"bias": NOT_NEGATIVE, "warmup": Range(0, 2**31)}

    def width(self, d: int) -> int:
        return d + 1

    def begin(self, d: int, dtype: Any) -> "CentredState":
        return CentredState(np.zeros(d), np.zeros(d + 1), float(self.bias), int(self.warmup), 0)


class CentredState(NamedTuple):
    mean: Vector
    buffer: Vector  # the row at hand, as presented
    bias: float
    warmup: int
    n_rows: int


@absorb.of(CentredState)
def centred_absorb(scaling: CentredState, x: Row) -> CentredState:
    n_rows = scaling.n_rows + 1
    mean, buffer = scaling.mean, scaling.buffer
    size = sqrt(square_norm(x))
    if size - size != 0.0:  # NaN or infinity: the pass will refuse the row
        return scaling
    scale = 1.0 / size if size > 0.0 else 0.0
    write_out(x, buffer)
    share = 1.0 / n_rows
    for i in range(len(mean)):
        mean[i] += (scale * buffer[i] - mean[i]) * share
    return scaling._replace(n_rows=n_rows)


@present.of(CentredState)
def centred_present(scaling: CentredState, x: Row) -> DenseRow:
    mean, buffer = scaling.mean, scaling.buffer
    d = len(mean)
    size = sqrt(square_norm(x))
    if size - size != 0.0:  # must reach the margin, where the pass looks for it
        buffer[:] = nan
        return DenseRow(buffer)
    scale = 1.0 / size if size > 0.0 else 0.0
    write_out(x, buffer)
    for i in range(d):
        buffer[i] = scale * buffer[i] - mean[i]
    length = sqrt(lane_dot(buffer[:d], buffer[:d]))
    # The scale of a row that is the mean itself is rounding, not a direction.
    shrink = 1.0 / length if length > 1e-12 else 0.0
    for i in range(d):
        buffer[i] *= shrink
    buffer[d] = scaling.bias
    return DenseRow(buffer)


@has_statistics.of(CentredState)
def centred_has_statistics(scaling: CentredState) -> bool:
    return True


@ready.of(CentredState)
def centred_ready(scaling: CentredState) -> bool:
    return scaling.n_rows > scaling.warmup
