"""The store in the rows that taught: A⁻¹ = I - Σ s g gᵀ, with a direction g for each row kept.

The rows of a text have few entries and a width of many thousands, so a matrix of d x d numbers is
out of the question, and a direction of d numbers for each label takes more memory than the rows
themselves. Lesson j moves the weights along g_j = A⁻¹x_j, where A is that of the lessons before it:

    g_j = x_j - Σ_i c_ji g_i,   c_ji = s_i (g_i · x_j),   i < j

So the store keeps the rows, the shares s, the couplings c, and how far each lesson went. These give
the products of any row with all directions by forward substitution, and with them its variance and
its scores. Nothing is left out while there is room; the labels of later rows move the weights
alone.

The weights themselves are needed for glances. They are written out behind the lessons, by backward
substitution: at every eighth lesson anew from all rows, in between by the direction of each
lesson. Their bits depend on the lessons alone, not on when they were written out.
"""

from typing import NamedTuple

import numpy as np

from selectron.arrays import Indices, Matrix, Vector
from selectron.compiler.verbs import helper
from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import Row, SparseRow, add_scaled, dot, entry_index, square_norm
from selectron.numeric.sums import lane_dot
from selectron.protocol import flaw, in_file, out_of_range, room_for
from selectron.spec import NOT_NEGATIVE, Range
from selectron.updates.covariance import (
    begin_step,
    caught_up,
    end_step,
    exact_score,
    has_exact_scores,
    length_after,
    length_caught_up,
    move,
    postponed,
    score,
    variance_of,
)

ENTRIES_A_ROW = 320  # room for so many on average: 219 words, 100 directions and the constant
LEAST_TAIL = 16  # entries side by side at the end of a row, from which on they are read as such
ANEW_EVERY = 8  # lessons: writing weights out anew takes as long as two directions


class KeptRows(NamedTuple):
    """The rows that are kept, what their lessons were, and the weights that follow from them."""

    weights: Matrix  # after `n_written` lessons; a row a class, two classes have one row
    entries: Vector  # of the kept rows, one after the other
    columns: Indices
    ends: Indices  # row j has the entries from ends[j] to ends[j + 1]
    tails: Indices  # so many entries of row j are those of the last columns
    couplings: Matrix  # c_ji
    shares: Vector  # s_j
    steps: Matrix  # how far the weights of class k went along direction j
    along: Vector  # the products of the row at hand with each direction
    coupling: Vector  # of the row at hand, times shares
    step: Vector  # of the row at hand: how far the weights of each class go
    parts: Matrix  # how much of each row is in the weights of each class, while they are written
    image: Vector  # one row written out, and zeros between calls: d numbers are many to clear
    n_kept: int
    n_written: int
    square: float  # the squared length of the weights
    n_beyond: int  # lessons for which there was no room
    waiting: int  # 1: the weights are written out after the last lesson of a pass


def no_rows_kept(d: int, room: int, n: int) -> KeptRows:
    """Start from A = I, with n weight vectors and room for so many rows."""
    entries = min(room * ENTRIES_A_ROW, room * d)
    return KeptRows(
        np.zeros((n, d)),
        np.zeros(entries),
        np.zeros(entries, np.uint32),
        np.zeros(room + 1, np.int64),
        np.zeros(room, np.int64),
        np.zeros((room, room)),
        np.zeros(room),
        np.zeros((n, room)),
        np.zeros(room),
        np.zeros(room),
        np.zeros(n),
        np.zeros((n, room)),
        np.zeros(d),
        0,
        0,
        0.0,
        0,
        0,
    )


@helper
def kept_row(store: KeptRows, j: int) -> SparseRow:
    """Return a row that is kept."""
    start, end = store.ends[j], store.ends[j + 1]
    return SparseRow(store.entries[start:end], store.columns[start:end])


# A forecast.


@score.of(KeptRows)
def kept_score(store: KeptRows, x: Row, k: int) -> float:
    return np.float64(dot(x, store.weights[k]))


@variance_of.of(KeptRows)
def kept_variance(store: KeptRows, x: Row) -> float:
    """Find the products of the row with all directions, and from them its variance."""
    m, along, coupling = store.n_kept, store.along, store.coupling
    tail = tail_of(x, len(store.image))
    add_scaled(x, 1.0, store.image)
    for j in range(m):
        own = product_with(store, j, tail)
        along[j] = own - np.float64(lane_dot(store.couplings[j, :j], along[:j]))
        coupling[j] = store.shares[j] * along[j]
    for k in range(len(x.values)):
        store.image[entry_index(x, k)] = 0.0
    return np.float64(square_norm(x)) - np.float64(lane_dot(coupling[:m], along[:m]))


@helper
def tail_of(x: Row, d: int) -> int:
    """Return how many entries are those of the last columns: directions, and a constant."""
    n = len(x.values)
    tail = 0
    while tail < n and entry_index(x, n - 1 - tail) == d - 1 - tail:
        tail += 1
    return tail


@helper
def product_with(store: KeptRows, j: int, tail: int) -> float:
    """Return the product of row j with the row in the image, which has this tail."""
    start, end = store.ends[j], store.ends[j + 1]
    common = min(tail, store.tails[j])
    if common < LEAST_TAIL:
        return np.float64(dot(kept_row(store, j), store.image))
    head = SparseRow(store.entries[start : end - common], store.columns[start : end - common])
    last = np.float64(lane_dot(store.entries[end - common : end], store.image[-common:]))
    return np.float64(dot(head, store.image)) + last


@has_exact_scores.of(KeptRows)
def knows_scores(store: KeptRows) -> bool:
    return store.n_beyond == 0


