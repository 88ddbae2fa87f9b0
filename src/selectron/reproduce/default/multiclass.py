"""Count the labels of the default on ten classes, and the rows until it knows a late class."""

from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

from selectron.arrays import Array, Table
from selectron.classifier import SelectiveClassifier
from selectron.classifier.labels import Labels as ClassLabels
from selectron.classifier.rows import read_rows
from selectron.classifier.run import Run
from selectron.evaluate.first_passage import most_errors
from selectron.loop import NOTHING_KEPT
from selectron.numeric.rows import Csr, taken
from selectron.queries import Capped, Uniform
from selectron.reproduce.harness import Labels, Reach, first_passages, grouped
from selectron.reproduce.harness.experiment import Row
from selectron.reproduce.harness.problems import (
    Classes,
    count_words,
    data_file,
    fashion,
    published,
    read_documents,
    read_pixels,
    small_digits,
)
from selectron.reproduce.harness.report import Picture, finish, lay_out, new_figure
from selectron.reproduce.peers import Activeml
from selectron.scalings import Automatic, Text
from selectron.updates import ClassRidge

LATE_STREAMS = 4  # for one of the others: a few late classes take very long
LONGEST, MOST_LABELS, SEED = 20_000, 1_200, 4
ABSENT_ROUNDS, ABSENT_CLASSES, RECALLED = 5_000, 2, 0.5
PEER_LABELS, PEER_TEST = 600, 1_000
SPLIT = Activeml("Split", rate=1.0, at_a_time=20)
NEWS_FILE = "20news_bydate.jsonl.gz"
SOON = 60  # rows of a class within which it should be known

