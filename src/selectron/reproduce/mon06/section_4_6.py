"""Measure what [Mon06], section 4.6, says beside its table: another start, and SVMs.

Figure 4-4 starts at zero, where the rate and b matter by their ratio alone (footnote 2). An SVM on
all labels, which is not online, is said to need fewer labels than every online learner, asked at
random or by the rule Simple of [TK01].
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from selectron.arrays import Matrix, Signs
from selectron.evaluate.first_passage import most_errors
from selectron.queries import Margin, Uniform
from selectron.reproduce.harness import Labels, Reach, first_passages
from selectron.reproduce.harness.experiment import Row, verdict
from selectron.reproduce.harness.report import Picture, finish, lay_out, new_figure, show_labels
from selectron.reproduce.mon06.algorithms import (
    ALGORITHMS,
    NEAR,
    WIDTHS,
    Algorithm,
    Setting,
    labels_to,
    tune,
)
from selectron.reproduce.mon06.digits import COLUMNS, FOLDS, HEADS, PROBLEMS, draw_sample, folds
from selectron.reproduce.mon06.gram_engine import Table
from selectron.reproduce.mon06.table_4_1 import (
    AT_RANDOM,
    BEST,
    LARGEST_FACTOR,
    LEAST_FACTOR,
    REFERENCE,
    TABLE,
)
from selectron.reproduce.peers import Hypothesis, pool_svm, stream_svm

SEED = 1
HALVED = "DKM active + Perceptron"
ONLINE = {
    HALVED: ALGORITHMS[HALVED],  # Figure 4-3 starts with the first row
    REFERENCE: Algorithm((1.0,), Margin, WIDTHS, from_zero=True),
    AT_RANDOM: Algorithm((1.0,), lambda _: Uniform(0.5), (0.0,), from_zero=True),
}
SCALE = 0.25  # of rate and b together: a power of 2, so that nothing rounds differently
Learn = Callable[[Matrix, Signs, int], Iterator[Hypothesis]]
RANDOM_SVM, SIMPLE_SVM = "SVM, random queries", "SVM, Simple on the pool"
SVMS: dict[str, Learn] = {RANDOM_SVM: stream_svm, SIMPLE_SVM: pool_svm}


class OnlineJob(NamedTuple):
    """The online learners on one problem."""

    problem: int
    runs: int


class SvmJob(NamedTuple):
    """An SVM on the folds of the first run of one problem: each label costs a fit."""

    learner: str
    problem: int


def jobs(seeds: int) -> list[OnlineJob | SvmJob]:
    """List the problems; `seeds` is the number of tenfold runs of the online learners."""
    return [
        *(SvmJob(name, problem) for name in SVMS for problem in COLUMNS),
        *(OnlineJob(problem, seeds) for problem in COLUMNS),
    ]


def measure(job: OnlineJob | SvmJob) -> Row:
    return run_svm(job) if isinstance(job, SvmJob) else run_online(job)


def run_online(job: OnlineJob) -> Row:
    """Tune each learner on ten folds of the hold-out, as the thesis did, and run it on every fold.

    The learner of Figure 4-4 also runs with its rate and its b scaled.
    """
    digits = PROBLEMS[job.problem]
    (small, few), (table, used) = (
        (Table.of(part), list(folds(digits, len(part.signs), runs, SEED)))
        for part, runs in zip(draw_sample(digits, SEED), (1, job.runs), strict=True)
    )
    cells: Row = {}
    for name, algorithm in ONLINE.items():
        setting = tune(algorithm, small, few, digits.error)
        reached = labels_to(digits.error, algorithm, setting, table, used)
        cells[name] = setting._asdict() | {"reached": reached}
        if name == REFERENCE:
            scaled = Setting(*(SCALE * knob for knob in setting))
            cells[name]["scaled"] = labels_to(digits.error, algorithm, scaled, table, used)
    return cells


def run_svm(job: SvmJob) -> Row:
    """Return the labels of an SVM to the error, in the folds of one run."""
    digits = PROBLEMS[job.problem]
    _, sample = draw_sample(digits, SEED)
    rows, signs = sample.rows, sample.signs
    reached: Labels = []
    for fold in folds(digits, len(rows), 1, SEED):
        learn = SVMS[job.learner](rows[fold.train], signs[fold.train], fold.seed)
        test, wanted = rows[fold.test], signs[fold.test] > 0
        errors = ((h.n_labels, int(((test @ h.weights + h.intercept > 0.0) != wanted).sum()))
                  for h in learn)  # fmt: skip
        reached += first_passages(errors, [most_errors(digits.error, len(fold.test))])
    return {job.learner: {"reached": reached}}


def report(found: list[tuple[OnlineJob | SvmJob, Row]], seeds: int) -> Row:
    """Return a cell for every learner and problem."""
    done = {(name, job.problem): cell for job, cells in found for name, cell in cells.items()}
    cells = [
        {"learner": name, "problem": PROBLEMS[k].name} | done[name, k]
        | Reach.of(done[name, k]["reached"])._asdict()
        for name in (*ONLINE, *SVMS) for k in COLUMNS
    ]  # fmt: skip
    return {"folds": seeds * FOLDS, "svm_folds": FOLDS, "cells": cells}


def means(result: Row, field: str = "mean") -> dict[str, list[float]]:
    """Return a number of every problem by learner; infinite where no run reached the error."""
    return {
        name: [float("inf") if c[field] is None else float(c[field])
               for c in result["cells"] if c["learner"] == name]
        for name in (*ONLINE, *SVMS)
    }  # fmt: skip


def verdicts(result: Row) -> list[Row]:
    """Judge the start, its footnote, the factors and deviations of the text, and the SVMs.

    Where the thesis compares its six online learners, both sides are the three that run here.
    """
    labels, spread = means(result), means(result, "sd")
    near = [
        max(ours / theirs, theirs / ours)
        for name in (REFERENCE, AT_RANDOM)
        for ours, (theirs, _) in zip(labels[name], TABLE[name], strict=True)
    ]
    same = [c["scaled"] == c["reached"] for c in result["cells"] if "scaled" in c]
    fewest = [min(of) for of in zip(*(labels[name] for name in ONLINE), strict=True)]
    active = [min(of) for of in zip(labels[HALVED], labels[REFERENCE], strict=True)]
    factors = [round(a / b, 2) for a, b in zip(labels[AT_RANDOM], active, strict=True)]
    steadiest = [min(ONLINE, key=lambda name: spread[name][k]) == HALVED for k in COLUMNS]
    theirs = [min(ONLINE, key=lambda name: TABLE[name][k][1]) == HALVED for k in COLUMNS]
    others = f"{REFERENCE} and {AT_RANDOM}"
    by_svm, by_simple = (
        [a / b for a, b in zip(labels[one], labels[other], strict=True)]
        for one, other in ((AT_RANDOM, RANDOM_SVM), (RANDOM_SVM, SIMPLE_SVM))
    )
    return [
        verdict(
            f"from zero, {REFERENCE} and {AT_RANDOM} have the table's labels, to a factor of "
            f"{NEAR:g}",
            f"median factor {np.median(near):.2f}, largest {max(near):.2f}",
            [factor <= NEAR for factor in near],
            f"a factor of {NEAR:g}",
        ),
        verdict(
            "from zero, rate and b matter by their ratio alone (footnote 2)",
            f"both times {SCALE:g}: the same labels in all folds of {sum(same)} of {len(same)} "
            "problems",
            same,
        ),
        verdict(
            f"{AT_RANDOM} needs {LEAST_FACTOR} to {LARGEST_FACTOR} times the labels of the best "
            "active learner",
            "by problem " + ", ".join(f"{factor:.2f}" for factor in factors),
            [LEAST_FACTOR <= factor <= LARGEST_FACTOR for factor in factors],
        ),
        verdict(
            f"{HALVED} has the least variance in all but one problem; here and in the thesis's "
            f"table beside {others} only, of its six learners",
            f"in {sum(steadiest)} of {len(steadiest)}; in the thesis's table in {sum(theirs)}",
            [a == b for a, b in zip(steadiest, theirs, strict=True)],
        ),
        *(
            verdict(
                f"{name}: strictly fewer labels than all online algorithms, for each error; here "
                f"than {HALVED}, {others}",
                "over the fewest of the three: "
                + ", ".join(f"{a / b:.2f}" for a, b in zip(labels[name], fewest, strict=True)),
                [a < b for a, b in zip(labels[name], fewest, strict=True)],
            )
            for name in SVMS
        ),
        verdict(
            "an SVM in the place of an online learner gains more than Simple in the place of "
            "random queries",
            f"{AT_RANDOM} over SVM at random / SVM at random over Simple: "
            + ", ".join(f"{a:.1f} / {b:.1f}" for a, b in zip(by_svm, by_simple, strict=True)),
            [a > b for a, b in zip(by_svm, by_simple, strict=True)],
        ),
    ]


def text(result: Row) -> str:
    """Write the labels of each learner, beside the thesis's where it has them."""
    rows = [["", *HEADS], ["best cell of the thesis", *(f"{best:.1f}" for best in BEST)]]
    for name in (*ONLINE, *SVMS):
        some = [c for c in result["cells"] if c["learner"] == name]
        if name in ONLINE:
            shown = [f"{mean:.1f}±{sd:.1f} / " for mean, sd in TABLE[name]]
        else:
            shown = [""] * len(some)
        rows.append([name, *(a + show_labels(c, None) for a, c in zip(shown, some, strict=True))])
        if name in (HALVED, REFERENCE):
            rows.append(["", *(f"{c['rate']:g} {c['parameter']:.3g}" for c in some)])
    return "\n".join(lay_out(rows))


def draw(result: Row) -> Picture:
    """Draw the labels of every learner on every problem."""
    figure, axes = new_figure(10, 5)
    for name, labels in means(result).items():
        style = "s" if name in SVMS else "o"
        axes.plot(range(len(labels)), labels, style, markersize=8, label=name)
    axes.plot(range(len(BEST)), BEST, "k_", markersize=16, label="best cell of the thesis")
    axes.set_xticks(range(len(PROBLEMS)), [f"{d.name}\n({d.error:g})" for d in PROBLEMS])
    finish(axes, yscale="log", ylabel="labels to the error in brackets", legend=8,
           title="[Mon06], section 4.6: from zero, and an SVM on all labels")  # fmt: skip
    return figure
