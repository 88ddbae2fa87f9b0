"""Tables for development: those that come with scikit-learn and with River."""

import csv
import gzip
import zipfile
from importlib.util import find_spec
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import numpy as np

from selectron.experiments.default_families_problem import Problem, problem

SEGMENTS = {"segment 0": (0,), "segment 2": (2,), "segments 024": (0, 2, 4)}


def tables() -> list[Problem]:
    """Return the tables at hand: River's only where it is installed."""
    return [*_of_scikit_learn(), *_of_river()]


def _of_scikit_learn() -> list[Problem]:
    from sklearn.datasets import load_breast_cancer, load_wine  # noqa: PLC0415 - half a second

    X, y = load_breast_cancer(return_X_y=True)
    wine, kinds = load_wine(return_X_y=True)
    return [
        problem("breast cancer", X, y == 0),
        problem("wine 0", wine, kinds == 0),
        problem("wine 1", wine, kinds == 1),
    ]


def _of_river() -> list[Problem]:
    found = find_spec("river")
    if found is None or found.origin is None:
        return []
    folder = Path(found.origin).parent / "datasets"
    with gzip.open(folder / "phishing.csv.gz", "rt", encoding="utf-8") as file:
        phishing, is_phishing = _columns(list(csv.reader(file)), "is_phishing")
    with zipfile.ZipFile(folder / "segment.csv.zip") as packed:
        name = packed.namelist()[0]
        with TextIOWrapper(packed.open(name), encoding="utf-8") as file:
            segments, kinds = _columns(list(csv.reader(file)), "category")
    names = sorted(set(kinds))
    numbers = np.array([names.index(kind) for kind in kinds])
    return [
        problem("phishing", phishing, is_phishing == "1"),
        *(problem(word, segments, np.isin(numbers, some)) for word, some in SEGMENTS.items()),
    ]


def _columns(rows: list[list[str]], target: str) -> tuple[Any, Any]:
    """Part a file's columns into numbers and the target's words."""
    at = rows[0].index(target)
    values = [[float(cell) for k, cell in enumerate(row) if k != at] for row in rows[1:]]
    return np.array(values), np.array([row[at] for row in rows[1:]])