DEFAULT, BLIND, FIRST_ORDER, PEER = NAMES = (
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
# The means of a prototype on streams of its own; -: never, (k): only k runs of ten.
EARLIER: dict[str, dict[str, str]] = published("multiclass")
EARLIER_LATE = "mean 30, most 119"


class Problem(NamedTuple):
    """How to read the rows, how many of them are test rows, and the errors to be reached."""

    name: str
    read: Callable[[], tuple[Table, Array]]
    n_test: int
    errors: tuple[float, ...]


class Stream(NamedTuple):
    """Rows to learn from and rows to judge by, dense or CSR, with their classes."""

    rows: Table
    classes: Classes
    test_rows: Table
    test_classes: Classes


@cache
def newsgroups() -> tuple[Table, Array]:
    """Return the counts of words of each post of 20 Newsgroups, and the number of its group."""
    path = data_file(NEWS_FILE)
    if path is None:
        message = "is not in SELECTRON_DATA: put it there, see docs/multiclass.md"
        raise ValueError(f"{NEWS_FILE} {message}")
    posts = read_documents(path)
    _, groups = np.unique([post["topics"][0] for post in posts], return_inverse=True)
    return count_words(posts), groups


MNIST, USPS, NEWS, FASHION, DIGITS = PROBLEMS = (
    Problem("MNIST", partial(read_pixels, "mnist.npz"), 2_000, (0.20, 0.15, 0.12)),
    Problem("USPS", partial(read_pixels, "usps.npz"), 2_000, (0.20, 0.15, 0.12, 0.10)),
    Problem("20news", newsgroups, 2_000, (0.50, 0.40, 0.35, 0.30)),
    Problem("fashion (dev)", cache(fashion), 2_000, (0.35, 0.28, 0.24, 0.20)),
    Problem("digits (dev)", cache(small_digits), 500, (0.20, 0.15, 0.10, 0.08)),
)


def draw_stream(problem: Problem, seed: int) -> Stream:
    """Shuffle the rows by the seed, and split them into test rows and a stream."""
    X, numbers = problem.read()
    classes = numbers.astype(np.int64)
    order = np.random.default_rng([SEED, seed]).permutation(len(classes))
    test, learnt = np.split(order[: problem.n_test + LONGEST], [problem.n_test])
    rows, test_rows = X[learnt].astype(np.float64), X[test].astype(np.float64)
    return Stream(rows, classes[learnt], test_rows, classes[test])


def draw_late(seed: int) -> tuple[Stream, list[int]]:
    """Return a stream of clothes without two classes for 5,000 rounds; and these two classes."""
    stream = draw_stream(FASHION, seed)
    late = np.random.default_rng([SEED, seed, 1]).permutation(10)[:ABSENT_CLASSES]
    stays_away = np.isin(stream.classes, late)
    early = np.flatnonzero(~stays_away)[:ABSENT_ROUNDS]
    order = np.concatenate([early, np.arange(early[-1] + 1, len(stays_away))])
    return stream._replace(rows=stream.rows[order], classes=stream.classes[order]), late.tolist()


class Job(NamedTuple):
    """One learner on one stream."""

    learner: str
    problem: int
    seed: int


class LateJob(NamedTuple):
    """The default on a stream in which two classes come late."""

    seed: int


def jobs(seeds: int) -> list[Job | LateJob]:
    """List every learner on the same streams, and more streams with late classes."""
    names = [*LEARNERS, *([PEER] if find_spec("skactiveml") else [])]
    pairs = [
        (name, k)
        for name in names
        for k, problem in enumerate(PROBLEMS)
        if problem is not NEWS or (name != PEER and data_file(NEWS_FILE) is not None)
    ]
    late = map(LateJob, range(LATE_STREAMS * seeds))
    return [*(Job(*pair, seed) for pair in pairs for seed in range(seeds)), *late]


def measure(job: Job | LateJob) -> Labels:
    """Return the labels to each error, or the rows of each late class; None if never."""
    if isinstance(job, LateJob):
        return rows_until_recalled(job.seed)
    problem = PROBLEMS[job.problem]
    stream = draw_stream(problem, job.seed)
    of_peer = job.learner == PEER
    judged = PEER_TEST if of_peer else len(stream.test_classes)
    errors = _peer_errors(stream, job.seed) if of_peer else _errors(stream, job.learner, job.seed)
    return first_passages(errors, [most_errors(error, judged) for error in problem.errors])


def begin(learner: str, stream: Stream, seed: int) -> tuple[Run, ClassLabels]:
    """Return the run of a fresh learner that knows only the names of the classes."""
    fresh = SelectiveClassifier(
        **{**LEARNERS[learner].get_params(deep=False), "random_state": seed}
    )
    labels, rows = ClassLabels.named(np.unique(stream.classes)), read_rows(stream.rows)
    if isinstance(rows, Csr) and fresh.scaling is not None:
        fresh.scaling = Text()  # as the default has it: wide rows are not written out
    return fresh._begin(rows, labels, len(stream.classes)), labels


def _errors(stream: Stream, learner: str, seed: int) -> Iterator[tuple[int, int]]:
    run, labels = begin(learner, stream, seed)
    rows, judged = read_rows(stream.rows), read_rows(stream.test_rows)
    codes, wanted = (labels.codes(column) for column in (stream.classes, stream.test_classes))
    opening = run.open(rows, lambda t, _: stream.classes[t]) if run.opens(rows) else iter(())
    asked = []
    for t in opening:
        asked.append(t)
        yield run.n_asked, int((run.predicted(judged) != wanted).sum())
    left = np.setdiff1d(np.arange(len(codes)), asked)
    for _ in run.pauses(taken(rows, left) if asked else rows, codes[left]):
        yield run.n_asked, int((run.predicted(judged) != wanted).sum())
        # What is asked at random is the measure: its runs are not cut short.
        if run.n_asked == MOST_LABELS and learner != BLIND:
            return


def _peer_errors(stream: Stream, seed: int) -> Iterator[tuple[int, int]]:
    """Run scikit-activeml's Split on rows of unit length, some at a time."""
    rows, test = (
        X / np.linalg.norm(X, axis=1, keepdims=True)
        for X in (stream.rows, stream.test_rows[:PEER_TEST])
    )
    wanted, classes = stream.test_classes[:PEER_TEST], np.unique(stream.classes)
    for n_labels, model in SPLIT.models(rows, stream.classes, seed, classes):
        yield n_labels, int((model.predict(test) != wanted).sum())
        if n_labels == PEER_LABELS:
            return


def rows_until_recalled(seed: int) -> Labels:
    """Return how many rows of each late class had come when half of its test rows were known."""
    stream, late = draw_late(seed)
    run, labels = begin(DEFAULT, stream, seed)
    judged = {k: read_rows(stream.test_rows[stream.test_classes == k]) for k in late}
    found: dict[int, int | None] = dict.fromkeys(late)
    rows = read_rows(stream.rows)
    for done in run.pauses(rows, labels.codes(stream.classes), NOTHING_KEPT):
        for k in late:
            if done <= ABSENT_ROUNDS or found[k] is not None:
                continue
            if (run.predicted(judged[k]) == k).mean() >= RECALLED:
                found[k] = int((stream.classes[:done] == k).sum())
        if None not in found.values():
            break
    return list(found.values())


def report(found: list[tuple[Job | LateJob, Labels]], seeds: int) -> Row:
    """Return a cell for every learner, problem and error, and the rows of the late classes."""
    runs = grouped((job[:2], done) for job, done in found if isinstance(job, Job))
    cells = [
        {"learner": name, "problem": PROBLEMS[k].name, "error": error, "reached": list(reached)}
        | Reach.of(reached)._asdict()
        for (name, k), done in runs.items()
        for error, reached in zip(PROBLEMS[k].errors, zip(*done, strict=True), strict=True)
    ]
    late = [rows for job, done in found if isinstance(job, LateJob) for rows in done]
    run = {name for cell in cells for name in (cell["learner"], cell["problem"])}
    return {"cells": cells, "late": late, "missing": [n for n in (PEER, NEWS.name) if n not in run]}


def text(result: Row) -> str:
    """Write a table a problem, and the late classes below."""
    problems = grouped((cell["problem"], cell) for cell in result["cells"])
    parts = ["\n".join(lay_out(_table(*problem))) for problem in problems.items()]
    parts += [f"{name}: not run, for it is not there" for name in result["missing"]]
    parts.append(
        "Two classes of clothes absent for 5,000 rounds: rows of such a class until half of its "
        f"test rows are known: {_late(result['late'])} (earlier: {EARLIER_LATE})"
    )
    return "\n\n".join(parts)


def _table(problem: str, cells: list[Row]) -> list[list[str]]:
    rows = grouped((cell["learner"], cell) for cell in cells)
    default = rows[DEFAULT]
    head = [problem, *(f"{100 * cell['error']:g} %" for cell in default), "earlier"]
    lines = ([n, *map(_labels, row, default), EARLIER[problem][n]] for n, row in rows.items())
    return [head, *lines]


def _labels(cell: Row, default: Row) -> str:
    if cell["mean"] is None:
        return "-"
    share = "" if cell["reach"] == 1.0 else f"({round(cell['reach'] * len(cell['reached']))})"
    times = ""
    if cell["learner"] != DEFAULT and cell["reach"] == default["reach"] == 1.0:
        times = f" x{cell['mean'] / default['mean']:.2f}"
    return f"{cell['mean']:.0f}±{cell['sd']:.0f}{share}{times}"


def _late(rows: Labels) -> str:
    there = [n for n in rows if n is not None]
    if not there:
        return "none"
    never = f"; {len(rows) - len(there)} never" if len(there) < len(rows) else ""
    soon = sum(n <= SOON for n in there)
    return (
        f"mean {np.mean(there):.0f} (standard error {np.std(there) / np.sqrt(len(there)):.0f}), "
        f"median {np.median(there):.0f}, most {max(there)}, {soon} of {len(rows)} within {SOON}"
        f"{never}"
    )


def draw(result: Row) -> Picture:
    """Draw the labels of every learner against the error."""
    figure, panels = new_figure(11, 4, 1, len(PROBLEMS))
    styles = {DEFAULT: "k*-", FIRST_ORDER: "C0o-", PEER: "C3s-"}
    names = dict.fromkeys(cell["learner"] for cell in result["cells"])
    whole = [cell for cell in result["cells"] if cell["reach"] == 1.0]
    for axes, problem in zip(panels, PROBLEMS, strict=True):
        for name in names:
            shown = [(100 * cell["error"], cell["mean"]) for cell in whole
                     if (cell["learner"], cell["problem"]) == (name, problem.name)]  # fmt: skip
            errors, means = zip(*shown, strict=True) if shown else ((), ())
            axes.plot(errors, means, styles.get(name, "C7^--"), label=name)
        finish(axes, title=problem.name, yscale="log", xlabel="test error, %")
        axes.invert_xaxis()
    panels[0].set_ylabel("labels, where all runs get there")
    legend = panels[0].get_legend_handles_labels()
    figure.legend(*legend, loc="outside lower center", ncols=4, fontsize=8)
    return figure
