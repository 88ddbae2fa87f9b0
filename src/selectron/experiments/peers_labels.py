"""The same digits learnt by other libraries' active learners, and by an SVM that keeps it all."""

from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from selectron.evaluate.first_passage import most_errors
from selectron.evaluate.plots import write_figure
from selectron.experiments.ocr_learners import DEFAULT, LearnerJob, run_learner
from selectron.experiments.ocr_problems import FOLDS, PROBLEMS, draw, folds, require_files
from selectron.experiments.peer_learners import (
    Hypothesis,
    pool_svm,
    river,
    scikit_activeml,
    vowpal_wabbit,
)
from selectron.experiments.peers_labels_text import text
from selectron.experiments.processes import in_processes
from selectron.experiments.registry import Experiment
from selectron.experiments.thesis_runs import mean_and_share

RUNS, SEED = 5, 1
PACKAGES = {"vowpalwabbit": "vowpalwabbit", "river": "river", "skactiveml": "scikit-activeml"}


class Peer(NamedTuple):
    """How to run it, and whether on the folds of every run or, being slow, of one."""

    learn: Callable[..., Iterator[Hypothesis]]
    all_runs: bool


POOL = "SVM on all labels, Simple on the pool"
PEERS = {
    "Vowpal Wabbit --active, mellowness 0.1": Peer(partial(vowpal_wabbit, mellowness=0.1), True),
    "Vowpal Wabbit --active, mellowness 1": Peer(partial(vowpal_wabbit, mellowness=1.0), True),
    "scikit-activeml, Split + SGD": Peer(
        partial(scikit_activeml, strategy="Split", refit=False), False
    ),
    "scikit-activeml, VariableUncertainty + SGD": Peer(
        partial(scikit_activeml, strategy="VariableUncertainty", refit=False), False
    ),
    "scikit-activeml, Split + refitted regression": Peer(
        partial(scikit_activeml, strategy="Split", refit=True), False
    ),
    "River, EntropySampler + regression": Peer(river, False),
    POOL: Peer(pool_svm, True),
}


class PeerJob(NamedTuple):
    """One peer on the folds of one problem."""

    peer: str
    problem: int
    runs: int


def steps(seeds: int | None) -> int:
    return len(_jobs(seeds or RUNS))


def run(seeds: int | None, tick: Callable[[], Any]) -> dict[str, Any]:
    """Run every peer and the default on the same folds; `seeds` is the number of tenfold runs."""
    require_files()
    missing = [package for module, package in PACKAGES.items() if find_spec(module) is None]
    if missing:
        raise ValueError(f"{' and '.join(missing)} not installed: pip install selectron[peers]")
    jobs = _jobs(seeds or RUNS)
    found = in_processes(_work, jobs, tick)
    ours = {job.problem: done for job, done in zip(jobs, found, strict=True)
            if isinstance(job, LearnerJob)}  # fmt: skip
    cells = []
    for job, reached in zip(jobs, found, strict=True):
        name = job.learner if isinstance(job, LearnerJob) else job.peer
        cells.append(_cell(name, job.problem, reached, ours[job.problem]))
    return {"experiment": "peers-labels", "seed": SEED, "cells": cells}


def _jobs(runs: int) -> list[PeerJob | LearnerJob]:
    jobs: list[PeerJob | LearnerJob] = [
        LearnerJob(DEFAULT, k, runs, SEED) for k in range(len(PROBLEMS))
    ]
    for name, peer in PEERS.items():
        jobs += [PeerJob(name, k, runs if peer.all_runs else 1) for k in range(len(PROBLEMS))]
    return jobs


def _work(job: PeerJob | LearnerJob) -> list[int | None]:
    return run_learner(job).reached if isinstance(job, LearnerJob) else run_peer(job)


def run_peer(job: PeerJob) -> list[int | None]:
    """Return the labels of the peer to the error, in every fold."""
    digits = PROBLEMS[job.problem]
    _, sample = draw(digits, SEED)
    rows, signs = sample.rows, sample.signs
    reached: list[int | None] = []
    for fold in folds(digits, len(rows), job.runs, SEED):
        learn = PEERS[job.peer].learn(rows[fold.train], signs[fold.train], fold.seed)
        allowed = most_errors(digits.error, len(fold.test))
        test, wanted = rows[fold.test], signs[fold.test] > 0
        good = (h.n_labels for h in learn
                if ((test @ h.weights + h.intercept > 0.0) != wanted).sum() <= allowed)  # fmt: skip
        reached.append(next(good, None))
    return reached


def _cell(
    name: str, problem: int, reached: list[int | None], default: list[int | None]
) -> dict[str, Any]:
    mean, share = mean_and_share(reached)
    ours, _ = mean_and_share(list(islice(default, len(reached))))  # on the same folds
    there = [labels for labels in reached if labels is not None]
    return {
        "learner": name,
        "problem": PROBLEMS[problem].name,
        "folds": len(reached),
        "mean": mean,
        "sd": float(np.std(there)) if there else None,
        "reach": share,
        "reached": reached,
        "times_the_default": None if mean is None or ours is None else mean / ours,
    }


def plot(result: dict[str, Any], path: Path) -> None:
    """Draw the labels of every learner on every problem."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    figure = Figure(figsize=(10, 5), layout="constrained")
    axes = figure.subplots()
    names = list(dict.fromkeys(cell["learner"] for cell in result["cells"]))
    for k, name in enumerate(names):
        means = [cell["mean"] or np.nan for cell in result["cells"] if cell["learner"] == name]
        style = "k*" if name == DEFAULT else "k_" if name == POOL else "o"
        places = np.arange(len(means)) + 0.08 * (k - len(names) / 2)
        axes.plot(places, means, style, markersize=11 if style != "o" else 6, label=name)
    axes.set(yscale="log", ylabel="labels to the error of [Mon06]",
             title="Labels to learn digits, at the libraries' defaults")  # fmt: skip
    axes.set_xticks(range(len(PROBLEMS)), [f"{d.name}\n({d.error:g})" for d in PROBLEMS])
    axes.grid(alpha=0.3, axis="y")
    figure.legend(loc="outside lower center", ncols=2, fontsize=8)
    write_figure(figure, path)


PEERS_LABELS = Experiment(
    f"the digits of mon06-table-4.1 by other libraries' active learners ({FOLDS} to "
    f"{RUNS * FOLDS} folds)",
    steps,
    run,
    text,
    plot,
    reads_data=True,
)
