"""Reuters-21578 in the order of its dates, as rows of 300 random projections."""

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from selectron.arrays import Matrix, Signs
from selectron.queries import Always
from selectron.tracking import ByMargin, ByMistakes, ForgettingRidge, TrackingClassifier, follow
from selectron.updates import HalfStep, Perceptron

FILE = "reuters21578.jsonl.gz"
TOPICS = ("earn", "acq", "crude", "trade")
SWITCHING = "switching"
WORDS, PROJECTIONS = 2**15, 300
SEED = 0
ASKING = {"all labels": Always(), "by margin": ByMargin(), "by mistakes": ByMistakes()}
# f = 0.998, 0.9995 and 1: with 300 features shorter memories than the default's still pay.
LEARNERS = [
    ForgettingRidge(memory=1 / (300 * 0.002)),
    ForgettingRidge(memory=1 / (300 * 0.0005)),
    ForgettingRidge(memory=None),
    Perceptron(),
    HalfStep(),
]

# The prototype's mistakes: tracker, best learner.
PROTOTYPE: dict[str, dict[str, tuple[int, ...]]] = {
    "all labels": {"earn": (435, 448), "acq": (755, 767), "crude": (236, 248),
                   "trade": (240, 238), SWITCHING: (928, 944)},
    "by margin": {"earn": (479, 495), "acq": (973, 929), "crude": (290, 300),
                  "trade": (308, 297), SWITCHING: (1598, 1594)},
    "by mistakes": {"earn": (652,), "acq": (1053,), "crude": (556,), "trade": (525,),
                    SWITCHING: (1917,)},
}  # fmt: skip


def data_file() -> Path | None:
    """Return where the collection is, None if SELECTRON_DATA does not have it."""
    path = Path(os.environ.get("SELECTRON_DATA", ".")) / FILE
    return path if path.is_file() else None


def measure_reuters(path: Path, tick: Callable[[], Any]) -> list[dict[str, Any]]:
    """Return mistakes and labels for every topic and way of asking."""
    X, topics = read_by_date(path)
    cells = []
    for task, y in tasks(topics).items():
        for asking, query in ASKING.items():
            run = follow(TrackingClassifier(LEARNERS, query=query, random_state=SEED), X, y)
            mistakes = run.learner_mistakes.sum(axis=0)
            cells.append(
                {
                    "task": task,
                    "asking": asking,
                    "mistakes": int(run.mistakes.sum()),
                    "labels": 100.0 * run.label_rate,
                    "best_learner": run.names[int(mistakes.argmin())],
                    "best_learner_mistakes": int(mistakes.min()),
                    "ridge_mistakes": int(mistakes[2]),
                }
            )
        tick()
    return cells


def read_by_date(path: Path) -> tuple[Matrix, list[set[str]]]:
    """Return rows of unit length, and the topics of each: of all documents that have some."""
    from sklearn.feature_extraction.text import HashingVectorizer  # noqa: PLC0415

    with gzip.open(path, "rt", encoding="utf-8") as file:
        documents = [json.loads(line) for line in file]
    documents = sorted((d for d in documents if d["topics"]), key=lambda d: str(d["date"]))
    # Hashing knows no other document: nothing of the future is in a row.
    words = HashingVectorizer(n_features=WORDS, norm=None, alternate_sign=False)
    counts = words.transform(f"{d['title']} {d['text']}" for d in documents)
    counts.data = np.log1p(counts.data)
    plane = np.random.default_rng(SEED).standard_normal((WORDS, PROJECTIONS))
    X: Matrix = counts @ plane
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    X /= np.where(lengths > 0.0, lengths, 1.0)
    return X, [set(d["topics"]) for d in documents]


def tasks(topics: list[set[str]]) -> dict[str, Signs]:
    """Return labels for each topic, and for one that changes every 1,000 to 3,000 documents."""
    columns = np.array([[topic in found for found in topics] for topic in TOPICS])
    rng = np.random.default_rng(SEED)
    lengths = rng.integers(1000, 3001, size=len(topics) // 1000 + 1)
    turn = np.repeat(np.arange(len(lengths)) % len(TOPICS), lengths)[: len(topics)]
    wanted = dict(zip(TOPICS, columns, strict=True))
    wanted[SWITCHING] = columns[turn, np.arange(len(topics))]
    return {task: np.where(y, 1, -1).astype(np.int8) for task, y in wanted.items()}
