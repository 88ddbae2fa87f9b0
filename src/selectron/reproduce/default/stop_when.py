"""Measure when `stop_when` stops on the digits 4 against 7, and what the error is by then."""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selectron import SelectiveClassifier
from selectron.arrays import Matrix
from selectron.reproduce.harness.experiment import Row
from selectron.reproduce.harness.measure import grouped
from selectron.reproduce.harness.problems import needed_data_folder
from selectron.reproduce.harness.report import Picture, lay_out, new_figure

DIGITS = (4, 7)
GOALS = (0.05, 0.03, 0.01)  # the last one lies below what the learner reaches
FIRST_SEED = 1  # the floor that goals bring was settled with seeds from 1,000 on


class Job(NamedTuple):
    goal: float
    seed: int


class Pair(NamedTuple):
    """The digits of the two classes: a stream to learn from, and a test set."""

    rows: Matrix
    labels: NDArray[np.uint8]
    test_rows: Matrix
    test_labels: NDArray[np.uint8]


@cache
def digits() -> Pair:
    with np.load(needed_data_folder("stop-when", "MNIST") / "mnist.npz") as file:
        found = []
        for part in ("train", "test"):
            labels = file[f"y_{part}"]
            of_pair = np.isin(labels, DIGITS)
            rows = file[f"x_{part}"][of_pair].reshape(int(of_pair.sum()), -1) / 255.0
            found += [rows, labels[of_pair]]
    return Pair(*found)


def jobs(seeds: int) -> list[Job]:
    return [Job(goal, FIRST_SEED + k) for goal in GOALS for k in range(seeds)]


def measure(job: Job) -> Row:
    """Shuffle the stream, learn with the goal, and return where it stopped and what it is worth."""
    pair = digits()
    order = np.random.default_rng(job.seed).permutation(len(pair.labels))
    clf = SelectiveClassifier(stop_when=f"error<={job.goal}", random_state=job.seed)
    clf.fit(pair.rows[order], pair.labels[order])
    error = 1.0 - clf.score(pair.test_rows, pair.test_labels)
    return job._asdict() | {"round": clf.stopped_at_, "labels": clf.n_asked_, "error": error}


def report(found: list[tuple[Job, Row]], seeds: int) -> Row:
    return {"runs": [run for _, run in found]}


def text(result: Row) -> str:
    """Write a line a goal: how often, when, at what price it stopped, and how often wrongly."""
    rows = [["goal", "stopped", "round (10-50-90 %)", "labels", "worst test error", "wrongly"]]
    for goal, runs in grouped((run["goal"], run) for run in result["runs"]).items():
        stopped = [run for run in runs if run["round"] is not None]
        wrong = sum(run["error"] > goal for run in stopped)
        middles = [_middle([run[name] for run in stopped]) for name in ("round", "labels")]
        worst = f"{max(run['error'] for run in stopped):.1%}" if stopped else "-"
        of = f"of {len(runs)}"
        rows.append([f"error<={goal:g}", f"{len(stopped)} {of}", *middles, worst, f"{wrong} {of}"])
    return "\n".join(lay_out(rows))


def _middle(values: list[int]) -> str:
    return " - ".join(f"{v:,.0f}" for v in np.quantile(values, (0.1, 0.5, 0.9))) if values else "-"


def draw(result: Row) -> Picture:
    """Draw every stop: labels asked, and the error on the test set."""
    figure, axes = new_figure(7, 4)
    goals = grouped((run["goal"], run) for run in result["runs"])
    for k, (goal, runs) in enumerate(goals.items()):
        stopped = [(r["labels"], 100 * r["error"]) for r in runs if r["round"] is not None]
        labels, errors = zip(*stopped, strict=True) if stopped else ((), ())
        axes.scatter(labels, errors, s=8, color=f"C{k}", label=f"error<={goal:g}")
        axes.axhline(100 * goal, color=f"C{k}", linewidth=0.8)
    axes.set(xlabel="labels asked", ylabel="test error when it stopped, %", ylim=(0, None))
    axes.legend(frameon=False)
    return figure
