"""One pass with everything written down: for judges, who know all labels."""

from collections.abc import Callable
from typing import Any

from selectron.classifier.batch import learn_batch, pauses
from selectron.classifier.estimator import SelectiveClassifier
from selectron.classifier.inputs import read_rows, shape
from selectron.classifier.labels import Labels, found_classes, read_labels
from selectron.loop import Log
from selectron.numeric.arrays import Codes
from selectron.numeric.rows import Rows

AfterUpdate = Callable[[SelectiveClassifier, int], None]


def watched_fit(
    learner: SelectiveClassifier, X: Any, y: Any, after_update: AfterUpdate | None = None
) -> tuple[Rows, Codes, Log]:
    """Fit the learner on the stream; return its rows, the codes of all labels, and the log.

    The learner reads the labels it asks for and no others.
    """
    rows = read_rows(X, owner=type(learner).__name__)
    n = shape(rows)[0]
    column = read_labels(y, n)
    labels = Labels(found_classes(column))
    codes = labels.codes(column)
    run = learner._begin(rows, labels, n)
    log = run.machine.log(n)
    if after_update is None:
        learn_batch(run.machine, rows, codes, log)
        learner._adopt(run, X)
    else:
        learner._adopt(run, X)
        for done in pauses(run.machine, rows, codes, log):
            after_update(learner, done)
    return rows, codes, log
