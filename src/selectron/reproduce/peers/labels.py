"""Count the labels of other libraries' learners on the digits of [Mon06], Table 4.1."""

from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

from selectron.evaluate.first_passage import most_errors
from selectron.reproduce.harness import Labels, Reach, first_passages, grouped
from selectron.reproduce.harness.experiment import Row
from selectron.reproduce.harness.problems import require_digits
from selectron.reproduce.harness.report import Picture, lay_out, new_figure, show_labels
from selectron.reproduce.mon06.digits import (
    COLUMNS,
    DEFAULT,
    HEADS,
    PROBLEMS,
    LearnerJob,
    draw_sample,
    folds,
    run_learner,
)
from selectron.reproduce.peers import PEERS, POOL

SEED = 1
PACKAGES = {"vowpalwabbit": "vowpalwabbit", "river": "river", "skactiveml": "scikit-activeml"}


class PeerJob(NamedTuple):
    """One peer on the folds of one problem."""

    learner: str
    problem: int
    runs: int


def needs() -> None:
    """Refuse to begin without the digits and the other libraries."""
    require_digits()
    missing = [package for module, package in PACKAGES.items() if find_spec(module) is None]
    if missing:
        raise ValueError(f"{' and '.join(missing)} not installed: pip install selectron[peers]")


def jobs(seeds: int) -> list[PeerJob | LearnerJob]:
    """List the default and every peer on the same folds; `seeds` is the number of tenfold runs."""
    return [
        *(LearnerJob(DEFAULT, k, seeds, SEED) for k in COLUMNS),
        *(PeerJob(name, k, seeds if peer.all_runs else 1)
          for name, peer in PEERS.items() for k in COLUMNS),
    ]  # fmt: skip


def measure(job: PeerJob | LearnerJob) -> Labels:
    return run_learner(job).reached if isinstance(job, LearnerJob) else run_peer(job)


def run_peer(job: PeerJob) -> Labels:
    """Return the labels of the peer to the error, in every fold."""
    digits = PROBLEMS[job.problem]
    _, sample = draw_sample(digits, SEED)
    rows, signs = sample.rows, sample.signs
    reached: Labels = []
    for fold in folds(digits, len(rows), job.runs, SEED):
        learn = PEERS[job.learner].learn(rows[fold.train], signs[fold.train], fold.seed)
        test, wanted = rows[fold.test], signs[fold.test] > 0
        errors = ((h.n_labels, int(((test @ h.weights + h.intercept > 0.0) != wanted).sum()))
                  for h in learn)  # fmt: skip
        reached += first_passages(errors, [most_errors(digits.error, len(fold.test))])
    return reached


def report(found: list[tuple[PeerJob | LearnerJob, Labels]], seeds: int) -> Row:
    ours = {job.problem: reached for job, reached in found if isinstance(job, LearnerJob)}
    cells = [cell(job.learner, job.problem, done, ours[job.problem]) for job, done in found]
    return {"seed": SEED, "cells": cells}


def cell(name: str, problem: int, reached: Labels, default: Labels) -> Row:
    """Sum up the folds of a learner on a problem, beside the default on the same folds."""
    found, ours = Reach.of(reached), Reach.of(default[: len(reached)]).mean
    times = None if found.mean is None or ours is None else found.mean / ours
    names = {"learner": name, "problem": PROBLEMS[problem].name, "folds": len(reached)}
    return names | found._asdict() | {"reached": reached, "times_the_default": times}


def text(result: Row) -> str:
    """Write labels, and how many times the default's on the same folds."""
    rows = [["", "folds", *HEADS, "least", "most", "mean"]]
    for name, row in grouped((cell["learner"], cell) for cell in result["cells"]).items():
        times = [cell["times_the_default"] for cell in row if cell["times_the_default"]]
        ends = [min(times), max(times), np.exp(np.mean(np.log(times)))] if times else []
        labels = [show_labels(c, c["times_the_default"]) if c["reach"] else "- (0.00)" for c in row]
        shown = [f"{end:.2f}" for end in ends] or [""] * 3
        rows.append([name, str(row[0]["folds"]), *labels, *shown])
    return "\n".join(lay_out(rows))


def draw(result: Row) -> Picture:
    """Draw the labels of every learner on every problem."""
    figure, axes = new_figure(10, 5)
    rows = grouped((cell["learner"], cell["mean"] or np.nan) for cell in result["cells"])
    for k, (name, means) in enumerate(rows.items()):
        style = "k*" if name == DEFAULT else "k_" if name == POOL else "o"
        places = np.arange(len(means)) + 0.08 * (k - len(rows) / 2)
        axes.plot(places, means, style, markersize=11 if style != "o" else 6, label=name)
    axes.set(yscale="log", ylabel="labels to the error of [Mon06]",
             title="Labels to learn digits, at the libraries' defaults")  # fmt: skip
    axes.set_xticks(range(len(PROBLEMS)), [f"{d.name}\n({d.error:g})" for d in PROBLEMS])
    axes.grid(alpha=0.3, axis="y")
    figure.legend(loc="outside lower center", ncols=2, fontsize=8)
    return figure
