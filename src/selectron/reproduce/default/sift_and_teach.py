"""Count the labels of runs in shards, beside the same learner row by row.

Workers sift blocks with a copy of the learner that is a round old, so a run in shards is another
one than row by row. The file, the order of the rows, the learner and its seed are the same. After
each label the error on rows apart is measured, and averaged over ten labels. The goal is near the
error that the two runs end with: how many labels does each of them take to it?
"""

import json
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from selectron.arrays import Array, Label, Values
from selectron.classifier import SelectiveClassifier
from selectron.classifier.progress import watched_batch
from selectron.engines import Here
from selectron.engines.sift_and_teach import Making, Schedule, Teaching
from selectron.reproduce.harness import first_passages, grouped
from selectron.reproduce.harness.experiment import Row
from selectron.reproduce.harness.problems import (
    needed_data_folder,
    read_documents,
    read_pixels,
    require_digits,
    small_digits,
)
from selectron.reproduce.harness.report import Picture, finish, new_figure, table
from selectron.streams import FileRows, Record, Shards, Sides

MOST_ROWS, TEST_ROWS = 5_000, 1_000
SHARDS = 4
NEAR = 1.1  # the goal, over the mean error of the last quarter of the labels of both runs
SMOOTH = 10  # labels over which errors are averaged: a lucky one is no goal reached
SCHEDULE = Schedule()
BOUND = 1.15  # labels in shards over labels row by row
REUTERS = "reuters21578.jsonl.gz"

Records = list[Values]
Errors = list[tuple[int, float]]  # labels so far, error now


def pixels(file: str, positive: int, negative: int | None = None) -> Records:
    """Return digits as rows of pixels: one against another, or against all others."""
    X, classes = read_pixels(file)
    wanted = np.ones(len(classes), bool)
    if negative is not None:
        wanted = np.isin(classes, (positive, negative))
    return _vectors(X[wanted], classes[wanted] == positive)


def even_digits() -> Records:
    """Return the small digits, even or odd."""
    X, classes = small_digits()
    return _vectors(X, classes % 2 == 0)


def _vectors(X: Array, labels: Array) -> Records:
    pairs = zip(X.tolist(), labels.tolist(), strict=True)
    return [{"vector": x, "label": label} for x, label in pairs]


def articles(topic: str) -> Records:
    """Return the articles of Reuters-21578 that have a topic and a text."""
    documents = read_documents(needed_data_folder(REUTERS, "texts") / REUTERS)
    kept = [each for each in documents if each["topics"] and each["text"]]
    return [{"title": each["title"], "text": each["text"], "label": topic in each["topics"]}
            for each in kept]  # fmt: skip


def people() -> Records:
    """Return a table made up: numbers, a town and a date decide, and one label in twenty is wrong.

    Labels are noisy in the stream and in the test alike.
    """
    rng, towns = np.random.default_rng(0), ("Ulm", "Bonn", "Trier", "Celle", "Hof")
    n = MOST_ROWS + TEST_ROWS
    numbers, town, month = (
        rng.normal(size=(n, 6)),
        rng.integers(5, size=n),
        rng.integers(12, size=n),
    )
    score = numbers @ rng.normal(size=6) + 1.5 * (town < 2) - 0.2 * month
    labels = (score > np.median(score)) ^ (rng.random(n) < 0.05)
    return [
        {f"x{k}": x for k, x in enumerate(row)}
        | {"town": towns[town[t]], "since": f"2024-{month[t] + 1:02d}-15", "label": bool(labels[t])}
        for t, row in enumerate(numbers.tolist())
    ]


PROBLEMS: dict[str, Callable[[], Records]] = {
    "MNIST 4 v 7": partial(pixels, "mnist.npz", 4, 7),
    "USPS 0 v rest": partial(pixels, "usps.npz", 0),
    "digits even": even_digits,
    "Reuters earn": partial(articles, "earn"),
    "a table": people,
}


class Job(NamedTuple):
    """One problem in one order of its rows."""

    problem: str
    seed: int


def require() -> None:
    """Refuse to begin where the digits or the texts are missing."""
    require_digits()
    needed_data_folder("sift-and-teach", "texts")


@cache
def _records(problem: str) -> Records:
    return PROBLEMS[problem]()


def jobs(seeds: int) -> list[Job]:
    """List the problems, in so many orders."""
    return [Job(name, seed) for name in PROBLEMS for seed in range(seeds)]


