"""Count the mistakes of the tracker and of its learners on drifting streams and on Reuters."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from selectron.arrays import Matrix, Signs, Vector
from selectron.queries import Always, Uniform
from selectron.reproduce.harness import grouped
from selectron.reproduce.harness.experiment import Row
from selectron.reproduce.harness.problems import (
    WORDS,
    count_words,
    data_file,
    published,
    read_documents,
)
from selectron.reproduce.harness.report import Picture, new_figure
from selectron.scalings import Raw
from selectron.spec import QueryRule
from selectron.streams import drifting
from selectron.streams.drifting import KINDS
from selectron.tracking import (
    ByMargin,
    ByMistakes,
    Following,
    ForgettingRidge,
    TrackingClassifier,
    follow,
)
from selectron.tracking.members import LINEAR_LEARNERS
from selectron.updates import HalfStep, Perceptron

FIRST_SEED = 11  # those before have seen constants being chosen
SHOWN = ("flips", "half rotating")
ALL, RANDOM, MARGIN, MISTAKES, AS_MANY = ASKING = (
    "all labels", "10 % random", "10 % by margin", "by mistakes", "random, as many",
)  # fmt: skip
RULES: dict[str, QueryRule] = {
    ALL: Always(),
    RANDOM: Uniform(rate=0.1),
    MARGIN: ByMargin(rate=0.1),
    MISTAKES: ByMistakes(),
}
# Per cent of mistakes of the prototype, on four other seeds; of its best learner; of the labels.
PROTOTYPE: dict[str, dict[str, list[float]]] = published("tracking")

REUTERS_FILE = "reuters21578.jsonl.gz"
TOPICS = ("earn", "acq", "crude", "trade")
SWITCHING = "switching"
TASKS = (*TOPICS, SWITCHING)
PROJECTIONS, SEED = 300, 0
REUTERS_RULES = {"all labels": Always(), "by margin": ByMargin(), "by mistakes": ByMistakes()}
# f = 0.998, 0.9995 and 1: with 300 features shorter memories than the default's still pay.
MEMORIES = (1 / (300 * 0.002), 1 / (300 * 0.0005), None)
REUTERS_LEARNERS = [*map(ForgettingRidge, MEMORIES), Perceptron(), HalfStep()]
# The prototype's mistakes on each task, and those of its best learner.
REUTERS_PROTOTYPE: dict[str, list[str]] = published("reuters")


class Drift(NamedTuple):
    """A drifting stream."""

    kind: str
    seed: int


class Reuters(NamedTuple):
    """A task on the articles in the file."""

    task: str
    path: Path


@cache
def read_by_date(path: Path) -> tuple[Matrix, list[set[str]]]:
    """Return the documents that have topics in the order of their dates, and their topics.

    A row has 300 random projections of the words, and unit length.
    """
    documents = [document for document in read_documents(path) if document["topics"]]
    documents.sort(key=lambda document: str(document["date"]))
    counts = count_words(documents)
    counts.data = np.log1p(counts.data)
    plane = np.random.default_rng(SEED).standard_normal((WORDS, PROJECTIONS))
    X: Matrix = counts @ plane
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    X /= np.where(lengths > 0.0, lengths, 1.0)
    return X, [set(document["topics"]) for document in documents]


def tasks(topics: list[set[str]]) -> dict[str, Signs]:
    """Return labels for each topic, and for one that changes every 1,000 to 3,000 documents."""
    columns = np.array([[topic in found for found in topics] for topic in TOPICS])
    rng = np.random.default_rng(SEED)
    lengths = rng.integers(1000, 3001, size=len(topics) // 1000 + 1)
    turn = np.repeat(np.arange(len(lengths)) % len(TOPICS), lengths)[: len(topics)]
    wanted = [*columns, columns[turn, np.arange(len(topics))]]
    return {task: np.where(y, 1, -1).astype(np.int8) for task, y in zip(TASKS, wanted, strict=True)}


def jobs(seeds: int) -> list[Drift | Reuters]:
    """List the drifting streams, and the tasks on Reuters where the collection is at hand."""
    path = data_file(REUTERS_FILE)
    drifts = [Drift(kind, FIRST_SEED + k) for kind in KINDS for k in range(seeds)]
    return [*drifts, *(Reuters(task, path) for task in TASKS if path is not None)]


def measure(job: Drift | Reuters) -> dict[str, Following]:
    """Run the tracker with every way of asking."""
    if isinstance(job, Reuters):
        X, topics = read_by_date(job.path)
        y, seed, learners, rules = tasks(topics)[job.task], SEED, REUTERS_LEARNERS, REUTERS_RULES
    else:
        X, y, *_ = drifting(job.kind, job.seed)
        seed, learners, rules = job.seed, [*LINEAR_LEARNERS], RULES

    def run(query: QueryRule) -> Following:
        return follow(
            TrackingClassifier(learners, query=query, scaling=Raw(), random_state=seed), X, y
        )

    runs = {asking: run(query) for asking, query in rules.items()}
    if isinstance(job, Drift):
        runs[AS_MANY] = run(Uniform(rate=runs[MISTAKES].label_rate))
    return runs


def report(found: list[tuple[Drift | Reuters, dict[str, Following]]], seeds: int) -> Row:
    """Return a cell for every stream or task and way of asking."""
    drifts = grouped(
        ((job.kind, asking), run)
        for job, runs in found if isinstance(job, Drift) for asking, run in runs.items()
    )  # fmt: skip
    reuters = [
        {"task": job.task, "asking": asking, **_reuters_cell(run)}
        for job, runs in found if isinstance(job, Reuters) for asking, run in runs.items()
    ]  # fmt: skip
    return {
        "seeds": [FIRST_SEED + k for k in range(seeds)],
        "cells": [{"stream": kind, "asking": asking, **_drift_cell(runs)}
                  for (kind, asking), runs in drifts.items()],
        "reuters": reuters or None,
    }  # fmt: skip


def _reuters_cell(run: Following) -> Row:
    mistakes = run.learner_mistakes.sum(axis=0)
    return {
        "mistakes": int(run.mistakes.sum()),
        "labels": 100.0 * run.label_rate,
        "best_learner": run.names[int(mistakes.argmin())],
        "best_learner_mistakes": int(mistakes.min()),
        "ridge_mistakes": int(mistakes[2]),
    }


def _drift_cell(runs: list[Following]) -> Row:
    errors = 100.0 * np.array([[run.error] for run in runs])
    learners = 100.0 * np.array([run.learner_errors for run in runs])
    best, leads = int(learners.mean(axis=0).argmin()), errors - learners
    columns = runs[0].names, leads.mean(axis=0).tolist(), half_width(leads)
    return {
        "error": float(errors.mean()),
        "interval": half_width(errors)[0],
        "labels": 100.0 * float(np.mean([run.label_rate for run in runs])),
        "best_learner": runs[0].names[best],
        "best_learner_error": float(learners[:, best].mean()),
        "minus_each_learner": [
            {"learner": name, "difference": mean, "interval": width}
            for name, mean, width in zip(*columns, strict=True)
        ],
    }


def half_width(columns: Matrix | Vector) -> list[float] | list[None]:
    """Return half of the 95 % interval of each column's mean, by Student's t; one seed has none."""
    from scipy.stats import t as student  # noqa: PLC0415 - costs half a second

    n = len(columns)
    if n < 2:
        return [None] * columns.shape[1]
    widths = student.ppf(0.975, n - 1) * columns.std(axis=0, ddof=1) / np.sqrt(n)
    return [float(width) for width in widths]


def text(result: Row) -> str:
    """Write the mistakes on each stream, the tracker beside its learners, and Reuters."""
    first, *others = result["seeds"]
    of = f"seeds {first} to {others[-1]}, +- 95 % of the mean" if others else f"seed {first}"
    unit = "points, 95 % interval" if others else "points, one seed: no interval"
    streams = grouped((cell["stream"], _line(cell)) for cell in result["cells"])
    whole = [cell for cell in result["cells"] if cell["asking"] == ALL]
    return "\n".join([
        f"Mistakes in %, d = 20, 20,000 rounds, 5 % of the labels wrong ({of};",
        "in brackets the best single learner in hindsight, on the same labels; after | the "
        "prototype's)",
        "",
        *(line for kind in KINDS for line in (kind, *streams[kind])),
        "",
        f"All labels, tracker minus each learner ({unit}):",
        *map(_beaten, whole),
        "",
        *_reuters_lines(result["reuters"]),
    ])  # fmt: skip


def _line(cell: Row) -> str:
    theirs = PROTOTYPE[cell["stream"]][cell["asking"]]
    labels = f" @ {cell['labels']:.0f} % labels" if cell["asking"] == MISTAKES else ""
    beside = {1: "", 2: f" ({theirs[-1]:.1f})", 3: f" @ {theirs[-1]:.0f} %"}[len(theirs)]
    within = "" if cell["interval"] is None else f" +- {cell['interval']:.2f}"
    return (
        f"  {cell['asking']:<16} {cell['error']:5.2f}{within} ({cell['best_learner_error']:.2f} "
        f"{cell['best_learner']}){labels} | {theirs[0]:.1f}{beside}"
    )


def _beaten(cell: Row) -> str:
    leads = cell["minus_each_learner"]
    closest = max(leads, key=lambda lead: float(lead["difference"]))
    beaten = sum(lead["difference"] + (lead["interval"] or 0) < 0 for lead in leads)
    middle, half = closest["difference"], closest["interval"]
    between = "" if half is None else f" [{middle - half:+.2f}, {middle + half:+.2f}]"
    return (
        f"  {cell['stream']:<14} below {beaten} of {len(leads)}; closest {closest['learner']}: "
        f"{middle:+.2f}{between}"
    )


def _reuters_lines(cells: list[Row] | None) -> list[str]:
    if cells is None:
        return [f"Reuters by date: not run, SELECTRON_DATA has no {REUTERS_FILE}"]
    line = ("  {task:<10} {asking:<12} @ {labels:3.0f} %: {mistakes:5d} ({best_learner_mistakes}; "
            "{ridge_mistakes}) | ")  # fmt: skip
    return [
        "Reuters by date, 11,367 documents, mistakes (best learner; ridge that forgets nothing) | "
        "the prototype's, on other rows:",
        *(line.format_map(cell) + REUTERS_PROTOTYPE[cell["asking"]][TASKS.index(cell["task"])]
          for cell in cells),
        f"  {SWITCHING}: the topic asked for changes every 1,000 to 3,000 documents",
    ]  # fmt: skip


def draw(result: Row) -> Picture:
    """Draw the weights of the learners over two streams: whom the tracker follows, and when."""
    figure, panels = new_figure(10, 6, len(SHOWN), sharex=True)
    smooth = np.ones(100) / 100.0
    for axes, kind in zip(panels, SHOWN, strict=True):
        stream = drifting(kind, result["seeds"][0])
        tracker = TrackingClassifier(LINEAR_LEARNERS, query=Always(), scaling=Raw())
        seen = follow(tracker, stream.X, stream.y)
        weights = [np.convolve(column, smooth, "same") for column in seen.weights.T]
        axes.stackplot(np.arange(len(seen)), weights, labels=seen.names, alpha=0.8)
        error = np.convolve(seen.mistakes, smooth, "same")
        axes.plot(error, "k", linewidth=0.7, label="error of the vote, over 100 rounds")
        axes.set(ylabel="weight", ylim=(0, 1), xlim=(0, len(seen)), title=f"{kind}, all labels")
    axes.set(xlabel="rounds")
    legend = axes.get_legend_handles_labels()
    figure.legend(*legend, loc="outside lower center", ncols=2, fontsize=7)
    return figure
