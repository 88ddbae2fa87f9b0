"""One pass with everything written down: for judges, who know all labels."""

from collections.abc import Callable
from typing import Any

from selectron.arrays import Codes
from selectron.classifier.batch import parts, pauses
from selectron.classifier.estimator import SelectiveClassifier
from selectron.classifier.inputs import read_rows, shape
from selectron.classifier.label_arrays import read_labels
from selectron.classifier.labels import Labels
from selectron.loop import Log
from selectron.numeric.rows import Rows

AfterUpdate = Callable[[SelectiveClassifier, int], None]
Tick = Callable[[int], Any]


def watched_fit(
    learner: SelectiveClassifier,
    X: Any,
    y: Any,
    after_update: AfterUpdate | None = None,
    tick: Tick | None = None,
) -> tuple[Rows, Codes, Log]:
    """Fit the learner on the stream; return its rows, the codes of all labels, and the log.

    The learner reads the labels it asks for and no others. `tick` is told, now and then, how many
    rows were done since it was told last.
    """
    rows = read_rows(X, owner=type(learner).__name__)
    n = shape(rows)[0]
    column = read_labels(y, n)
    labels = Labels.found_in(column)
    codes = labels.codes(column)
    run = learner._begin(rows, labels, n)
    log = run.machine.log(n)
    tick = tick or _heedless
    if after_update is None:
        for moved in parts(run.machine, rows, codes, log):
            tick(moved)
        learner._adopt(run, X)
    else:
        learner._adopt(run, X)
        told = 0
        for done in pauses(run.machine, rows, codes, log):
            after_update(learner, done)
            tick(done - told)
            told = done
        tick(n - told)
    return rows, codes, log


def _heedless(n_rows: int) -> None:
    """Serve as the tick of those who do not watch."""
