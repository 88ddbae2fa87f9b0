"""One pass with everything written down: for judges, who know all labels."""

from collections.abc import Callable, Iterable
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Array, Codes, Given, Indices, Label, Table, Vector
from selectron.classifier.estimator import StreamClassifier
from selectron.classifier.labels import Labels, read_labels
from selectron.classifier.rows import Stop, read_rows
from selectron.classifier.run import NOBODY_KNOWS, Run
from selectron.classifier.sifting import LabelOf
from selectron.loop import LABEL_NEEDED, NOT_GIVEN, Log
from selectron.numeric.rows import Rows, part, shape, taken
from selectron.protocol import TWO

FIRST_PART, BRISK, SLOW = 1024, 0.1, 0.4  # rows; seconds a part shall take

AfterUpdate = Callable[[StreamClassifier, int], None]
Tick = Callable[[int], object]


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
        if after_update is not None:
            learner._adopt(run, X)
        rows, codes = _opened(learner, run, rows, codes, column, log, after_update)
        done, size = run.rounds, FIRST_PART
        if done:
            tick(done)
        if after_update is None:
            while done < n:  # in parts long enough to cost nothing
                began, end = perf_counter(), min(n, done + size)
                stop = run.play(part(rows, done, end), codes[done:end], log.part(done, end))
                run.check(rows, Stop(done + stop.position, stop.status))
                tick(end - done)
                done, spent = end, perf_counter() - began
                size = 2 * size if spent < BRISK else max(1, size // 2) if spent > SLOW else size
            learner._adopt(run, X)
            return rows, codes, log
        told = done
        for done in run.pauses(rows, codes, log, first=told):
            after_update(learner, done)
            tick(done - told)
            told = done
        tick(n - told)
    return rows, codes, log


def _opened(
    learner: StreamClassifier,
    run: Run,
    rows: Rows,
    codes: Codes,
    labels: Array,
    log: Log,
    after_update: AfterUpdate | None,
) -> tuple[Rows, Codes]:
    """Open a stream that asks about its first rows by worth; return all rows in their new order."""
    if not run.opens(rows):
        return rows, codes
    run.vet(rows)
    asked = []
    for t in run.open(rows, lambda t, _: labels[t], log):
        asked.append(t)
        if after_update is not None and log.updated[len(asked) - 1]:
            after_update(learner, len(asked))
    order = np.concatenate([asked, np.setdiff1d(np.arange(len(codes)), asked)]).astype(np.int64)
    return taken(rows, order), codes[order]


def watched_batch(
    learner: StreamClassifier,
    X: Table,
    label_of: LabelOf,
    classes: Iterable[Label] | None = None,
) -> Array:
    """Go on with the stream; return what was predicted of each row before its label was known.

    `label_of` is called with the position of each row whose label is asked, and returns None if
    nobody knows it. Whatever it raises, the rows before stay learnt. `classes` are named at the
    first call, or join as they come.
    """
    with learner._turn():
        rows = learner._read_more(X)
        run = learner._run or learner._begin(rows, Labels.named(classes), None)
        if not isinstance(run, Run):
            raise ValueError("a stream is watched for one label a row")
        run.vet(rows)
        learner._adopt(run, X)
        predicted = np.full(shape(rows)[0], None)

        def ask(t: int, forecast: Vector) -> Label:
            side = forecast[TWO if run.many else 0]
            predicted[t] = run.labels.names(np.array([side]))[0]
            label = label_of(t)
            return NOBODY_KNOWS if label is None else label

        for some, places in run.opened(rows, ask):
            _watch(run, some, places, label_of, predicted)
        run.tickets.just_asked = None
        return predicted


def _watch(
    run: Run,
    rows: Rows,
    places: Indices,
    label_of: LabelOf,
    predicted: NDArray[np.object_],
) -> None:
    """Play rows that have these places in the batch, and write down what was predicted of each."""
    n, start = len(places), 0  # what was played from `start` on is in the log
    codes, log = _blank(run, n)
    stop = run.play(rows, codes, log)
    while stop.status == LABEL_NEEDED:
        t, labels = stop.position, run.labels
        predicted[places[start:t]] = labels.names(log.sides[start:t])
        start, label, row = t, label_of(int(places[t])), part(rows, t, t + 1)
        if label is None:
            answer = run.ask(row)
            run.forget(answer.tickets.tolist())
            predicted[places[t]], start = answer.labels[0], t + 1
        else:
            code = run.admit_asked(label)
            if run.labels is not labels:
                codes, log = _blank(run, n)
            codes[t] = code
            run.remember(row, code)
        stop = run.play(rows, codes, log, first=start)
    run.check(rows, stop)
    predicted[places[start:]] = run.labels.names(log.sides[start:])


def _blank(run: Run, n: int) -> tuple[Codes, Log]:
    """Make room for the labels and the log of n rounds, as the classes of now need it.

    A glance has the side of the exact forecast, and the sides are all that is wanted.
    """
    return np.full(n, NOT_GIVEN, run.code_type), run.log(n, exact=False)


def _nobody_watches(n_rows: int) -> None:
    """No-op progress callback."""
