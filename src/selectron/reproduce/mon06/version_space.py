"""Count how often learners leave the version space of the labels they asked for ([Mon06], 4.3).

A hypothesis is outside when it is wrong on a row that it was taught before the latest one. Section
4.3.1 shows that DKM's can be, and asks whether such a row has to be the one that made the first
hypothesis. Section 4.3.2 has not checked the learners of [CBGZ06].
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.loop import UPDATED, Log
from selectron.numeric.rows import Dense
from selectron.queries import Always, Halving, Margin
from selectron.reproduce.dkm09 import BLOCK, Job, World, error
from selectron.reproduce.dkm09.labels import patience
from selectron.reproduce.harness import grouped
from selectron.reproduce.harness.experiment import Row, verdict
from selectron.reproduce.harness.report import Picture, finish, lay_out, new_figure
from selectron.spec import QueryRule, UpdateRule
from selectron.updates import Perceptron, Reflection, SecondOrder

DIMENSIONS = (2, 5, 10, 20, 50)
LABELS, ROWS = 20, 20_000  # at most, for each dimension; DKM's error is then about one percent
DKM, DKM_SUPERVISED = "DKM: Reflection + Halving", "Reflection + Always"
PERCEPTRON, SEL_P = "Perceptron + Always", "SEL-P: Perceptron + Margin"
SEL_2ND = "SEL-2ND: SecondOrder + Margin"

LEARNERS: dict[str, tuple[UpdateRule, Callable[[int], QueryRule]]] = {
    DKM: (Reflection(), lambda d: Halving(patience(d))),
    DKM_SUPERVISED: (Reflection(), lambda d: Always()),
    PERCEPTRON: (Perceptron(), lambda d: Always()),
    SEL_P: (Perceptron(), lambda d: Margin()),
    SEL_2ND: (SecondOrder(), lambda d: Margin()),
}


class Stay(NamedTuple):
    """What one run did.

    Parameters
    ----------
    labels, error
        The labels asked, and the error at the end.
    left, left_by_another
        The labels asked when the hypothesis was first outside, and when it was first wrong on an
        earlier row that did not make the first hypothesis. None: never.
    outside
        The labels after which the hypothesis was outside.
    wrong
        The rows taught on which the last hypothesis is wrong.
    """

    labels: int
    error: float
    left: int | None
    left_by_another: int | None
    outside: int
    wrong: int


def jobs(seeds: int) -> list[Job]:
    return [Job(name, d, seed) for name in LEARNERS for d in DIMENSIONS for seed in range(seeds)]


def measure(job: Job) -> Stay:
    """Run a learner on uniform rows; after each update hold it against all rows it was taught."""
    update, query = LEARNERS[job.learner]
    world = World(update, query(job.d), job.d, job.seed)
    left: int | None = None
    left_by_another: int | None = None
    n_outside, is_outside, n_labels = 0, False, 0
    for taught, weights in lessons(world, LABELS * job.d, ROWS * job.d):
        n_outside += is_outside * (len(taught) - n_labels)
        n_labels, margins = len(taught), taught @ weights
        wrong = margins[:-1] <= 0.0
        is_outside = bool(wrong.any())
        left = left or (n_labels if is_outside else None)
        left_by_another = left_by_another or (n_labels if wrong[1:].any() else None)
    n_wrong = int(np.count_nonzero(margins <= 0.0))
    return Stay(n_labels, error(world.target, weights), left, left_by_another, n_outside, n_wrong)


def lessons(world: World, most_labels: int, most_rows: int) -> Iterator[tuple[Matrix, Vector]]:
    """Yield the rows taught so far, times their labels, and the hypothesis.

    They come after each update, and at the end.
    """
    run, taught = world.run, np.empty((0, world.machine.d))
    while run.rounds < most_rows:
        (X, signs), done = world.labelled(BLOCK), 0
        log = Log.of_questions(BLOCK)
        while done < BLOCK:
            before, first = world.weights().copy(), done
            stop = run.play(Dense(X), signs, log, first=done, pause=True)
            done = stop.position
            asked = first + np.flatnonzero(log.asked[first:done])
            taught = np.vstack([taught, X[asked] * signs[asked, np.newaxis]])
            if len(taught) > most_labels:  # an update was made on the last of them
                yield taught[:most_labels], before
                return
            if stop.status == UPDATED:
                yield taught, world.weights()
    yield taught, world.weights()


def report(found: Iterable[tuple[Job, Stay]], seeds: int) -> Row:
    """Return for each learner and dimension how many runs leave, when, and for how long."""
    runs = grouped(((job.learner, job.d), stay) for job, stay in found)
    rows = [{"learner": name, "d": d} | summary(some) for (name, d), some in runs.items()]
    return {"seeds": seeds, "labels_per_d": LABELS, "rows": rows}


def summary(runs: list[Stay]) -> Row:
    """Average over runs; when the hypothesis left is a median over the runs in which it did."""
    left = [run.left for run in runs if run.left is not None]
    by_another = [run.left_by_another is not None for run in runs]
    return {
        "labels": float(np.mean([run.labels for run in runs])),
        "error": float(np.mean([run.error for run in runs])),
        "leave": len(left) / len(runs),
        "by_another": float(np.mean(by_another)),
        "first": float(np.median(left)) if left else None,
        "outside": sum(run.outside for run in runs) / sum(run.labels for run in runs),
        "wrong": float(np.mean([run.wrong for run in runs])),
    }


def verdicts(result: Row) -> list[Row]:
    """Judge what section 4.3 shows, and answer what it leaves open."""
    rows = grouped((row["learner"], row) for row in result["rows"])

    def judge(claim: str, field: str, *names: str, never: bool = False) -> Row:
        shares = {name: [row[field] for row in rows.get(name, [])] for name in names}
        words = [f"{name} {' '.join(f'{s:.2f}' for s in found)}" for name, found in shares.items()]
        dimensions = ", ".join(str(d) for d in DIMENSIONS)
        return verdict(
            claim,
            f"share of runs at d = {dimensions}: {'; '.join(words)}",
            [(share > 0.0) is not never for found in shares.values() for share in found],
        )

    return [
        judge(
            "DKM's hypothesis can be wrong on a row that it was taught, active or supervised "
            "(Corollary 2)", "leave", DKM, DKM_SUPERVISED,
        ),
        judge("so can the standard Perceptron's (4.3.2)", "leave", PERCEPTRON),
        judge(
            "question: (4.3.1) the row on which DKM is wrong has to be the one that made the "
            "first hypothesis", "by_another", DKM, DKM_SUPERVISED, never=True,
        ),
        judge(
            "question: (4.3.2) the selective samplers of [CBGZ06] leave the version space too",
            "leave", SEL_P, SEL_2ND,
        ),
    ]  # fmt: skip


def text(result: Row) -> str:
    """Write a line for each learner and dimension."""
    head = ["", "d", "labels", "error", "leave", "by another", "first", "outside", "wrong"]
    return "\n".join(lay_out([head, *(
        [row["learner"], str(row["d"]), f"{row['labels']:.0f}", f"{row['error']:.2g}",
         f"{row['leave']:.2f}", f"{row['by_another']:.2f}",
         "-" if row["first"] is None else f"{row['first']:.0f}",
         f"{row['outside']:.2f}", f"{row['wrong']:.1f}"]
        for row in result["rows"]
    )]))  # fmt: skip


def draw(result: Row) -> Picture:
    """Draw the share of runs that leave, and of labels after which the learner is outside."""
    figure, panels = new_figure(10, 4, 1, 2, sharey=True)
    titles = {
        "by_another": "runs wrong on an earlier row, not the first",
        "outside": "labels after which the hypothesis is outside",
    }
    for axes, (field, title) in zip(panels, titles.items(), strict=True):
        for name, rows in grouped((row["learner"], row) for row in result["rows"]).items():
            places = [str(row["d"]) for row in rows]
            axes.plot(places, [row[field] for row in rows], "o-", label=name)
        finish(axes, xlabel="d", title=title, ylim=(-0.03, 1.03),
               legend=7 if field == "outside" else None)  # fmt: skip
    panels[0].set_ylabel("share")
    return figure
