"""Mistakes of the tracker and of each of its learners on drifting streams, by way of asking."""

from collections.abc import Callable
from typing import Any

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.queries import Always, Uniform
from selectron.spec import QueryRule
from selectron.streams import drifting
from selectron.streams.drifting import KINDS
from selectron.tracking import ByMargin, ByMistakes, Following, TrackingClassifier, follow

FIRST_SEED = 11  # those before have seen constants being chosen
ALL, RANDOM, MARGIN, MISTAKES, AS_MANY = (
    "all labels",
    "10 % random",
    "10 % by margin",
    "by mistakes",
    "random, as many",
)
ASKING = (ALL, RANDOM, MARGIN, MISTAKES, AS_MANY)
RULES: dict[str, QueryRule] = {
    ALL: Always(),
    RANDOM: Uniform(rate=0.1),
    MARGIN: ByMargin(rate=0.1),
    MISTAKES: ByMistakes(),
}

# Per cent of mistakes of the prototype, on four other seeds; of its best learner; of the labels.
PROTOTYPE: dict[str, dict[str, tuple[float, ...]]] = {
    "stationary": {ALL: (6.67, 6.63), RANDOM: (10.6, 10.3), MARGIN: (6.87, 6.73),
                   MISTAKES: (8.8, np.nan, 4), AS_MANY: (14.1,)},
    "flips": {ALL: (12.4, 16.3), RANDOM: (26.6, 29.5), MARGIN: (24.7, 28.6),
              MISTAKES: (18.9, np.nan, 21), AS_MANY: (20.7,)},
    "new concepts": {ALL: (14.2, 15.3), RANDOM: (27.9, 27.9), MARGIN: (25.8, 25.7),
                     MISTAKES: (18.5, np.nan, 24), AS_MANY: (20.4,)},
    "slow rotation": {ALL: (12.8, 13.5), RANDOM: (19.0, 18.3), MARGIN: (13.1, 12.6),
                      MISTAKES: (14.6, np.nan, 12), AS_MANY: (18.0,)},
    "fast rotation": {ALL: (18.1, 17.9), RANDOM: (40.7, 40.1), MARGIN: (44.0, 44.1),
                      MISTAKES: (22.5, np.nan, 52), AS_MANY: (22.8,)},
    "half rotating": {ALL: (10.7, 13.9), RANDOM: (22.0, 25.2), MARGIN: (18.0, 21.6),
                      MISTAKES: (17.4, np.nan, 16), AS_MANY: (18.1,)},
}  # fmt: skip


def measure_drifts(seeds: int, tick: Callable[[], Any]) -> list[dict[str, Any]]:
    """Return one cell for every stream and way of asking."""
    runs: dict[tuple[str, str], list[Following]] = {}
    for kind in KINDS:
        for seed in range(FIRST_SEED, FIRST_SEED + seeds):
            for asking, run in _run_all(kind, seed).items():
                runs.setdefault((kind, asking), []).append(run)
            tick()
    return [
        {"stream": kind, "asking": asking, **_cell(runs[kind, asking])} for kind, asking in runs
    ]


def _run_all(kind: str, seed: int) -> dict[str, Following]:
    X, y, *_ = drifting(kind, seed)
    runs = {
        name: follow(TrackingClassifier(query=query, random_state=seed), X, y)
        for name, query in RULES.items()
    }
    as_many = Uniform(rate=runs[MISTAKES].label_rate)
    runs[AS_MANY] = follow(TrackingClassifier(query=as_many, random_state=seed), X, y)
    return runs


def _cell(runs: list[Following]) -> dict[str, Any]:
    errors = 100.0 * np.array([run.error for run in runs])
    learners = 100.0 * np.array([run.learner_errors for run in runs])
    best = int(learners.mean(axis=0).argmin())
    return {
        "error": float(errors.mean()),
        "interval": half_width(errors[:, np.newaxis])[0],
        "labels": 100.0 * float(np.mean([run.label_rate for run in runs])),
        "best_learner": runs[0].names[best],
        "best_learner_error": float(learners[:, best].mean()),
        "minus_each_learner": [
            {"learner": name, "difference": float(mean), "interval": width}
            for name, mean, width in zip(
                runs[0].names,
                (errors[:, np.newaxis] - learners).mean(axis=0),
                half_width(errors[:, np.newaxis] - learners),
                strict=True,
            )
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
