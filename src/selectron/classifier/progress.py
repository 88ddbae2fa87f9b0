"""One pass with everything written down: for judges, who know all labels."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

from selectron.arrays import Codes, Given, Table
from selectron.classifier.estimator import StreamClassifier
from selectron.classifier.labels import Labels, read_labels
from selectron.classifier.rows import Stop, read_rows
from selectron.loop import Log
from selectron.numeric.rows import Rows, part, shape

FIRST_PART, BRISK, SLOW = 1024, 0.1, 0.4  # rows; seconds a part shall take

AfterUpdate = Callable[[StreamClassifier, int], None]
Tick = Callable[[int], Any]


def watched_fit(
    learner: StreamClassifier,
    X: Table,
    y: Given,
    after_update: AfterUpdate | None = None,
    tick: Tick | None = None,
    details: int = 0,
) -> tuple[Rows, Codes, Log]:
    """Fit the learner on the stream; return its rows, the codes of all labels, and the log.

    The learner reads the labels it asks for and no others. `tick` is told, now and then, how many
    rows were done since it was told last. `details` is how much more than its forecast the update
    rule writes down a round.
    """
    rows = read_rows(X, owner=type(learner).__name__)
    n = shape(rows)[0]
    column = read_labels(y, n)
    labels = Labels.found_in(column)
    codes = labels.codes(column)
    run = learner._begin(rows, labels, n)
    log = run.log(n, details=details)
    tick = tick or _nobody_watches
    with run.lock:
        if after_update is None:
            done, size = 0, FIRST_PART
            while done < n:  # in parts long enough to cost nothing
                began, end = perf_counter(), min(n, done + size)
                stop = run.play(part(rows, done, end), codes[done:end], log.part(done, end))
                run.check(rows, Stop(done + stop.position, stop.status))
                tick(end - done)
                done, taken = end, perf_counter() - began
                size = 2 * size if taken < BRISK else max(1, size // 2) if taken > SLOW else size
            learner._adopt(run, X)
            return rows, codes, log
        learner._adopt(run, X)
        told = 0
        for done in run.pauses(rows, codes, log):
            after_update(learner, done)
            tick(done - told)
            told = done
        tick(n - told)
    return rows, codes, log


def _nobody_watches(n_rows: int) -> None:
    """No-op progress callback."""
