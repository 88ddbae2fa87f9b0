"""A forest of random trees on the last labels: concepts that no half-space follows, and drift.

The rows of the last labels are kept. Tree after tree is grown anew on them, so that within some
labels the whole forest is of the present concept. In between a label is counted in the leaf of
every tree to which its row belongs.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

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

CANDIDATES = 3  # random splits a column that a node chooses from
MOST_CANDIDATES = 200
RENEWALS = 3  # how often the whole forest is grown anew while the window fills once
MULTIPLIER, MODULUS = 48271, 2**31 - 1  # Park and Miller's generator: products fit in 64 bits


@dataclass(frozen=True)
class RecentForest(UpdateRule):
    """Let extremely randomised trees vote, grown on the last labels.

    A node draws random splits of its rows, three a column, and takes the one that leaves the
    purest halves. The margin is the mean over the trees of (n₊ - n₋) / (n₊ + n₋ + 1), n the labels
    in the leaf of the row; with many classes the scores are the mean shares of the classes.

    Parameters
    ----------
    window : int
        How many labels count.
    watch : float
        Standard deviations by which the mistakes of late must exceed the earlier ones for a change
        of the concept; labels from before then count no more. 0: never.
    trees : int
        How many trees vote.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron.tracking import RecentForest, TrackingClassifier
    >>> X = np.random.default_rng(0).uniform(-1, 1, (4000, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> clf = TrackingClassifier([RecentForest()]).fit(X[:3000], y[:3000])
    >>> print(bool(clf.score(X[3000:], y[3000:]) > 0.95))
    True
    """

    window: int = 500
    watch: float = 0.0
    trees: int = 20
    NAMED: ClassVar = False
    RANGES: ClassVar = {
        "window": Range(2, 2**20),
        "watch": NOT_NEGATIVE,
        "trees": Range(1, 1000),
    }

    def begin(self, d: int, dtype: DTypeLike) -> "ForestState":
        return ForestState(self._trees(d, 2), 0)

    def many(self, d: int, dtype: DTypeLike, n_classes: int) -> "ManyForestState":
        return ManyForestState(np.zeros(n_classes), self._trees(d, n_classes), 0)

    def _trees(self, d: int, n_classes: int) -> "Trees":
        window, nodes = int(self.window), (int(self.trees), int(self.window))
        return Trees(
            split=np.zeros(nodes, np.int64),
            at=np.zeros(nodes),
            child=np.zeros(nodes, np.int64),
            counts=np.zeros((*nodes, n_classes)),
            rows=np.zeros((window, d)),
            classes=np.zeros(window, np.int64),
            order=np.zeros(window, np.int64),
            ends=np.zeros((window, 2), np.int64),
            left=np.zeros(n_classes),
            row=np.zeros(d),
            mistakes=no_mistakes(window, self.watch),
            candidates=min(CANDIDATES * d, MOST_CANDIDATES),
            luck=1,
            n_grown=0,
        )


class Trees(NamedTuple):
    """The trees, a row each, node by node from the root; and the labels they are grown on."""

    split: NDArray[np.int64]  # the column that a node looks at, counted from 1; 0: a leaf
    at: Matrix  # rows up to here go to the first child, others to the second
    child: NDArray[np.int64]  # the first; the second is the next node
    counts: NDArray[np.float64]  # (trees, nodes, K): labels of each class
    rows: Matrix  # of the last labels, in the ring of `mistakes`
    classes: Indices
    order: Indices  # room: places in the ring, those of a node one after the other
    ends: Indices  # room: where the rows of a node begin and end in `order`
    left: Vector  # room: labels of each class on the first side of a split
    row: Vector  # room for the row at hand
    mistakes: Mistakes
    candidates: int
    luck: int  # the state of the generator
    n_grown: int


class ForestState(NamedTuple):
    """The forest of two classes."""

    trees: Trees
    n_updates: int


class ManyForestState(NamedTuple):
    """The forest of many classes."""

    scores: Vector
    trees: Trees
    n_updates: int


@helper
def next_luck(luck: int) -> int:
    return luck * MULTIPLIER % MODULUS


@helper
def leaf_of(trees: Trees, t: int, x: Vector) -> int:
    """Return the leaf of a tree to which the row belongs."""
    node = 0
    while trees.split[t, node] > 0:
        beyond = x[trees.split[t, node] - 1] > trees.at[t, node]
        node = trees.child[t, node] + (1 if beyond else 0)
    return node


@helper
def impurity(rows: int, left: Vector, counts: Vector, n: int) -> float:
    """Return Gini's impurity of a split with so many of the n rows on its first side."""
    first, second = 0.0, 0.0
    for k in range(len(left)):
        right = counts[k] - left[k]
        first += left[k] * left[k]
        second += right * right
    return n - first / rows - second / (n - rows)


@helper
def range_of(trees: Trees, column: int, begin: int, end: int) -> tuple[float, float]:
    """Return the least and the greatest value of a column among the rows of a node."""
    low = high = trees.rows[trees.order[begin], column]
    for i in range(begin + 1, end):
        value = trees.rows[trees.order[i], column]
        low, high = min(low, value), max(high, value)
    return low, high


@helper
def count_left(trees: Trees, column: int, at: float, begin: int, end: int) -> int:
    """Count the labels of each class on the first side of a split; return how many they are."""
    rows, left = 0, trees.left
    left[:] = 0.0
    for i in range(begin, end):
        place = trees.order[i]
        if trees.rows[place, column] <= at:
            left[trees.classes[place]] += 1.0
            rows += 1
    return rows


@helper
def part_rows(trees: Trees, column: int, at: float, begin: int, end: int) -> int:
    """Put the rows of the first side before the others; return where the others begin."""
    order, i, j = trees.order, begin, end - 1
    while i <= j:
        if trees.rows[order[i], column] <= at:
            i += 1
        else:
            order[i], order[j] = order[j], order[i]
            j -= 1
    return i


@helper
def choose_split(trees: Trees, counts: Vector, begin: int, end: int) -> tuple[int, float, int]:
    """Draw splits; return the column of the purest from 1, 0 if none divides; its place; luck."""
    n, luck = end - begin, trees.luck
    chosen, place, least = 0, 0.0, float(n)
    for _ in range(trees.candidates):
        luck = next_luck(luck)
        column = luck % trees.rows.shape[1]
        luck = next_luck(luck)
        low, high = range_of(trees, column, begin, end)
        at = low + (high - low) * (luck / MODULUS)
        rows = count_left(trees, column, at, begin, end)
        if 0 < rows < n:
            mixed = impurity(rows, trees.left, counts, n)
            if mixed < least:
                chosen, place, least = column + 1, at, mixed
    return chosen, place, luck


@helper
def count_classes(trees: Trees, counts: Vector, begin: int, end: int) -> bool:
    """Count the labels of each class in a node; tell whether there are several classes."""
    counts[:] = 0.0
    several = False
    for i in range(begin, end):
        label = trees.classes[trees.order[i]]
        counts[label] += 1.0
        several |= label != trees.classes[trees.order[begin]]
    return several


@helper
def grow(trees: Trees, t: int) -> Trees:
    """Grow a tree anew on all labels that count, level by level, while there is room for nodes."""
    size, n_nodes, node = trees.mistakes.size, 1, 0
    for age in range(size):
        trees.order[age] = place_of(trees.mistakes, age)
    trees.ends[0, 0], trees.ends[0, 1] = 0, size
    while node < n_nodes:
        begin, end, counts = trees.ends[node, 0], trees.ends[node, 1], trees.counts[t, node]
        trees.split[t, node] = 0
        if count_classes(trees, counts, begin, end) and n_nodes + 2 <= trees.split.shape[1]:
            column, at, luck = choose_split(trees, counts, begin, end)
            trees = trees._replace(luck=luck)
            if column > 0:
                middle = part_rows(trees, column - 1, at, begin, end)
                trees.split[t, node], trees.at[t, node] = column, at
                trees.child[t, node] = n_nodes
                trees.ends[n_nodes, 0], trees.ends[n_nodes, 1] = begin, middle
                trees.ends[n_nodes + 1, 0], trees.ends[n_nodes + 1, 1] = middle, end
                n_nodes += 2
        node += 1
    return trees._replace(n_grown=trees.n_grown + 1)


@helper
def taught(trees: Trees, x: Row, label: int, mistaken: bool) -> Trees:
    """Keep the label, count it in every tree, and grow one tree anew, or all after a change."""
    n_trees, place = len(trees.split), trees.mistakes.end
    write_out(x, trees.rows[place])
    trees.classes[place] = label
    for t in range(n_trees):
        trees.counts[t, leaf_of(trees, t, trees.rows[place]), label] += 1.0
    mistakes = noted(trees.mistakes, mistaken)
    size = size_since_change(mistakes)
    changed = size < mistakes.size
    trees = trees._replace(mistakes=mistakes._replace(size=size))
    # `end` runs through the ring, so that it counts the labels between two growths.
    due = mistakes.end % max(size // (RENEWALS * n_trees), 1) == 0 or size < 2 * n_trees
    for _ in range(n_trees if changed else (1 if due else 0)):
        trees = grow(trees, trees.n_grown % n_trees)
    return trees


@glance.of(ForestState)
@apart
def forest_glance(update: ForestState, x: Row) -> Forecast:
    trees = update.trees
    write_out(x, trees.row)
    total = 0.0
    for t in range(len(trees.split)):
        leaf = leaf_of(trees, t, trees.row)
        minus, plus = trees.counts[t, leaf, 0], trees.counts[t, leaf, 1]
        total += (plus - minus) / (plus + minus + 1.0)
    margin = total / len(trees.split) + unread(trees.row)
    return Forecast(margin, 1.0, 1.0, 0.0, True)


@glance.of(ManyForestState)
@apart
def many_forest_glance(update: ManyForestState, x: Row) -> ManyForecast:
    trees, scores = update.trees, update.scores
    write_out(x, trees.row)
    scores[:] = unread(trees.row)
    for t in range(len(trees.split)):
        counts, total = trees.counts[t, leaf_of(trees, t, trees.row)], 1.0
        for k in range(len(scores)):
            total += counts[k]
        for k in range(len(scores)):
            scores[k] += counts[k] / (total * len(trees.split))
    found = lead(scores)
    return ManyForecast(found.margin, 1.0, 1.0, 0.0, True, found.best, found.second)


predict.of(ForestState, ManyForestState)(already_exact)


@learn.of(ForestState)
@apart
def forest_learn(update: ForestState, x: Row, y: float, forecast: Forecast) -> ForestState:
    plus = y > 0.0
    trees = taught(update.trees, x, 1 if plus else 0, (forecast.margin > 0.0) != plus)
    return ForestState(trees, update.n_updates + 1)


@learn.of(ManyForestState)
@apart
def many_forest_learn(
    update: ManyForestState, x: Row, y: float, forecast: ManyForecast
) -> ManyForestState:
    trees = taught(update.trees, x, int(y), forecast.best != int(y))
    return update._replace(trees=trees, n_updates=update.n_updates + 1)


@flaw.of(Trees)
def trees_flaw(trees: Trees) -> str:
    """Refuse nodes that lead back, or out of an array: compiled code would follow them."""
    n_nodes, d = trees.split.shape[1], trees.rows.shape[1]
    inner = trees.split > 0
    later = trees.child > np.arange(n_nodes)
    if trees.split.min() < 0 or trees.split.max() > d:
        return f"a tree splits by column {trees.split.max()} of {d}"
    if not (later & (trees.child < n_nodes - 1))[inner].all():
        return "a node of a tree leads nowhere"
    if trees.classes.min() < 0 or trees.classes.max() >= len(trees.left):
        return f"a label of class {trees.classes.max()} of {len(trees.left)}"
    return "" if 0 < trees.luck < MODULUS else f"luck of {trees.luck}"


room_for(Trees, "row")
