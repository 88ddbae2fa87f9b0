"""Count the labels of `choose` and of streams on dense rows, beside logistic regression.

The goal of a run is 1.2 times the test error of logistic regression on every label, plus .003.
Logistic regression holds all rows, always asks about the least certain one, and is fitted anew
after each answer. `choose` holds the same rows; the stream sees each once.
"""

from collections.abc import Iterator
from functools import cache
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from selectron import SelectiveClassifier
from selectron.arrays import Vector
from selectron.evaluate import first_passage
from selectron.evaluate.first_passage import most_errors
from selectron.reproduce.default.families import FIRST_SEED
from selectron.reproduce.default.family_problems import Problem, Split, families
from selectron.reproduce.default.handwriting_problems import few_pictures, handwriting
from selectron.reproduce.default.pool_logistic import error_with_all, pool_errors
from selectron.reproduce.harness import first_passages, grouped
from selectron.reproduce.harness.experiment import Row
from selectron.reproduce.harness.report import Picture, lay_out, new_figure

MOST_LABELS = 1000  # of a run; one that needs more counts as all rows
TRIVIAL = ("fashion 1 v all 10% noise",)  # naming the larger class always is good enough
CHOOSE, STREAM = OURS = ("choose", "stream")


class Job(NamedTuple):
    """One problem of a family in one order."""

    family: str
    problem: str
    seed: int


@cache
def known() -> dict[str, list[Problem]]:
    """Return the problems of every family."""
    more = {"handwriting": handwriting(), "few pictures": few_pictures()}
    return {name: [p for p in some if p.name not in TRIVIAL]
            for name, some in (families() | more).items()}  # fmt: skip


def jobs(seeds: int) -> list[Job]:
    """List every problem in as many orders."""
    orders = range(FIRST_SEED, FIRST_SEED + seeds)
    return [Job(f, p.name, seed) for f, some in known().items() for p in some for seed in orders]


def measure(job: Job) -> Row:
    """Return the goal, and the labels to it of all three."""
    split = next(p for p in known()[job.family] if p.name == job.problem).shuffled(job.seed)
    goal = 1.2 * error_with_all(*split) + 0.003
    most = min(MOST_LABELS, len(split.X))
    return {
        "goal": goal,
        "rows": len(split.X),
        "pool": labels_to(goal, pool_errors(*split, job.seed), most),
        CHOOSE: labels_to(goal, chosen_errors(split, job.seed), most),
        STREAM: streamed(goal, split, job.seed),
    }


def labels_to(goal: float, errors: Iterator[tuple[int, float]], most: int) -> int | None:
    """Return the labels with which the error is first low enough, None if they are too many."""
    return first_passages(takewhile(lambda found: found[0] <= most, errors), [goal])[0]


def chosen_errors(split: Split, seed: int) -> Iterator[tuple[int, float]]:
    """Yield labels and test error after each label that `choose` asked for, from two classes on."""
    clf = SelectiveClassifier(random_state=seed)
    for n in range(1, len(split.X) + 1):
        choice = clf.choose(split.X)
        clf.tell(choice.tickets, split.taught[choice.rows])
        if len(clf.classes_) > 1:
            yield n, float(np.mean(clf.predict(split.X_test) != split.signs_test))


def streamed(goal: float, split: Split, seed: int) -> int | None:
    """Return the labels with which a stream is first good enough, None if it ends before."""
    test = split.X_test, split.signs_test
    curve = first_passage(
        SelectiveClassifier(), split.X, split.taught, test, goal, seed=seed, hold=0
    )
    return curve.passage(most_errors(goal, len(split.signs_test)))


def report(found: list[tuple[Job, Row]], seeds: int) -> Row:
    """Return a line a problem, and the geometric means of every family."""
    lines: list[Row] = []
    for (family, name), runs in grouped(((j.family, j.problem), run) for j, run in found).items():
        counted = {
            key: np.array([run[key] or run["rows"] for run in runs], float)
            for key in ("pool", *OURS)
        }
        lines.append(
            {"family": family, "problem": name, "goal": float(np.mean([r["goal"] for r in runs]))}
            | {key: [run[key] for run in runs] for key in counted}
            | {f"{key}_ratio": geometric(counted[key] / counted["pool"]) for key in OURS}
        )
    by_family = grouped((line["family"], line) for line in lines) | {"all": lines}
    return {
        "seeds": seeds,
        "problems": lines,
        "families": {name: summary(some) for name, some in by_family.items()},
    }


def summary(lines: list[Row]) -> Row:
    """Return the ratios of some problems, their standard errors, and the runs that never arrive."""
    found: Row = {"problems": len(lines)}
    for key in OURS:
        logs = np.log([line[f"{key}_ratio"] for line in lines])
        found[key] = float(np.exp(logs.mean()))
        found[f"{key}_error"] = float(found[key] * logs.std() / np.sqrt(len(logs)))
    for key in ("pool", *OURS):
        found[f"{key}_missed"] = sum(n is None for line in lines for n in line[key])
    return found


def geometric(numbers: Vector) -> float:
    return float(np.exp(np.mean(np.log(numbers))))


def text(result: Row) -> str:
    """Write the ratios of every family, and a line a problem."""
    head = [["family", "problems", *OURS, "never: pool", *OURS]]
    head += [
        [name, str(found["problems"]),
         *(f"{found[key]:.2f} ({found[f'{key}_error']:.2f})" for key in OURS),
         *(str(found[f"{key}_missed"]) for key in ("pool", *OURS))]
        for name, found in result["families"].items()
    ]  # fmt: skip
    rows = [["problem", "goal", "pool", *OURS, "choose / pool", "stream / pool"]]
    for line in result["problems"]:
        shown = (" ".join("-" if n is None else str(n) for n in line[k]) for k in ("pool", *OURS))
        ratios = (f"{line[f'{key}_ratio']:.2f}" for key in OURS)
        rows.append([line["problem"], f"{line['goal']:.2%}", *shown, *ratios])
    return "\n".join([*lay_out(head), "", *lay_out(rows)])


def draw(result: Row) -> Picture:
    """Draw the labels over those of logistic regression, a row a problem."""
    lines = result["problems"]
    figure, axes = new_figure(8, 0.22 * len(lines) + 1.2)
    colours = {family: f"C{k}" for k, family in enumerate(result["families"])}
    for key, mark in ((CHOOSE, "o"), (STREAM, "x")):
        for at, line in enumerate(lines):
            word = key if at == 0 else None
            axes.plot(line[f"{key}_ratio"], at, mark, color=colours[line["family"]], label=word)
    axes.set_yticks(range(len(lines)), [line["problem"] for line in lines], fontsize=7)
    axes.invert_yaxis()
    axes.axvline(1.0, color="black", linewidth=0.7)
    axes.legend()
    axes.set(xscale="log", xlabel="labels to the goal, of those of pool logistic regression")
    return figure
