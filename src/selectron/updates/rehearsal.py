"""Prototypes that lead by one, earlier labels gone over again: the default's update for many."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from selectron.arrays import Indices, Matrix, Vector
from selectron.compiler.verbs import helper
from selectron.numeric.rows import DenseRow, Row, add_scaled
from selectron.numeric.sums import lane_dot
from selectron.protocol import (
    ManyForecast,
    chances,
    flaw,
    glance,
    hypothesis,
    in_file,
    learn,
    out_of_range,
    predict,
    product_weights,
    room_for,
)
from selectron.spec import NOT_NEGATIVE, Range, UpdateRule
from selectron.updates.class_ridge import KnownClasses, TwoPrototypes, weight_of
from selectron.updates.covariance import (
    Covariance,
    begin_step,
    class_belief,
    class_belief_glance,
    class_belief_hypothesis,
    class_belief_predict,
    end_step,
    length_of,
    weight_of_label,
    weights_of_products,
)
from selectron.updates.sharpness import (
    UNTAUGHT_SOFTMAX,
    Softmax,
    chances_of_scores,
    sharpened_among,
)


@dataclass(frozen=True)
class Rehearsal(UpdateRule):
    """A prototype a class: that of the label shall lead every other by one.

    What is missing counts squared, beside the squares of the prototypes ([WW99]). There is no
    closed form of the minimum, and labels learnt once each stay behind it. So the rows of the
    latest labels are kept, and with each new one some of them are gone over in turn: what a row is
    in the prototypes is set to the best there is with all else as it is ([HCLKS08]). Labels of a
    class that has had fewer than its share count for up to four, and a class does not compete
    before a label names it. A⁻¹ of all labels tells how certain a lead is.

    Parameters
    ----------
    memory : int
        How many labels are kept, each with its row. Those before them stay learnt.
    visits : int
        How many of them are gone over with each label.

    Examples
    --------
    >>> from selectron import SelectiveClassifier, updates
    >>> clf = SelectiveClassifier(updates.Rehearsal(), "always")
    >>> clf.fit([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]], ["a", "b", "c"]).coef_.round(3).tolist()
    [[-0.196, 0.664], [-0.029, -0.624], [0.226, -0.04]]
    """

    memory: int = 1024
    visits: int = 64
    HAS_SCALE: ClassVar = True
    RANGES: ClassVar = {"memory": Range(1, 1_000_000), "visits": Range(0, 1_000_000)}

    def begin(self, d: int, dtype: DTypeLike) -> TwoPrototypes:
        return TwoPrototypes(self.many(d, dtype, 2), 0.0, 0)

    def many(self, d: int, dtype: DTypeLike, n_classes: int) -> "RehearsalState":
        store, rule, scores, *_ = class_belief(KnownClasses(np.zeros(n_classes)), d, 1.0, n_classes)
        m = int(self.memory)
        memory = Memory(np.zeros((m, d)), np.zeros(m, np.int64), np.zeros((m, n_classes)), 0, 0)
        return RehearsalState(
            store, memory, rule, scores, UNTAUGHT_SOFTMAX, int(self.visits), 0.0, 0
        )


class Memory(NamedTuple):
    """The rows of the latest labels, and how much of each is in the prototypes."""

    rows: Matrix  # (m, d)
    classes: Indices
    duals: Matrix  # (m, K): how much of a row is in each prototype
    n_written: int
    turn: int  # the place that was last gone over in turn


class RehearsalState(NamedTuple):
    store: Covariance
    memory: Memory
    rule: KnownClasses
    scores: Vector
    softmax: Softmax
    visits: int
    norm: float
    n_updates: int


glance.of(RehearsalState)(class_belief_glance)
predict.of(RehearsalState)(class_belief_predict)
hypothesis.of(RehearsalState)(class_belief_hypothesis)
product_weights.of(RehearsalState)(weights_of_products)


@learn.of(RehearsalState)
def rehearse(update: RehearsalState, x: Row, y: float, forecast: ManyForecast) -> RehearsalState:
    """Narrow A⁻¹ by the label; the memory, not A⁻¹, moves the weights."""
    label = int(y)
    softmax = sharpened_among(update.softmax, update.rule.counts, update.scores, label)
    weight = weight_of_label(update.rule, label, -1, update.scores)
    begin_step(update.store, x)
    store = end_step(update.store, x, weight / (1.0 + weight * forecast.variance))
    memory = rehearsed(written(update.memory, x, label), update)
    norm, n_updates = length_of(store), update.n_updates + 1
    return update._replace(memory=memory, softmax=softmax, norm=norm, n_updates=n_updates)


@helper
def written(memory: Memory, x: Row, label: int) -> Memory:
    """Write a row down, over the oldest if there is no room; what the oldest taught stays."""
    rows, classes, duals, n_written, turn = memory
    place = n_written % len(rows)
    rows[place] = 0.0
    add_scaled(x, 1.0, rows[place])
    classes[place] = label
    duals[place] = 0.0
    return Memory(rows, classes, duals, n_written + 1, turn)


@helper
def rehearsed(memory: Memory, update: RehearsalState) -> Memory:
    """Go over the newest row, some of the others in turn, and the newest again."""
    n_written, turn, size = memory.n_written, memory.turn, len(memory.rows)
    kept, newest = min(n_written, size), (n_written - 1) % size
    for visit in range(update.visits + 2):
        place = newest
        if 0 < visit <= update.visits:
            turn = (turn + 1) % kept
            place = turn
        revisit(memory, place, update.store.weights, update.rule.counts, update.scores)
    return memory._replace(turn=turn)


@helper
def revisit(memory: Memory, place: int, weights: Matrix, counts: Vector, scores: Vector) -> None:
    """Set what a row is in each prototype to the best there is, all else being as it is.

    Its class shall lead each other known one by 1. With a lead of l the dual of that other class is
    best at weight (1 - l), or at 0 where l is more than 1; and l grows by 2|x|² times the dual.
    """
    row, duals = memory.rows[place], memory.duals[place]
    label = memory.classes[place]
    softness = 1.0 / weight_of(label, counts)
    square = np.float64(lane_dot(row, row))
    for k in range(len(weights)):
        scores[k] = lane_dot(weights[k], row)
    gained = 0.0
    for k in range(len(weights)):
        if k != label and counts[k] > 0.0:
            missing = 1.0 - (scores[label] - scores[k])
            change = (missing - softness * duals[k]) / (2.0 * square + softness)
            change = max(change, -duals[k])
            if change != 0.0:
                duals[k] += change
                scores[label] += change * square
                gained += change
                add_scaled(DenseRow(row), -change, weights[k])
    if gained != 0.0:
        add_scaled(DenseRow(row), gained, weights[label])


@chances.of(RehearsalState)
def chances_by_softmax(update: RehearsalState, scores: Matrix) -> Matrix:
    return chances_of_scores(scores, update.softmax.sharpness)


in_file(RehearsalState, "visits", norm=NOT_NEGATIVE)
room_for(RehearsalState, "scores")


@flaw.of(Memory)
def wrong_place_or_class(memory: Memory) -> str:
    """A row that is gone over again names a place in the memory and a class."""
    size, n_classes = memory.duals.shape
    return out_of_range(memory, turn=Range(0, size - 1), classes=Range(0, n_classes - 1))
