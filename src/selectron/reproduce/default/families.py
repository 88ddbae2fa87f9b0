"""Count the labels of the default learner on the problems that chose its constants."""

from collections.abc import Iterable, Sequence
from math import exp
from typing import NamedTuple

import numpy as np

from selectron import SelectiveClassifier
from selectron.arrays import Matrix
from selectron.evaluate import first_passage
from selectron.evaluate.first_passage import most_errors
from selectron.queries import Auto, Balanced
from selectron.reproduce.default.family_problems import N_RARE, Problem, Split, families
from selectron.reproduce.harness import grouped
from selectron.reproduce.harness.experiment import Row
from selectron.reproduce.harness.problems import published
from selectron.reproduce.harness.report import Picture, finish, new_figure
from selectron.scalings import Automatic, Centred
from selectron.updates import Probit, Ridge

FIRST_SEED = 1000  # those below have seen constants being chosen
RESAMPLES = 400
MOST_LABELS = 250
NOT_REACHED = 500  # what a run counts that needs more
HOLD = 10
OLD, HARD, TAIL, SHELL = LEARNERS = ("old SO-auto", "hard", "tail", "ridge in the shell")
OTHERS = (HARD, TAIL, SHELL)
RARE = "rare"  # instead of a family: whole streams

# Labels of old SO-auto, and of the others over it, of the prototype on sets of its own.
PROTOTYPE: dict[str, dict[str, float]] = published("families")


class Job(NamedTuple):
    """One problem of a family, shuffled by each of the seeds."""

    family: str
    problem: Problem
    shuffles: range


