"""The rows of the latest labels, and what each of them is in the prototypes of the classes."""

from typing import NamedTuple

import numpy as np

from selectron.arrays import Indices, Matrix, Vector
from selectron.compiler.verbs import helper
from selectron.numeric.rows import Row, add_scaled
from selectron.numeric.sums import lane_dot
from selectron.updates.known_classes import weight_of


class Notebook(NamedTuple):
    rows: Matrix  # (m, d)
    classes: Indices
    duals: Matrix  # (m, K): how much of a row is in each prototype
    n_written: int
    turn: int  # whose turn it is to be gone over


def fresh_notebook(memory: int, d: int, n_classes: int) -> Notebook:
    return Notebook(
        np.zeros((memory, d)), np.zeros(memory, np.int64), np.zeros((memory, n_classes)), 0, 0
    )


@helper
def written(notebook: Notebook, x: Row, label: int) -> Notebook:
    """Write a row down, over the oldest if there is no room; what that one taught stays."""
    rows, classes, duals, n_written, turn = notebook
    place = n_written % len(rows)
    rows[place] = 0.0
    add_scaled(x, 1.0, rows[place])
    classes[place] = label
    duals[place] = 0.0
    return Notebook(rows, classes, duals, n_written + 1, turn)


@helper
def revisit(
    notebook: Notebook, place: int, weights: Matrix, counts: Vector, scores: Vector
) -> None:
    """Set what a row is in each prototype to the best there is, all else being as it is.

    Its class shall lead each other known one by 1. With a lead of l the dual of that other class is
    best at weight (1 - l), or at 0 where l is more than 1; and l grows by 2|x|² times the dual.
    """
    row, duals = notebook.rows[place], notebook.duals[place]
    label = notebook.classes[place]
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
                add_to(weights[k], -change, row)
    if gained != 0.0:
        add_to(weights[label], gained, row)


@helper
def add_to(prototype: Vector, step: float, row: Vector) -> None:
    for i in range(len(row)):
        prototype[i] += step * row[i]


@helper
def rehearse(
    notebook: Notebook, visits: int, weights: Matrix, counts: Vector, scores: Vector
) -> Notebook:
    """Go over the newest row, some of the others in turn, and the newest again."""
    rows, n_written, turn = notebook.rows, notebook.n_written, notebook.turn
    kept, newest = min(n_written, len(rows)), (n_written - 1) % len(rows)
    for visit in range(visits + 2):
        place = newest
        if 0 < visit <= visits:
            turn = (turn + 1) % kept
            place = turn
        revisit(notebook, place, weights, counts, scores)
    return notebook._replace(turn=turn)
