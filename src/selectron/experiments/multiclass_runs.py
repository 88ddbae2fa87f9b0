"""Labels of a learner of ten classes to some errors, and rows of a class until it is recalled."""

import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from selectron.classifier import SelectiveClassifier
from selectron.classifier.batch import pauses
from selectron.classifier.inputs import read_rows
from selectron.classifier.labels import Labels
from selectron.classifier.machine import Machine
from selectron.evaluate.first_passage import SILENT, most_errors
from selectron.experiments.multiclass_problems import (
    ABSENT_ROUNDS,
    MOST_LABELS,
    PROBLEMS,
    Stream,
    draw,
    draw_late,
)
from selectron.numeric.rows import Csr
from selectron.queries import Capped, Uniform
from selectron.scalings import Automatic, Text
from selectron.updates import ClassRidge

DEFAULT, BLIND, FIRST_ORDER, PEER = (
    "default",
    "default, asking at random (0.08)",
    "ClassRidge(rank=1) + Capped, O(d)",
    "scikit-activeml, Split + SGD",
)
LEARNERS = {
    DEFAULT: SelectiveClassifier(),
    BLIND: SelectiveClassifier(query=Uniform(rate=0.08)),
    FIRST_ORDER: SelectiveClassifier(ClassRidge(rank=1), Capped(), scaling=Automatic()),
}
PEER_LABELS, PEER_TEST, PEER_ROWS, PEER_BUDGET, PEER_RATE = 600, 1_000, 20, 0.1, 1.0
RECALLED = 0.5


class Job(NamedTuple):
    """One learner on one stream."""

    learner: str
    problem: int
    seed: int


class LateJob(NamedTuple):
    """The default on a stream in which two classes come late."""

    seed: int


def work(job: Job | LateJob) -> list[int | None]:
    """Return the labels to each error, or the rows of each late class; None if never."""
    if isinstance(job, LateJob):
        return rows_until_recalled(job.seed)
    problem = PROBLEMS[job.problem]
    stream = draw(problem, job.seed)
    if job.learner == PEER:
        return first_labels(_peer_errors(stream, job.seed), problem.errors, PEER_TEST)
    judged = len(stream.test_classes)
    return first_labels(_errors(stream, job.learner, job.seed), problem.errors, judged)


def first_labels(
    errors: Iterator[tuple[int, int]], levels: tuple[float, ...], n_test: int
) -> list[int | None]:
    """Return the labels when the errors were first low enough for each level; levels fall."""
    reached: list[int | None] = []
    for labels, wrong in errors:
        while len(reached) < len(levels) and wrong <= most_errors(levels[len(reached)], n_test):
            reached.append(labels)
        if len(reached) == len(levels):
            break
    return reached + [None] * (len(levels) - len(reached))


def begin(learner: str, stream: Stream, seed: int) -> tuple[Machine, Labels]:
    """Return the machine of a learner that knows the names of the classes, and no more."""
    fresh = SelectiveClassifier(**{**LEARNERS[learner].get_params(), "random_state": seed})
    labels, rows = Labels(np.unique(stream.classes)), read_rows(stream.rows)
    if isinstance(rows, Csr) and fresh.scaling is not None:
        fresh.scaling = Text()  # as the default has it: wide rows are not written out
    return fresh._begin(rows, labels, len(stream.classes)).machine, labels


def _errors(stream: Stream, learner: str, seed: int) -> Iterator[tuple[int, int]]:
    machine, labels = begin(learner, stream, seed)
    rows, judged = read_rows(stream.rows), read_rows(stream.test_rows)
    wanted = labels.codes(stream.test_classes)
    for _ in pauses(machine, rows, labels.codes(stream.classes), SILENT):
        yield machine.n_asked, int((machine.sides(judged) != wanted).sum())
        # What is asked at random is the measure: its runs are not cut short.
        if machine.n_asked == MOST_LABELS and learner != BLIND:
            return


def rows_until_recalled(seed: int) -> list[int | None]:
    """Return how many rows of each late class had come when half of its test rows were known."""
    stream, late = draw_late(seed)
    machine, labels = begin(DEFAULT, stream, seed)
    judged = {k: read_rows(stream.test_rows[stream.test_classes == k]) for k in late}
    found: dict[int, int | None] = dict.fromkeys(late)
    rows = read_rows(stream.rows)
    for done in pauses(machine, rows, labels.codes(stream.classes), SILENT):
        for k in late:
            if done <= ABSENT_ROUNDS or found[k] is not None:
                continue
            if (machine.sides(judged[k]) == k).mean() >= RECALLED:
                found[k] = int((stream.classes[:done] == k).sum())
        if None not in found.values():
            break
    return list(found.values())


def _peer_errors(stream: Stream, seed: int) -> Iterator[tuple[int, int]]:
    """Run scikit-activeml's Split on stochastic gradients, some rows at a time."""
    from skactiveml.classifier import SklearnClassifier  # noqa: PLC0415 - an extra
    from skactiveml.stream import Split  # noqa: PLC0415
    from sklearn.linear_model import SGDClassifier  # noqa: PLC0415

    rows = stream.rows / np.linalg.norm(stream.rows, axis=1, keepdims=True)
    test = stream.test_rows[:PEER_TEST]
    test = test / np.linalg.norm(test, axis=1, keepdims=True)
    wanted, classes = stream.test_classes[:PEER_TEST], np.unique(stream.classes)
    inner = SGDClassifier(
        loss="log_loss", learning_rate="constant", eta0=PEER_RATE, random_state=seed
    )
    model = SklearnClassifier(inner, classes=classes, random_state=seed)
    asking = Split(budget=PEER_BUDGET, random_state=seed)
    n_labels = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is no label yet
        model.fit(np.empty((0, rows.shape[1])), np.empty(0))
        for start in range(0, len(rows), PEER_ROWS):
            some = rows[start : start + PEER_ROWS]
            found, utilities = asking.query(some, clf=model, return_utilities=True)
            asking.update(some, found, budget_manager_param_dict={"utilities": utilities})
            for t in found:
                model.partial_fit(some[t : t + 1], stream.classes[start + t : start + t + 1])
                n_labels += 1
                if hasattr(model.estimator_, "coef_"):
                    yield n_labels, int((model.predict(test) != wanted).sum())
                if n_labels == PEER_LABELS:
                    return
