"""Count the mistakes of the tracker and of River's learners on the streams of River's generators.

River's learners have every label. The tracker runs twice: with the labels that it asks for, and
with every label.
"""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

from selectron.evaluate import progressive
from selectron.queries import Always
from selectron.reproduce.harness import grouped
from selectron.reproduce.harness.experiment import Row
from selectron.reproduce.harness.report import Picture, lay_out, new_figure
from selectron.reproduce.peers.generators import GENERATORS, Drifted, draw_stream
from selectron.tracking import TrackingClassifier
from selectron.tracking.adapters import Foreign

FIRST_SEED = 11  # seed 1 chose constants; a table of 11 was seen before memories were added
TENTH, ALL = "a tenth", "all labels"
OURS = (TENTH, ALL)
REGRESSION, TREE, FOREST = RIVER = "regression", "adaptive tree", "adaptive forest"
N_TREES = 10


class Job(NamedTuple):
    """One learner on one stream."""

    stream: str
    seed: int
    learner: str


class Counted(NamedTuple):
    """The share of wrong predictions, each made before its label, and the share of labels."""

    error: float
    labels: float


def needs() -> None:
    """Refuse to begin without River."""
    if find_spec("river") is None:
        raise ValueError("river not installed: pip install selectron[peers]")


def jobs(seeds: int) -> list[Job]:
    """List every learner on every stream."""
    return [
        Job(stream, FIRST_SEED + k, learner)
        for stream in GENERATORS for k in range(seeds) for learner in (*OURS, *RIVER)
    ]  # fmt: skip


def measure(job: Job) -> Counted:
    stream = draw_stream(job.stream, job.seed)
    if job.learner in RIVER:
        return Counted(_mistaken(_river(job.learner, stream, job.seed), stream), 1.0)
    tracker = TrackingClassifier(query=Always() if job.learner == ALL else None)
    trace = progressive(tracker, stream.X, stream.y, seed=job.seed)
    return Counted(trace.error, trace.n_asked / len(trace))


def _river(name: str, stream: Drifted, seed: int) -> Foreign:
    """Return a learner of River's, at River's defaults."""
    from river.forest import ARFClassifier  # noqa: PLC0415 - an extra
    from river.linear_model import LogisticRegression  # noqa: PLC0415
    from river.multiclass import OneVsRestClassifier  # noqa: PLC0415
    from river.preprocessing import StandardScaler  # noqa: PLC0415
    from river.tree import HoeffdingAdaptiveTreeClassifier  # noqa: PLC0415

    def regression() -> Foreign:
        learner = LogisticRegression()
        many = stream.y.max() > 1
        return StandardScaler() | (OneVsRestClassifier(learner) if many else learner)

    made: dict[str, Callable[[], Foreign]] = {
        REGRESSION: regression,
        TREE: lambda: HoeffdingAdaptiveTreeClassifier(seed=seed),
        FOREST: lambda: ARFClassifier(N_TREES, seed=seed),
    }
    return made[name]()


def _mistaken(learner: Foreign, stream: Drifted) -> float:
    """Return the share of rows that the learner predicts wrongly; before a label it says 0."""
    mistakes = 0
    for x, y in zip(stream.X.tolist(), stream.y.tolist(), strict=True):
        named = dict(enumerate(x))
        mistakes += (learner.predict_one(named) or 0) != y
        learner.learn_one(named, y)
    return mistakes / len(stream.y)


def report(found: list[tuple[Job, Counted]], seeds: int) -> Row:
    """Return a cell for every stream, with the mean over the seeds."""
    errors = grouped(((job.stream, job.learner), counted.error) for job, counted in found)
    labels = grouped(((job.stream, job.learner), counted.labels) for job, counted in found)
    cells = []
    for stream in dict.fromkeys(job.stream for job, _ in found):
        means = {name: float(np.mean(errors[stream, name])) for name in (*OURS, *RIVER)}
        best = min(means[name] for name in RIVER)
        cells.append({
            "stream": stream,
            "linear": GENERATORS[stream].linear,
            "errors": means,
            "labels": float(np.mean(labels[stream, TENTH])),
            "ratio": means[TENTH] / best,
            "ratio_to_regression": means[ALL] / means[REGRESSION],
        })  # fmt: skip
    return {"seeds": [FIRST_SEED + k for k in range(seeds)], "cells": cells} | _summary(cells)


def _summary(cells: Sequence[Row]) -> Row:
    linear = [cell for cell in cells if cell["linear"]]
    return {
        "ratio": _middle([cell["ratio"] for cell in cells]),
        "linear_ratio": _middle([cell["ratio"] for cell in linear]),
        "beaten": sum(cell["ratio_to_regression"] < 1.0 for cell in cells),
    }


def _middle(ratios: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios))))


def text(result: Row) -> str:
    """Write the mistakes on each stream, and the three ratios."""
    rows = [["", "tenth", "(labels)", "all", *RIVER, "tenth / best", "all / regression"]]
    for cell in result["cells"]:
        ours, everything, *river = [f"{100.0 * error:.2f}" for error in cell["errors"].values()]
        name = cell["stream"] + (" *" if cell["linear"] else "")
        ratios = f"{cell['ratio']:.2f}", f"{cell['ratio_to_regression']:.2f}"
        labels = f"({100.0 * cell['labels']:.1f})"
        rows.append([name, ours, labels, everything, *river, *ratios])
    return "\n".join([
        *lay_out(rows),
        "",
        f"a tenth of the labels / River's best with all, geometric mean: {result['ratio']:.2f}",
        f"on the streams with *, whose concepts are half-spaces: {result['linear_ratio']:.2f}",
        f"all labels: fewer mistakes than River's regression on {result['beaten']} of "
        f"{len(result['cells'])} streams",
    ])  # fmt: skip


def draw(result: Row) -> Picture:
    """Draw the mistakes of every learner on every stream."""
    figure, axes = new_figure(10, 5)
    cells = result["cells"]
    styles = {TENTH: "k*", ALL: "k_", REGRESSION: "o", TREE: "s", FOREST: "^"}
    for name, style in styles.items():
        said = f"tracker, {name}" if name in OURS else f"River, {name}, all labels"
        errors = [100.0 * cell["errors"][name] for cell in cells]
        axes.plot(errors, style, markersize=11 if name in OURS else 6, label=said)
    axes.set(yscale="log", ylabel="mistakes in %", title="Streams of River's generators")
    names = [cell["stream"] for cell in cells]
    axes.set_xticks(range(len(cells)), names, rotation=40, ha="right", fontsize=8)
    axes.grid(alpha=0.3, axis="y")
    figure.legend(loc="outside lower center", ncols=3, fontsize=8)
    return figure
