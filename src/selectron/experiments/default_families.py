"""The default learner where its constants were chosen: labels to an error, family by family."""

from collections.abc import Callable, Sequence
from functools import cache
from math import exp
from typing import Any

import numpy as np

from selectron.arrays import Matrix
from selectron.experiments.default_families_images import images
from selectron.experiments.default_families_noise import noisy
from selectron.experiments.default_families_problem import (
    Problem,
    base_rate,
    shuffled,
    tolerance,
)
from selectron.experiments.default_families_report import plot, text
from selectron.experiments.default_families_runs import (
    LEARNERS,
    NOT_REACHED,
    OLD,
    Labels,
    labels_to,
    whole_stream,
)
from selectron.experiments.default_families_synthetic import N_RARE, synthetic
from selectron.experiments.default_families_tables import tables
from selectron.experiments.registry import Experiment

SHUFFLES = 20
FIRST_SEED = 1000  # those below have seen constants being chosen
RESAMPLES = 400


@cache
def families() -> dict[str, list[Problem]]:
    """Return the problems of every family."""
    clean = {"images": images(), "tabular": tables(), "synthetic": synthetic()}
    return clean | {"noise": noisy([given for some in clean.values() for given in some])}


def steps(seeds: int | None) -> int:
    return sum(map(len, families().values())) + N_RARE


def run(seeds: int | None, tick: Callable[[], Any]) -> dict[str, Any]:
    """Measure every learner on every problem, and the rare classes over whole streams."""
    shuffles = range(FIRST_SEED, FIRST_SEED + (seeds or SHUFFLES))
    found = {}
    for family, problems in families().items():
        rows = []
        for given in problems:
            rows.append(_problem(given, shuffles))
            tick()
        found[family] = {"problems": rows, **_summary(rows)}
    rare = []
    for given in families()["synthetic"][-N_RARE:]:
        rare.append(_rare(given, shuffles))
        tick()
    return {
        "experiment": "default-families",
        "shuffles": len(shuffles),
        "families": found,
        "rare": rare,
    }


def _problem(given: Problem, shuffles: range) -> dict[str, Any]:
    error = tolerance(given)
    runs: dict[str, list[Labels]] = {name: [] for name in LEARNERS}
    for seed in shuffles:
        split = shuffled(given, seed)
        for name in LEARNERS:
            runs[name].append(labels_to(error, name, split, seed))
    return {
        "name": given.name,
        "error": error,
        "base": base_rate(given),
        "labels": {name: [run.first for run in some] for name, some in runs.items()},
        "held": {name: [run.held for run in some] for name, some in runs.items()},
    }


def _summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return labels of the old learner, the ratios to it, their errors, and who never arrived."""
    if not rows:
        return {}
    by, held = (
        {name: np.array([row[kind][name] for row in rows], float) for name in LEARNERS}
        for kind in ("labels", "held")
    )
    rng = np.random.default_rng(0)
    picks = rng.integers(0, by[OLD].shape[1], (RESAMPLES, by[OLD].shape[1]))
    others = [name for name in LEARNERS if name != OLD]
    return {
        "labels": exp(_log_labels(by[OLD])),
        "ratios": {n: exp(_log_labels(by[n]) - _log_labels(by[OLD])) for n in others},
        "deviations": {
            n: float(np.std([exp(_log_labels(by[n][:, some]) - _log_labels(by[OLD][:, some]))
                             for some in picks])) for n in others
        },
        "held_ratios": {n: exp(_log_labels(held[n]) - _log_labels(held[OLD])) for n in others},
        "not_reached": {n: int((by[n] == NOT_REACHED).sum()) for n in LEARNERS},
    }  # fmt: skip


def _log_labels(labels: Matrix) -> float:
    """Return the mean over problems of the log of their mean labels."""
    return float(np.mean(np.log(labels.mean(axis=1))))


def _rare(given: Problem, shuffles: range) -> dict[str, Any]:
    """Run whole streams; report labels and the error at the end."""
    cell: dict[str, Any] = {"name": given.name, "base": base_rate(given), "learners": {}}
    for name in LEARNERS:
        runs = [whole_stream(name, shuffled(given, seed), seed) for seed in shuffles]
        labels, errors, rows = np.array(runs, float).T
        cell["learners"][name] = {
            "labels": float(labels.mean()),
            "share": float((labels / rows).mean()),
            "error": float(errors.mean()),
        }
    return cell


DEFAULT_FAMILIES = Experiment(
    "labels of the default learner on images, tables, synthetic sets, noisy labels, rare classes",
    steps,
    run,
    text,
    plot,
    reads_data=True,
)
