"""Which rows stand for many others: such rows are worth a question while labels are few."""

from typing import NamedTuple

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.compiler.verbs import helper
from selectron.numeric.elementary import exponential, logarithm
from selectron.numeric.rows import WIDEST_KEPT, Row, write_out, writes_out
from selectron.numeric.sums import lane_dot
from selectron.protocol import flaw, out_of_range
from selectron.spec import NOT_NEGATIVE, SHARE, Range

KEPT = 256  # rows: the first ones stand for the stream, unless they are too wide to keep
FIRST_QUESTIONS, FIRST_SHARE, TRACK = 15, 0.1, 2.0
POWER, FOLLOW, LEAST_GAIN = 0.7, 0.05, 1e-4
LEAST_ROWS = 10  # among fewer rows, none stands for others
LEAST_USUAL = 1e-6  # below it all rows are covered: the same few come again and again
NONE_AT_HAND = -1.0


class Coverage(NamedTuple):
    """How near the first rows are to those that were asked for; nearness is an inner product."""

    rows: Matrix  # the rows that are kept; the last one is the row at hand
    nearest: Vector  # for each row: its product with the nearest row asked for, or its mean product
    products: Vector  # for each row: its product with the row at hand
    asked: Vector  # 1 for each row that was asked for itself
    n_rows: int = 0
    kept: bool = False  # the row at hand is the latest of the rows
    gain: float = NONE_AT_HAND  # how much nearer a question would bring the rows, on average
    usual: float = 0.0  # the usual gain
    limit: float = 0.0  # the first questions need a gain as large; 0: not set yet
    share: float = FIRST_SHARE  # of the rows that the first questions shall have


def fresh_coverage(d: int, share: float = FIRST_SHARE, *, used: bool = True) -> Coverage:
    """Return the coverage before the first row; it keeps no rows that are too wide."""
    room = KEPT if used and d <= WIDEST_KEPT + 1 else 0  # one column may be the constant
    nearest, products, asked = np.zeros((3, room))
    return Coverage(np.zeros((room + 1, d)), nearest, products, asked, share=share)


@helper
def with_row(coverage: Coverage, x: Row) -> Coverage:
    """Return the coverage with x as the row at hand; x is kept if there is room."""
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
    return coverage._replace(n_rows=n + kept, kept=kept, gain=gain / max(n, 1))


@helper
def speaks(coverage: Coverage) -> bool:
    """Tell whether the coverage has something to say about the row at hand."""
    if coverage.gain < 0.0 or coverage.n_rows <= LEAST_ROWS:
        return False
    return coverage.gain > 0.0 or coverage.usual > LEAST_USUAL


@helper
def stands_out(coverage: Coverage) -> bool:
    """Tell whether the row at hand is worth one of the first questions."""
    return coverage.gain >= coverage.limit


@helper
def weight(coverage: Coverage) -> float:
    """Return the number by which the certainty of the row at hand is divided."""
    if not speaks(coverage) or coverage.usual == 0.0:
        return 1.0
    ratio = max(coverage.gain, LEAST_GAIN) / max(coverage.usual, LEAST_GAIN)
    return exponential(POWER * logarithm(ratio))


@helper
def after_decision(coverage: Coverage, asked: bool, first: bool) -> Coverage:
    """Return the coverage after the decision on the row at hand."""
    gain, usual, limit = coverage.gain, coverage.usual, coverage.limit
    if gain < 0.0:
        return coverage
    usual = gain if usual == 0.0 else usual + FOLLOW * (gain - usual)
    if first:
        limit = gain if limit == 0.0 else limit
        # The shorter they last, the faster the limit has to find its level.
        step = TRACK * coverage.share
        limit *= exponential(step * ((1.0 if asked else 0.0) - coverage.share))
    if asked:
        nearest, products = coverage.nearest, coverage.products
        for k in range(coverage.n_rows):
            nearest[k] = max(nearest[k], products[k])
        if coverage.kept:
            coverage.asked[coverage.n_rows - 1] = 1.0
    return coverage._replace(kept=False, gain=NONE_AT_HAND, usual=usual, limit=limit)


@flaw.of(Coverage)
def wrong_coverage(coverage: Coverage) -> str:
    """The rows that count are among those kept; the latest of them may be the one at hand."""
    n_rows = Range(int(coverage.kept), len(coverage.products))
    return out_of_range(
        coverage, n_rows=n_rows, usual=NOT_NEGATIVE, limit=NOT_NEGATIVE, share=SHARE
    )
