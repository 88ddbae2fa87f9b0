"""Online centring: each row becomes its direction from the running mean, with a bias feature."""

from dataclasses import dataclass
from math import nan
from typing import ClassVar, NamedTuple

import numpy as np

from selectron.arrays import DType, Matrix, Vector
from selectron.compiler.verbs import helper, seldom
from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import (
    DenseRow,
    Row,
    Rows,
    dot,
    row,
    sealed_row,
    square_norm,
    three_products,
    write_out,
)
from selectron.numeric.sums import lane_dot
from selectron.protocol import (
    TILE,
    ScalingState,
    absorb,
    fold,
    folded_scores,
    has_statistics,
    in_file,
    present,
    ready,
    room_for,
)
from selectron.spec import NOT_NEGATIVE, Range, Scaling

SHORTEST, LONGEST = 1e-140, 1e150  # rows whose squares are numbers, neither lost nor infinite
LEAST_SQUARE = 1e-3  # of the distance from the mean: below, sums of products lose digits
NO_LENGTH = 1e-307  # one over less is infinite


@dataclass(frozen=True)
class Centred(Scaling):
    """Present z = [(u - μ)/|u - μ|, bias], with u = x/|x| and μ the running mean of u.

    The scaling writes a sparse row out into one buffer of d + 1 numbers, so a round costs O(d).

    Parameters
    ----------
    bias : float
        The last feature of every row, >= 0.
    warmup : int
        Rows that teach the mean before the first label is asked.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron.numeric.rows import DenseRow
    >>> scaling = Centred().begin(2, float)
    >>> for x in ([3.0, 4.0], [8.0, 6.0]):
    ...     scaling = absorb(scaling, DenseRow(np.array(x)))
    >>> present(scaling, DenseRow(np.array([3.0, 4.0]))).values.round(3).tolist()
    [-0.707, 0.707, 0.5]
    """

    bias: float = 0.5
    warmup: int = 50
    EXTRA: ClassVar = 1
    RANGES: ClassVar = {"bias": NOT_NEGATIVE, "warmup": Range(0, 2**31)}

    def begin(self, d: int, dtype: DType) -> "CentredState":
        return CentredState(np.zeros(d), np.zeros(d + 1), float(self.bias), int(self.warmup))


class CentredState(NamedTuple):
    mean: Vector
    buffer: Vector  # the row at hand, as presented
    bias: float
    warmup: int
    n_rows: int = 0


@helper
def per_length(x: Row) -> float:
    """Return 1/|x|, 0 for a row of zeros, NaN for a row that is not finite."""
    size = sqrt(square_norm(x))
    if not SHORTEST < size < LONGEST:
        size = extreme_length(x.values)
    if size - size != 0.0:
        return nan
    return 1.0 / size if size > NO_LENGTH else 0.0


@helper
@seldom
def extreme_length(values: Vector) -> float:
    """Return the length of numbers so small or large that their squares are not."""
    largest, bad = 0.0, 0
    for value in values:
        bad += value - value != 0.0
        largest = max(largest, abs(value))
    if bad > 0 or largest == 0.0:
        return nan if bad > 0 else 0.0
    total = 0.0
    for value in values:
        total += (value / largest) * (value / largest)
    return largest * sqrt(total)


@helper
def finished(buffer: Vector, shrink: float, last: float) -> DenseRow:
    """Shrink a row in its buffer, and append its last feature."""
    d = len(buffer) - 1
    for i in range(d):
        buffer[i] *= shrink
    buffer[d] = last
    return DenseRow(buffer)


@helper
@seldom
def unreadable(buffer: Vector) -> DenseRow:
    """Present NaN in the place of a row that is not finite: the pass finds it in the margin."""
    buffer[:] = nan
    return DenseRow(buffer)


@absorb.of(CentredState)
def centred_absorb(scaling: CentredState, x: Row) -> CentredState:
    mean, buffer, scale = scaling.mean, scaling.buffer, per_length(x)
    if scale != scale:  # the pass will refuse the row
        return scaling
    write_out(x, buffer)
    n_rows = scaling.n_rows + 1
    share = 1.0 / n_rows
    for i in range(len(mean)):
        mean[i] += (scale * buffer[i] - mean[i]) * share
    return scaling._replace(n_rows=n_rows)


@present.of(CentredState)
def centred_present(scaling: CentredState, x: Row) -> DenseRow:
    mean, buffer, scale = scaling.mean, scaling.buffer, per_length(x)
    d = len(mean)
    if scale != scale:
        return unreadable(buffer)
    write_out(x, buffer)
    for i in range(d):
        buffer[i] = scale * buffer[i] - mean[i]
    length = sqrt(lane_dot(buffer[:d], buffer[:d]))
    # Where the row is the mean itself, the difference is rounding, not a direction.
    return finished(buffer, 1.0 / length if length > 1e-12 else 0.0, scaling.bias)


class FoldedCentring(NamedTuple):
    """Centring and weights as one: products with rows as they come say what those of z are."""

    scaling: CentredState  # for rows that are extreme, or next to the mean
    weights: Matrix
    factors: Matrix  # the mean, then the weights of features, then zeros
    found: Matrix  # room: the products of the mean, and of some rows, with themselves and these


@fold.of(CentredState)
def fold_centring(scaling: CentredState, weights: Matrix) -> FoldedCentring:
    n, d = len(weights), len(scaling.mean)
    factors = np.zeros((n + 1 + (1 - n) % 3, d))
    factors[0], factors[1 : 1 + n] = scaling.mean, weights[:, :d]
    own = scaling._replace(mean=factors[0], buffer=np.zeros(d + 1))
    return FoldedCentring(own, weights.copy(), factors, np.zeros((1 + TILE, 1 + len(factors))))


@folded_scores.of(FoldedCentring)
def scores_by_centring(folded: FoldedCentring, X: Rows, start: int, scores: Matrix) -> None:
    factors, found, n = folded.factors, folded.found, len(scores)
    for j in range(found.shape[1] // 3):
        if start == 0:
            three_products(sealed_row(factors[0]), factors, j, found[TILE])
        for t in range(n):
            three_products(row(X, start + t), factors, j, found[t])
    for t in range(n):
        if not from_products(folded, found[t], scores[t]):
            z = present(folded.scaling, row(X, start + t))
            for k in range(scores.shape[1]):
                scores[t, k] = dot(z, folded.weights[k])


@helper
def from_products(folded: FoldedCentring, of_row: Vector, scores: Vector) -> bool:
    """Write the scores of a row with these products; return False if they are not good enough."""
    of_mean, size = folded.found[TILE], sqrt(of_row[0])
    if not SHORTEST < size < LONGEST:
        return False
    unit, last = 1.0 / size, len(folded.scaling.mean)
    square = 1.0 - 2.0 * unit * of_row[1] + of_mean[0]
    if not square > LEAST_SQUARE:
        return False
    shrink = 1.0 / sqrt(square)
    for k in range(len(scores)):
        direction = (unit * of_row[2 + k] - of_mean[2 + k]) * shrink
        scores[k] = direction + folded.scaling.bias * folded.weights[k, last]
    return True


@has_statistics.of(CentredState)
def keeps_statistics(scaling: ScalingState) -> bool:
    return True


@ready.of(CentredState)
def past_warm_up(scaling: ScalingState) -> bool:
    """Tell whether more rows came than the warm-up takes."""
    return bool(scaling.n_rows > scaling.warmup)


in_file(CentredState, "bias", "warmup")
room_for(CentredState, "buffer")