def measure(job: Job, schedule: Schedule = SCHEDULE) -> Row:
    """Return the goal, and of both runs the labels to it, all labels, and the error at last."""
    by_row, sharded = curve(job, None), curve(job, schedule)
    ends = [np.mean([error for _, error in run[-(len(run) // 4) :]]) for run in (by_row, sharded)]
    goal = NEAR * float(np.mean(ends))
    return {"goal": goal, "rows": _run(by_row, goal), "shards": _run(sharded, goal)}


def _run(errors: Errors, goal: float) -> Row:
    asked, error = errors[-1]
    labels, values = zip(*errors, strict=True)
    means = np.convolve(values, np.full(SMOOTH, 1.0 / SMOOTH), "valid").tolist()
    smooth = zip(labels[SMOOTH - 1 :], means, strict=True)
    return {"labels": first_passages(smooth, [goal])[0], "asked": asked, "error": error}


def curve(job: Job, schedule: Schedule | None) -> Errors:
    """Return the error after each label, in rounds of a schedule or row by row."""
    records = _records(job.problem)
    order = np.random.default_rng(job.seed).permutation(len(records)).tolist()
    n_test = min(TEST_ROWS, len(order) // 4)
    test, stream = order[:n_test], order[n_test : n_test + MOST_ROWS]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        path.write_text("".join(json.dumps(records[t]) + "\n" for t in stream))
        rows = FileRows(path, "label")
        learner = SelectiveClassifier(recipe=rows.recipe, random_state=job.seed)
        judge = Judge(learner, rows, [records[t] for t in test])
        if schedule is None:
            for batch in rows:
                watched_batch(learner, batch.X, partial(judge.tell, batch.labels), [False, True])
        else:
            making, shards = Making(rows.maker, Sides.of(None, None)), Shards(str(path), SHARDS)
            Teaching(shards, making, judge, [False, True], schedule).run(learner, Here())
    return [*judge.errors, judge.now()]


class Judge:
    """Answers questions with the labels of the file, and measures the error before each answer."""

    def __init__(self, learner: SelectiveClassifier, rows: FileRows, test: Records) -> None:
        self._learner, self.errors = learner, list[tuple[int, float]]()
        batch = rows.maker.batch([Record(values, "a test row") for values in test])
        self._rows, self._labels = batch.X, np.array(batch.labels)

    def __call__(self, row: int, record: Record | None, label: Label) -> Label:
        if self._learner.n_asked_:
            self.errors.append(self.now())
        return label

    def tell(self, labels: list[Label], t: int) -> Label:
        """Answer a question about row t of a batch."""
        return self(t, None, labels[t])

    def now(self) -> tuple[int, float]:
        """Return how many labels were asked so far, and the error."""
        wrong = self._learner.predict(self._rows) != self._labels
        return self._learner.n_asked_, float(np.mean(wrong))


def report(found: list[tuple[Job, Row]], seeds: int) -> Row:
    """Return a line a problem: means row by row and in shards, and the ratio of the labels."""
    lines: list[Row] = []
    for name, runs in grouped((job.problem, row) for job, row in found).items():
        line: Row = {"problem": name}
        line["goal"] = float(np.mean([run["goal"] for run in runs]))
        for which in ("rows", "shards"):
            some = [run[which] for run in runs]
            counted = [run["labels"] or run["asked"] for run in some]
            line[which] = {key: [run[key] for run in some] for key in ("labels", "asked", "error")}
            line[which] |= {"counted": counted, "missed": sum(not run["labels"] for run in some)}
        line["ratio"] = sum(line["shards"]["counted"]) / sum(line["rows"]["counted"])
        lines.append(line)
    mean = float(np.exp(np.mean([np.log(line["ratio"]) for line in lines])))
    return {"seeds": seeds, "problems": lines, "mean_ratio": mean, "shards": SHARDS}


COLUMNS = {
    "problem": "{problem:<16}",
    "goal": "{goal:>7.1%}",
    "row by row": "{rows_labels:>12}",
    "in shards": "{shards_labels:>12}",
    "ratio": "{ratio:>7.2f}",
    "all by row": "{rows_asked:>12.0f}",
    "all in shards": "{shards_asked:>15.0f}",
    "error": "{rows_error:>8.2%}",
    "its error": "{shards_error:>11.2%}",
}


def text(result: Row) -> str:
    """Write a line a problem."""
    problems = result["problems"]
    n = sum(line["ratio"] <= BOUND for line in problems)
    said = f"Geometric mean of the ratios: {result['mean_ratio']:.2f}"
    within = f"{n} of {len(problems)} are at most {BOUND}"
    return "\n".join([*table(COLUMNS, list(_lines(problems))), "", said, within])


def _lines(problems: list[Row]) -> Iterator[Row]:
    for line in problems:
        shown = dict(line)
        for which in ("rows", "shards"):
            missed = line[which]["missed"]
            means = {key: np.mean(line[which][key]) for key in ("counted", "asked", "error")}
            shown |= {f"{which}_{key}": mean for key, mean in means.items()}
            counted = f"{shown[f'{which}_counted']:.0f}"
            shown[f"{which}_labels"] = f"{counted} -{missed}" if missed else counted
        yield shown


def draw(result: Row) -> Picture:
    """Draw the labels of each run in shards over those of the same order row by row."""
    figure, axes = new_figure(7.0, 0.4 * len(result["problems"]) + 1.0)
    problems = result["problems"]
    for k, line in enumerate(problems):
        pairs = zip(line["rows"]["counted"], line["shards"]["counted"], strict=True)
        ratios = [b / a for a, b in pairs]
        axes.plot(ratios, [k] * len(ratios), "o", color="C0", alpha=0.4)
        axes.plot([line["ratio"]], [k], "|", color="black", markersize=16)
    axes.axvline(BOUND, color="C3", linewidth=1)
    axes.set_yticks(range(len(problems)), [line["problem"] for line in problems])
    axes.invert_yaxis()
    finish(axes, xscale="log", xlabel="labels in shards, over labels row by row")
    return figure
