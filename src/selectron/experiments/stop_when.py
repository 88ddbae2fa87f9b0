"""Does it stop when it may? Goals for the error on 4 against 7, held against a test set."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selectron import SelectiveClassifier
from selectron.arrays import Matrix
from selectron.experiments.processes import in_processes
from selectron.experiments.registry import Experiment
from selectron.experiments.text_columns import lay_out
from selectron.experiments.traces import needed_data_folder

DIGITS = (4, 7)
GOALS = (0.05, 0.03, 0.01)  # the last one lies below what the learner reaches
RUNS = 200
FIRST_SEED = 1  # the floor that goals bring was settled with seeds from 1,000 on


class Job(NamedTuple):
    goal: float
    seed: int


class Pair(NamedTuple):
    """The digits of the two classes: a stream to learn from, and a test set."""

    rows: Matrix
    labels: NDArray[Any]
    test_rows: Matrix
    test_labels: NDArray[Any]


@cache
def digits() -> Pair:
    with np.load(needed_data_folder("stop-when") / "mnist.npz") as file:
        found = []
        for part in ("train", "test"):
            labels = file[f"y_{part}"]
            of_pair = np.isin(labels, DIGITS)
            rows = file[f"x_{part}"][of_pair].reshape(int(of_pair.sum()), -1) / 255.0
            found += [rows, labels[of_pair]]
    return Pair(*found)


def one_run(job: Job) -> dict[str, Any]:
    """Shuffle the stream, learn with the goal, and return where it stopped and what it is worth."""
    pair = digits()
    order = np.random.default_rng(job.seed).permutation(len(pair.labels))
    clf = SelectiveClassifier(stop_when=f"error<={job.goal}", random_state=job.seed)
    clf.fit(pair.rows[order], pair.labels[order])
    return {
        "goal": job.goal,
        "seed": job.seed,
        "round": clf.stopped_at_,
        "labels": clf.n_asked_,
        "error": 1.0 - clf.score(pair.test_rows, pair.test_labels),
    }


def steps(seeds: int | None) -> int:
    return len(GOALS) * (seeds or RUNS)


def run(seeds: int | None, tick: Callable[[], Any]) -> dict[str, Any]:
    digits()
    jobs = [Job(goal, FIRST_SEED + k) for goal in GOALS for k in range(seeds or RUNS)]
    return {"experiment": "stop-when", "runs": in_processes(one_run, jobs, tick)}


def text(result: dict[str, Any]) -> str:
    """Return a line a goal: how often, when, at what price it stopped, and how often wrongly."""
    lines = []
    for goal in GOALS:
        runs = [r for r in result["runs"] if r["goal"] == goal]
        stopped = [r for r in runs if r["round"] is not None]
        wrong = sum(r["error"] > goal for r in stopped)
        lines.append(
            [
                f"error<={goal:g}",
                f"{len(stopped)} of {len(runs)}",
                _middle([r["round"] for r in stopped]),
                _middle([r["labels"] for r in stopped]),
                f"{max(r['error'] for r in stopped):.1%}" if stopped else "-",
                f"{wrong} of {len(runs)}",
            ]
        )
    head = ["goal", "stopped", "round (10-50-90 %)", "labels", "worst test error", "wrongly"]
    return "\n".join(lay_out([head, *lines]))


def _middle(values: list[int]) -> str:
    if not values:
        return "-"
    return " - ".join(f"{v:,.0f}" for v in np.quantile(values, (0.1, 0.5, 0.9)))


def plot(result: dict[str, Any], path: Path) -> None:
    """Draw every stop: labels asked, and the error on the test set."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for k, goal in enumerate(GOALS):
        stopped = [r for r in result["runs"] if r["goal"] == goal and r["round"] is not None]
        labels, errors = [r["labels"] for r in stopped], [100 * r["error"] for r in stopped]
        axes.scatter(labels, errors, s=8, color=f"C{k}", label=f"error<={goal:g}")
        axes.axhline(100 * goal, color=f"C{k}", linewidth=0.8)
    axes.set(xlabel="labels asked", ylabel="test error when it stopped, %", ylim=(0, None))
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


STOP_WHEN = Experiment(
    "stop_when on MNIST 4 against 7: when it stops, at what price, and how often wrongly",
    steps,
    run,
    text,
    plot,
    reads_data=True,
)
