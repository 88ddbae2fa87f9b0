"""The store in the rows that taught: A⁻¹ = I - Σ u uᵀ, each u a sum of rows that are kept.

The rows of a text have few entries and a width of many thousands, so a matrix of d x d numbers is
out of the question, and a direction of d numbers for each label takes more memory than the rows
themselves. Here each direction is written down by its shares in the kept rows. Nothing is left out
while there is room; the labels of later rows move the weights alone.
"""

from typing import NamedTuple

import numpy as np

from selectron.arrays import Indices, Matrix, Vector
from selectron.compiler.verbs import helper
from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import Row, SparseRow, add_scaled, dot, entry_index, square_norm
from selectron.numeric.sums import lane_dot
from selectron.protocol import flaw, out_of_range, room_for
from selectron.spec import Range
from selectron.updates.covariance import (
    begin_step,
    end_step,
    length_after,
    move,
    score,
    variance_of,
)

ENTRIES_A_ROW = 320  # room for so many on average: 219 words, 100 directions and the constant


class KeptRows(NamedTuple):
    """The weights of one class or many, the rows that are kept, and the directions in them."""

    weights: Matrix  # a row a class; two classes have one row
    entries: Vector  # of the kept rows, one after the other
    columns: Indices
    ends: Indices  # row j has the entries from ends[j] to ends[j + 1]
    shares: Matrix  # direction l is Σ_j shares[l, j] times row j, with j <= l
    along: Vector  # the product of the row at hand with each direction, then the step of each class
    # and at last by how much the squared length of the weights has grown
    mix: Vector  # products of the row at hand with the kept rows, then shares of A⁻¹x in them
    image: Vector  # A⁻¹x within a step, and zeros between steps: d numbers are many to clear
    n_kept: int


def no_rows_kept(d: int, room: int, n: int) -> KeptRows:
    """Start from A = I, with n weight vectors and room for so many rows."""
    entries = min(room * ENTRIES_A_ROW, room * d)
    return KeptRows(
        np.zeros((n, d)),
        np.zeros(entries),
        np.zeros(entries, np.uint32),
        np.zeros(room + 1, np.int64),
        np.zeros((room, room)),
        np.zeros(max(room, n)),
        np.zeros(room),
        np.zeros(d),
        0,
    )


@helper
def kept_row(store: KeptRows, j: int) -> SparseRow:
    """Return a row that is kept."""
    start, end = store.ends[j], store.ends[j + 1]
    return SparseRow(store.entries[start:end], store.columns[start:end])


@helper
def look_along(store: KeptRows, x: Row) -> float:
    """Write the product of the row with each direction; return the sum of their squares.

    The image then holds the row.
    """
    spread, m = store.image, store.n_kept
    add_scaled(x, 1.0, spread)
    for j in range(m):
        store.mix[j] = np.float64(dot(kept_row(store, j), spread))
    for direction in range(m):
        mine = store.shares[direction, : direction + 1]
        store.along[direction] = np.float64(lane_dot(mine, store.mix[: direction + 1]))
    return np.float64(lane_dot(store.along[:m], store.along[:m]))


@score.of(KeptRows)
def kept_score(store: KeptRows, x: Row, k: int) -> float:
    return np.float64(dot(x, store.weights[k]))


@variance_of.of(KeptRows)
def kept_variance(store: KeptRows, x: Row) -> float:
    explained = look_along(store, x)
    for k in range(len(x.values)):
        store.image[entry_index(x, k)] = 0.0
    return np.float64(square_norm(x)) - explained


@begin_step.of(KeptRows)
def kept_begin(store: KeptRows, x: Row) -> None:
    m = store.n_kept  # a step follows the forecast of its row, which has looked along directions
    add_scaled(x, 1.0, store.image)
    store.mix[:m] = 0.0
    for direction in range(m):
        for j in range(direction + 1):
            store.mix[j] -= store.along[direction] * store.shares[direction, j]
    for j in range(m):
        add_scaled(kept_row(store, j), store.mix[j], store.image)


@move.of(KeptRows)
def kept_move(store: KeptRows, k: int, step: float, target: float) -> None:
    store.along[k] = step


@helper
def move_at(store: KeptRows, x: Row) -> float:
    """Move the weights of all classes at the entries of a row, and clear the image there.

    Return by how much their squared length grows.
    """
    growth = 0.0
    for place in range(len(x.values)):
        column = entry_index(x, place)
        moved = store.image[column]
        if moved != 0.0:
            for k in range(len(store.weights)):
                before = store.weights[k, column]
                after = before + store.along[k] * moved
                store.weights[k, column] = after
                growth += (after - before) * (after + before)
            store.image[column] = 0.0
    return growth


@end_step.of(KeptRows)
def kept_end(store: KeptRows, x: Row, share: float) -> KeptRows:
    """Keep the row if there is room for it; otherwise only the weights have learnt.

    The image is zero wherever neither the kept rows nor this one have an entry.
    """
    m, start, n = store.n_kept, store.ends[store.n_kept], len(x.values)
    growth = move_at(store, x)
    for j in range(m):
        growth += move_at(store, kept_row(store, j))
    store.along[0] = growth
    if m == len(store.mix) or start + n > len(store.entries):
        return store
    for k in range(n):
        store.entries[start + k] = x.values[k]
        store.columns[start + k] = entry_index(x, k)
    store.ends[m + 1] = start + n
    narrowing = sqrt(share)
    for j in range(m):
        store.shares[m, j] = narrowing * store.mix[j]
    store.shares[m, m] = narrowing
    return store._replace(n_kept=m + 1)


@length_after.of(KeptRows)
def kept_length(store: KeptRows, before: float) -> float:
    """Go on from the length before: to add up d squares takes longer than a step."""
    return sqrt(max(before * before + store.along[0], 0.0))


@flaw.of(KeptRows)
def wrong_rows(store: KeptRows) -> str:
    """Rows follow each other within the entries, and their columns lie within the width."""
    m, ends = store.n_kept, store.ends
    wrong = out_of_range(store, n_kept=Range(0, len(store.mix)))
    if wrong:
        return wrong
    if ends[0] != 0 or (np.diff(ends[: m + 1]) < 0).any() or ends[m] > len(store.entries):
        return "the rows that are kept do not follow each other"
    return out_of_range(store, columns=Range(0, store.weights.shape[1] - 1))


room_for(KeptRows, "along", "mix", "image")
