"""One learner on one shuffle: labels to an error, and over the whole stream."""

from typing import NamedTuple

import numpy as np

from selectron import SelectiveClassifier
from selectron.evaluate import first_passage
from selectron.evaluate.first_passage import most_errors
from selectron.experiments.default_families_problem import Split
from selectron.queries import Auto, Balanced
from selectron.scalings import Automatic, Centred
from selectron.updates import Probit, Ridge

MOST_LABELS = 250
NOT_REACHED = 500  # what a run counts that needs more
HOLD = 10
OLD, HARD, TAIL, SHELL = "old SO-auto", "hard", "tail", "ridge in the shell"
LEARNERS = (OLD, HARD, TAIL, SHELL)


class Labels(NamedTuple):
    """Labels until the error was reached: first, and for ten labels more."""

    first: int
    held: int


class WholeStream(NamedTuple):
    labels: int
    error: float
    n_rows: int


def learner_of(name: str, n_rows: int) -> SelectiveClassifier:
    """Return a learner of the table; a tenth of a short stream only teaches the scale."""
    warmup = min(50, max(n_rows // 10, 10))
    if name == OLD:
        return SelectiveClassifier(Ridge(), Balanced(), scaling=Centred(warmup=warmup))
    update = Ridge() if name == SHELL else Probit()
    return SelectiveClassifier(update, Auto(hard=name != TAIL), scaling=Automatic(warmup=warmup))


def labels_to(error: float, name: str, split: Split, seed: int) -> Labels:
    learner = learner_of(name, len(split.X))
    test = split.X_test, split.signs_test
    curve = first_passage(learner, split.X, split.taught, test, error, seed=seed, hold=HOLD)
    allowed = most_errors(error, len(split.signs_test))
    return Labels(_counted(curve.passage(allowed)), _counted(curve.held(allowed, HOLD)))


def _counted(labels: int | None) -> int:
    return NOT_REACHED if labels is None or labels > MOST_LABELS else labels


def whole_stream(name: str, split: Split, seed: int) -> WholeStream:
    """Teach the whole stream; a learner that meets one class only keeps to it."""
    learner = learner_of(name, len(split.X)).set_params(random_state=seed)
    learner.fit(split.X, split.taught)
    error = float(np.mean(learner.predict(split.X_test) != split.signs_test))
    return WholeStream(learner.n_asked_, error, len(split.X))
