"""Which rows stand for many others: those are worth asking about while labels are few."""

from typing import NamedTuple

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.compiler.verbs import helper
from selectron.numeric.elementary import exponential, logarithm
from selectron.numeric.rows import WIDEST_KEPT, Row, write_out, writes_out
from selectron.numeric.sums import lane_dot

KEPT = 256  # the first rows stand for the stream, unless they are too wide to keep
FIRST_QUESTIONS, FIRST_SHARE, TRACK = 15, 0.1, 0.2
POWER, FOLLOW, LEAST_GAIN = 0.7, 0.05, 1e-4
LEAST_ROWS = 10  # before there are as many, none of them stands for others
LEAST_USUAL = 1e-6  # below it all rows are covered: they are few, again and again
NONE_AT_HAND = -1.0


class Coverage(NamedTuple):
    """How near the first rows are to those that were asked for, nearness being a product."""

    rows: Matrix  # the last one is the row at hand
    nearest: Vector  # of each row: to the nearest that was asked for, at least its mean product
    products: Vector  # of each row with the row at hand
    asked: Vector  # 1 for each row that was asked for itself
    n_rows: int
    kept: bool  # the row at hand is the latest of them
    gain: float  # how much nearer a question about the row at hand brings them, on average
    usual: float  # gain
    limit: float  # of the gain, from which on the first questions are asked; 0: not set yet


def fresh_coverage(d: int, *, used: bool = True) -> Coverage:
    room = KEPT if used and d <= WIDEST_KEPT + 1 else 0  # one column may be the constant
    nothing = np.zeros(room), np.zeros(room), np.zeros(room)
    return Coverage(np.zeros((room + 1, d)), *nothing, 0, False, NONE_AT_HAND, 0.0, 0.0)


@helper
def regarded(coverage: Coverage, x: Row) -> Coverage:
    """Return the coverage with x at hand, kept if there is room."""
    if not writes_out(x) or len(coverage.products) == 0:
        return coverage
    rows, nearest, products, asked = coverage[:4]
    n = coverage.n_rows
    at_hand = rows[len(products)]
    write_out(x, at_hand)
    gain, total, near = 0.0, 0.0, 0.0
    for k in range(n):
        products[k] = lane_dot(rows[k], at_hand)
        total += products[k]
        gain += max(products[k] - nearest[k], 0.0)
        if asked[k] > 0.0:
            near = max(near, products[k])
    kept = n < len(products)
    if kept:
        write_out(x, rows[n])
        products[n] = lane_dot(at_hand, at_hand)
        nearest[n] = max(near, total / max(n, 1))
    gain /= max(n, 1)
    usual, limit = coverage.usual, coverage.limit
    return Coverage(rows, nearest, products, asked, n + kept, kept, gain, usual, limit)


@helper
def speaks(coverage: Coverage) -> bool:
    """Tell whether there is anything to be said of the row at hand."""
    if coverage.gain < 0.0 or coverage.n_rows <= LEAST_ROWS:
        return False
    return coverage.gain > 0.0 or coverage.usual > LEAST_USUAL


@helper
def stands_out(coverage: Coverage) -> bool:
    """Tell whether the row at hand is worth one of the first questions."""
    return coverage.gain >= coverage.limit


@helper
def weight(coverage: Coverage) -> float:
    """Return what certainties about the row at hand are divided by."""
    if not speaks(coverage) or coverage.usual == 0.0:
        return 1.0
    ratio = max(coverage.gain, LEAST_GAIN) / max(coverage.usual, LEAST_GAIN)
    return exponential(POWER * logarithm(ratio))


@helper
def decided(coverage: Coverage, asked: bool, first: bool) -> Coverage:
    """Return the coverage after the decision on the row at hand."""
    gain, usual, limit = coverage.gain, coverage.usual, coverage.limit
    if gain < 0.0:
        return coverage
    usual = gain if usual == 0.0 else usual + FOLLOW * (gain - usual)
    if first:
        limit = gain if limit == 0.0 else limit
        limit *= exponential(TRACK * ((1.0 if asked else 0.0) - FIRST_SHARE))
    rows, nearest, products, flags = coverage[:4]
    if asked:
        for k in range(coverage.n_rows):
            nearest[k] = max(nearest[k], products[k])
        if coverage.kept:
            flags[coverage.n_rows - 1] = 1.0
    n_rows = coverage.n_rows
    return Coverage(rows, nearest, products, flags, n_rows, False, NONE_AT_HAND, usual, limit)