def learner_of(name: str, n_rows: int) -> SelectiveClassifier:
    """Return a learner of the table; a tenth of a short stream only teaches the scale."""
    warmup = min(50, max(n_rows // 10, 10))
    if name == OLD:
        return SelectiveClassifier(Ridge(), Balanced(), scaling=Centred(warmup=warmup))
    update = Ridge() if name == SHELL else Probit()
    return SelectiveClassifier(update, Auto(hard=name != TAIL), scaling=Automatic(warmup=warmup))


def labels_to(error: float, name: str, split: Split, seed: int) -> tuple[int, ...]:
    """Return the labels until the error was reached first, and for ten labels more."""
    learner = learner_of(name, len(split.X))
    test = split.X_test, split.signs_test
    curve = first_passage(learner, split.X, split.taught, test, error, seed=seed, hold=HOLD)
    allowed = most_errors(error, len(split.signs_test))
    counts = curve.passage(allowed), curve.held(allowed, HOLD)
    return tuple(NOT_REACHED if n is None or n > MOST_LABELS else n for n in counts)


def whole_stream(name: str, split: Split, seed: int) -> tuple[int, float, int]:
    """Teach the whole stream; return the labels, the error at the end, and the rows.

    A learner that meets one class only keeps to it.
    """
    learner = learner_of(name, len(split.X)).set_params(random_state=seed)
    learner.fit(split.X, split.taught)
    error = float(np.mean(learner.predict(split.X_test) != split.signs_test))
    return learner.n_asked_, error, len(split.X)


def jobs(seeds: int) -> list[Job]:
    """List the problems of every family, and those with a rare class over whole streams."""
    shuffles = range(FIRST_SEED, FIRST_SEED + seeds)
    known = families()
    return [
        *(Job(family, given, shuffles) for family, some in known.items() for given in some),
        *(Job(RARE, given, shuffles) for given in known["synthetic"][-N_RARE:]),
    ]


def measure(job: Job) -> Row:
    """Run every learner on every shuffle of a problem."""
    given, rare = job.problem, job.family == RARE
    error = 0.0 if rare else given.tolerance()
    runs: dict[str, list[tuple[float, ...]]] = {name: [] for name in LEARNERS}
    for seed in job.shuffles:
        split = given.shuffled(seed)
        for name in LEARNERS:
            if rare:
                runs[name].append(whole_stream(name, split, seed))
            else:
                runs[name].append(labels_to(error, name, split, seed))
    head = {"name": given.name, "base": given.base_rate()}
    if rare:
        return head | {"learners": {name: _whole(some) for name, some in runs.items()}}
    first, held = ({name: [run[k] for run in some] for name, some in runs.items()} for k in (0, 1))
    return head | {"error": error, "labels": first, "held": held}


def _whole(runs: list[tuple[float, ...]]) -> dict[str, float]:
    """Average labels, their share, and the error at the end of whole streams."""
    labels, errors, rows = np.array(runs, float).T
    columns = {"labels": labels, "share": labels / rows, "error": errors}
    return {name: float(column.mean()) for name, column in columns.items()}


def report(found: list[tuple[Job, Row]], seeds: int) -> Row:
    """Return the problems with a summary of each family, and the rare classes."""
    rows = grouped((job.family, row) for job, row in found)
    some = {family: rows.get(family, []) for family in families()}
    summed = {family: {"problems": few, **summary(few)} for family, few in some.items()}
    return {"shuffles": seeds, "families": summed, "rare": rows[RARE]}


def summary(rows: Sequence[Row]) -> Row:
    """Return the labels of the old learner, ratios to it with their errors, and missed runs."""
    if not rows:
        return {}
    labels, held = (
        {name: np.array([row[kind][name] for row in rows], float) for name in LEARNERS}
        for kind in ("labels", "held")
    )
    n = labels[OLD].shape[1]
    picks = np.random.default_rng(0).integers(0, n, (RESAMPLES, n))
    return {
        "labels": exp(_log_labels(labels[OLD])),
        "ratios": {name: _ratio(labels[name], labels[OLD]) for name in OTHERS},
        "deviations": {name: float(np.std([_ratio(labels[name][:, some], labels[OLD][:, some])
                                           for some in picks])) for name in OTHERS},
        "held_ratios": {name: _ratio(held[name], held[OLD]) for name in OTHERS},
        "not_reached": {name: int((labels[name] == NOT_REACHED).sum()) for name in LEARNERS},
    }  # fmt: skip


def _ratio(ours: Matrix, old: Matrix) -> float:
    return exp(_log_labels(ours) - _log_labels(old))


def _log_labels(labels: Matrix) -> float:
    """Return the mean over problems of the log of their mean labels."""
    return float(np.mean(np.log(labels.mean(axis=1))))


def text(result: Row) -> str:
    """Write the ratios of each family, the labels of each problem, and the rare classes."""
    known = {name: found for name, found in result["families"].items() if found["problems"]}
    return "\n".join([
        f"Labels to the error, of {OLD}, and of others over it (geometric means over problems of "
        "means",
        f"over {result['shuffles']} shuffles; not reached in {MOST_LABELS} labels counts "
        f"{NOT_REACHED}; (standard error); | prototype)",
        "",
        f"{'':18}{OLD:>16}" + _cells(24, OTHERS),
        *(line for name, found in known.items() for line in _family(name, found)),
        "",
        f"Each problem: {', '.join(LEARNERS)}",
        *(f"  {row['name']:28} to {row['error']:.3f}"
          + _cells(9, (f"{np.mean(row['labels'][name]):.1f}" for name in LEARNERS))
          for found in known.values() for row in found["problems"]),
        "",
        "Rare classes, whole streams: error at the end over the base rate, and share of labels",
        f"  {'':14}{'base':>8}" + _cells(20, LEARNERS),
        *(f"  {cell['name']:14}{cell['base']:>8.4f}"
          + _cells(20, (f"{found['error'] / cell['base']:.2f} @ {found['share']:.1%}"
                        for found in cell["learners"].values()))
          for cell in result["rare"]),
    ])  # fmt: skip


def _cells(width: int, cells: Iterable[object]) -> str:
    return "".join(f"{cell!s:>{width}}" for cell in cells)


def _family(family: str, found: Row) -> list[str]:
    theirs = PROTOTYPE[family]
    ratios = (f"{found['ratios'][n]:.2f} ({found['deviations'][n]:.2f}) | {theirs[n]:.2f}"
              for n in OTHERS)  # fmt: skip
    name = f"{family} ({len(found['problems'])})"
    old = f"{found['labels']:.1f} | {theirs[OLD]:.0f}"
    first, *others = (found["not_reached"][n] for n in LEARNERS)
    missed = f"  missed, of {sum(len(row['labels'][OLD]) for row in found['problems'])}"
    held = (f"{found['held_ratios'][n]:.2f}" for n in OTHERS)
    return [
        f"{name:18}{old:>16}" + _cells(24, ratios),
        f"{'  held 10 labels':34}" + _cells(24, held),
        f"{missed:18}{first:>16}" + _cells(24, others),
    ]


def draw(result: Row) -> Picture:
    """Draw each problem's labels over the old learner's."""
    known = result["families"].items()
    rows = [(family, row) for family, found in known for row in found["problems"]]
    figure, axes = new_figure(8, 0.22 * len(rows) + 1.2)
    colours = {family: f"C{k}" for k, family in enumerate(PROTOTYPE)}
    for name, mark in ((HARD, "o"), (TAIL, "x")):
        for at, (family, row) in enumerate(rows):
            ratio = np.mean(row["labels"][name]) / np.mean(row["labels"][OLD])
            axes.plot(ratio, -at, mark, color=colours[family], label=name if at == 0 else None)
    axes.axvline(1.0, color="k", linewidth=0.7)
    finish(axes, xscale="log", xlabel=f"labels over those of {OLD}", yticks=-np.arange(len(rows)),
           yticklabels=[row["name"] for _, row in rows], legend=10,
           title="Labels of the default learner on the development families")  # fmt: skip
    axes.tick_params(axis="y", labelsize=7)
    return figure