@exact_score.of(KeptRows)
def score_by_lessons(store: KeptRows, k: int) -> float:
    """Add up what each lesson moved the score of the row whose variance was found last."""
    m = store.n_kept
    return np.float64(lane_dot(store.steps[k, :m], store.along[:m]))


# A lesson: it follows the forecast of its row, which has found the products.


@begin_step.of(KeptRows)
def kept_begin(store: KeptRows, x: Row) -> None:
    """Leave the direction to the couplings, which the forecast has found."""


@move.of(KeptRows)
def kept_move(store: KeptRows, k: int, step: float, target: float) -> None:
    store.step[k] = step


@end_step.of(KeptRows)
def kept_end(store: KeptRows, x: Row, share: float) -> KeptRows:
    """Keep the row if there is room for it and was for all before; otherwise move weights alone."""
    m, start, n = store.n_kept, store.ends[store.n_kept], len(x.values)
    full = m == len(store.shares) or start + n > len(store.entries)
    if full or store.n_beyond > 0:
        store = written_out(store)
        square = store.square + moved_along(store, m, x, store.coupling, store.step)
        return store._replace(square=square, n_beyond=store.n_beyond + 1)
    for k in range(n):
        store.entries[start + k] = x.values[k]
        store.columns[start + k] = entry_index(x, k)
    store.ends[m + 1] = start + n
    store.tails[m] = tail_of(x, len(store.image))
    for j in range(m):
        store.couplings[m, j] = store.coupling[j]
    store.shares[m] = share
    for k in range(len(store.step)):
        store.steps[k, m] = store.step[k]
    store = store._replace(n_kept=m + 1)
    return store if store.waiting == 1 else written_out(store)


@length_caught_up.of(KeptRows)
@length_after.of(KeptRows)
def kept_length(store: KeptRows, before: float) -> float:
    """Return the length of the weights; while they wait to be written, any that is not zero."""
    if store.n_written < store.n_kept:
        return before if before > 0.0 else 1.0
    return sqrt(max(store.square, 0.0))


# The weights are written out.


@postponed.of(KeptRows)
def let_weights_wait(store: KeptRows) -> KeptRows:
    return store._replace(waiting=1)


@caught_up.of(KeptRows)
def weights_caught_up(store: KeptRows) -> KeptRows:
    return written_out(store)._replace(waiting=0)


@helper
def written_out(store: KeptRows) -> KeptRows:
    """Bring the weights up to the last row that is kept."""
    whole = store.n_kept - store.n_kept % ANEW_EVERY
    if store.n_written < whole:
        store = written_anew(store, whole)
    square = store.square
    for j in range(store.n_written, store.n_kept):
        row, steps = kept_row(store, j), store.steps[:, j]
        square += moved_along(store, j, row, store.couplings[j], steps)
    return store._replace(n_written=store.n_kept, square=square)


@helper
def written_anew(store: KeptRows, m: int) -> KeptRows:
    """Write out the weights after the first m lessons: Σ_j steps_kj g_j, in terms of the rows."""
    weights, parts = store.weights, store.parts
    for e in range(store.ends[store.n_written]):
        for k in range(len(weights)):
            weights[k, store.columns[e]] = 0.0
    for k in range(len(weights)):
        for j in range(m):
            parts[k, j] = store.steps[k, j]
    resolve(store, parts, m)
    square = 0.0
    for k in range(len(weights)):
        mine = parts[k]
        for j in range(m):
            add_scaled(kept_row(store, j), mine[j], weights[k])
        for j in range(m):
            square += mine[j] * np.float64(dot(kept_row(store, j), weights[k]))
    return store._replace(n_written=m, square=square)


@helper
def resolve(store: KeptRows, parts: Matrix, m: int) -> None:
    """Turn sums of m directions, one a row, into sums of kept rows: each brings in those before."""
    for j in range(m - 1, -1, -1):
        for k in range(len(parts)):
            part = parts[k, j]
            for i in range(j):
                parts[k, i] -= part * store.couplings[j, i]


@helper
def moved_along(store: KeptRows, m: int, x: Row, coupling: Vector, steps: Vector) -> float:
    """Move the weights along the direction of a row that came after m others.

    Return by how much their squared length grows. The image is zero wherever neither the rows
    before nor this one have an entry.
    """
    mine = store.parts[0]
    for j in range(m):
        mine[j] = -coupling[j]
    resolve(store, store.parts[:1], m)
    add_scaled(x, 1.0, store.image)
    for j in range(m):
        add_scaled(kept_row(store, j), mine[j], store.image)
    growth = move_at(store, x, steps)
    for j in range(m):
        growth += move_at(store, kept_row(store, j), steps)
    return growth


@helper
def move_at(store: KeptRows, x: Row, steps: Vector) -> float:
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
                after = before + steps[k] * moved
                store.weights[k, column] = after
                growth += (after - before) * (after + before)
            store.image[column] = 0.0
    return growth


@flaw.of(KeptRows)
def wrong_rows(store: KeptRows) -> str:
    """Rows follow each other within the entries, and their columns lie within the width."""
    m, ends = store.n_kept, store.ends
    wrong = out_of_range(
        store, n_kept=Range(0, len(store.shares)), n_written=Range(m, m), shares=NOT_NEGATIVE
    )
    if wrong:
        return wrong
    if ends[0] != 0 or (np.diff(ends[: m + 1]) < 0).any() or ends[m] > len(store.entries):
        return "the rows that are kept do not follow each other"
    if (store.tails < 0).any() or (store.tails[:m] > np.diff(ends[: m + 1])).any():
        return "a row that is kept has a tail that is longer than the row"
    return out_of_range(store, columns=Range(0, store.weights.shape[1] - 1))


in_file(KeptRows, "waiting")
room_for(KeptRows, "along", "coupling", "step", "parts", "image")
