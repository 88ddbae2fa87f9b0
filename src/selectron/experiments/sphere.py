"""Half-spaces on the unit sphere, where the error of a hypothesis is an angle."""

from collections.abc import Iterator
from math import acos, pi

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.classifier.machine import Machine
from selectron.classifier.rules import Rules
from selectron.loop import UPDATED, Log
from selectron.numeric.rows import Dense
from selectron.protocol import hypothesis
from selectron.scalings import Raw
from selectron.spec import Spec

BLOCK = 4096
SILENT = Log.of(0)
NO_FORECASTS = np.empty((0, 4))


def error(target: Vector, weights: Vector) -> float:
    """Return the share of the sphere on which two half-spaces differ: their angle over π."""
    length = float(np.linalg.norm(weights))
    if length == 0.0:
        return 0.5
    return acos(min(1.0, max(-1.0, float(target @ weights) / length))) / pi


def points(rng: np.random.Generator, n: int, d: int) -> Matrix:
    X = rng.standard_normal((n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X


def labels_by_streaming(
    update: Spec, query: Spec, d: int, errors: Vector, seed: int, most_rows: int
) -> list[int | None]:
    """Return the labels asked when each error was first reached, drawing the rows one by one."""
    rng = np.random.default_rng(seed)
    target = points(rng, 1, d)[0]
    machine = Machine(Rules(Raw(), update, query), d, np.dtype(np.float64), seed)
    reached: list[int | None] = []
    for now in _updates(machine, rng, target, most_rows):
        while len(reached) < len(errors) and now <= errors[len(reached)]:
            reached.append(machine.n_asked)
        if len(reached) == len(errors):
            break
    return reached + [None] * (len(errors) - len(reached))


def _updates(
    machine: Machine, rng: np.random.Generator, target: Vector, most_rows: int
) -> Iterator[float]:
    while machine.n_seen < most_rows:
        X = points(rng, BLOCK, machine.d)
        signs = np.where(X @ target > 0.0, 1, -1).astype(np.int8)
        done = 0
        while done < BLOCK:
            stop = machine.run(Dense(X), signs, log=SILENT, first=done, pause=True)
            done = stop.position
            if stop.status == UPDATED:
                yield error(target, hypothesis(machine.state.update))


def labels_inside_the_band(
    update: Spec, query: Spec, d: int, errors: Vector, seed: int, most_labels: int
) -> list[int | None]:
    """Return the same for a rule that asks inside a band and heeds nothing outside.

    Only the rows inside are drawn, from their exact distribution, so that the millions between two
    questions at an error of one in a million cost nothing.
    """
    if d < 3:
        raise ValueError(f"the band is drawn from its density, which is for d >= 3, got {d=}")
    rng = np.random.default_rng(seed)
    target = points(rng, 1, d)[0]
    machine = Machine(Rules(Raw(), update, query), d, np.dtype(np.float64), seed)
    reached: list[int | None] = []
    for n_labels in range(1, most_labels + 1):
        state = machine.state
        weights = hypothesis(state.update)
        first = n_labels == 1
        x = points(rng, 1, d)[0] if first else inside(rng, weights, state.query.threshold)
        sign = np.array([1 if x @ target > 0.0 else -1], np.int8)
        machine.lesson(Dense(x[np.newaxis]), sign, NO_FORECASTS, fresh=False)
        now = error(target, hypothesis(machine.state.update))
        while len(reached) < len(errors) and now <= errors[len(reached)]:
            reached.append(n_labels)
        if len(reached) == len(errors):
            break
    return reached + [None] * (len(errors) - len(reached))


def inside(rng: np.random.Generator, weights: Vector, width: float) -> Vector:
    """Draw a point of the sphere whose margin is at most `width`."""
    d = len(weights)
    axis = weights / np.linalg.norm(weights)
    width = min(width, 1.0)
    while True:  # the margin has density (1 - m²)^((d - 3)/2)
        margin = rng.uniform(-width, width)
        if rng.random() <= (1.0 - margin * margin) ** ((d - 3) / 2):
            break
    across = rng.standard_normal(d)
    across -= (across @ axis) * axis
    across *= np.sqrt(1.0 - margin * margin) / np.linalg.norm(across)
    return across + margin * axis
