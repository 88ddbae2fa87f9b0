"""Measure how far `predict_proba` is from the shares that come true, beside Platt and isotonic.

Among few rows a share is off by chance even of a probability that is right. So labels are also
drawn from our probabilities: these come true, and the distance that is left is chance. And logistic
regression says what as many labels of rows drawn at random allow.

The labels of one stream leave a learner a little too sure or too unsure. `together` puts the rows
of all streams into the same ten bins: there this luck cancels, and a bias of the method does not.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selectron import SelectiveClassifier
from selectron.arrays import Array, Indices, Matrix, Vector
from selectron.reproduce.harness import grouped
from selectron.reproduce.harness.experiment import Row
from selectron.reproduce.harness.problems import read_pixels, small_digits
from selectron.reproduce.harness.report import Picture, lay_out, new_figure

FIRST_SEED = 10  # constants were chosen with seeds 0 and 1
EARLY, BINS, PIECE, MOST_TEST = 200, 10, 20, 2_000
WANTED = 0.03
DRAWS = 20  # of labels, to find what chance does
METHODS = {"Platt": "sigmoid", "isotonic": "isotonic"}
FLIPPED, WEAK, SHIFTED = "labels flipped (dev)", "weak logistic (dev)", "Gaussians (dev)"
MADE = FLIPPED, WEAK, SHIFTED
DIGITS: dict[str, Callable[[], tuple[Array, Array]]] = {
    "digits": small_digits,
    "USPS": partial(read_pixels, "usps.npz"),
    "MNIST": partial(read_pixels, "mnist.npz"),
}
PROBLEMS = (
    "digits 4 v 7 (dev)", "digits 3 v 8 (dev)", "digits even (dev)", "digits ten (dev)",
    "cancer (dev)", "USPS even (dev)", "USPS ten (dev)", *MADE, "MNIST 4 v 7", "MNIST 3 v 8",
    "MNIST ten",
)  # fmt: skip


LOGISTIC = "logistic at random"
NAMES = ("labels", "ours", "chance", *METHODS, LOGISTIC)
TOGETHER = "together"
SHOWN = ("ours", *METHODS, LOGISTIC)


class Job(NamedTuple):
    problem: str
    seed: int


def jobs(seeds: int) -> list[Job]:
    return [Job(name, FIRST_SEED + k) for name in PROBLEMS for k in range(seeds)]


def read(name: str) -> Any:
    """Return rows and classes of a problem."""
    from sklearn.datasets import load_breast_cancer, make_classification  # noqa: PLC0415

    rng = np.random.default_rng(0)
    rows = rng.standard_normal((6_000, 10))
    if name == WEAK:
        way = rng.standard_normal(10)
        return rows, rng.random(6_000) < 1.0 / (
            1.0 + np.exp(-2.0 * rows @ way / np.sqrt(way @ way))
        )
    if name == SHIFTED:
        classes = rng.random(6_000) < 0.3
        return rows + 0.6 * classes[:, np.newaxis], classes
    if name == FLIPPED:
        return make_classification(6_000, 20, n_informative=8, flip_y=0.1, random_state=1)
    if name.startswith("cancer"):
        return load_breast_cancer(return_X_y=True)
    source, *which = name.removesuffix(" (dev)").split()
    pixels, digits = DIGITS[source]()
    if which == ["ten"]:
        return pixels.astype(float), digits
    if which == ["even"]:
        return pixels.astype(float), digits % 2 == 0
    pair = np.isin(digits, [int(which[0]), int(which[2])])
    return pixels[pair].astype(float), digits[pair]


def unreliability(chances: Matrix, is_class: NDArray[np.bool_]) -> float:
    """Return the mean distance of probabilities from shares that came true, in ten bins.

    Of two classes these are the probabilities of the second, of more those of the predicted one.
    """
    at = _judged(chances)
    return _distance(chances[np.arange(len(at)), at], is_class[np.arange(len(at)), at])


def by_chance(chances: Matrix, seed: int) -> float:
    """Return the distance, on average, if every probability were right."""
    at, rng = _judged(chances), np.random.default_rng(seed)
    told: Vector = chances[np.arange(len(at)), at]
    return float(np.mean([_distance(told, rng.random(len(told)) < told) for _ in range(DRAWS)]))


def _judged(chances: Matrix) -> Indices:
    return np.full(len(chances), 1) if chances.shape[1] == 2 else chances.argmax(axis=1)


def _distance(told: Vector, true: NDArray[np.bool_]) -> float:
    return float(np.abs(_shifts(told, true)).sum())


def _shifts(told: Vector, true: NDArray[np.bool_]) -> Vector:
    """Return by how much probabilities are too high in each bin, as a share of all rows."""
    bins = np.minimum((told * BINS).astype(int), BINS - 1)
    found: Vector = np.bincount(bins, told - true, BINS) / len(told)
    return found


def measure(job: Job) -> list[Row]:
    """Learn a stream, and judge probabilities by rows kept apart, early and at its end."""
    rows, classes = read(job.problem)
    order = np.random.default_rng(job.seed).permutation(len(rows))
    n_test = min(MOST_TEST, len(rows) // 3)
    test, stream = order[:n_test], order[n_test:]
    clf, asked, found = SelectiveClassifier(random_state=job.seed), list[int](), list[Row]()
    known = np.unique(classes)
    for start in range(0, len(stream), PIECE):
        piece = stream[start : start + PIECE]

        def answer(at: NDArray[np.int64], piece: NDArray[np.int64] = piece) -> Any:
            asked.extend(piece[at].tolist())
            return classes[piece[at]]

        early = len(asked) < EARLY
        clf.partial_fit(rows[piece], answer, classes=known)
        over = start + PIECE >= len(stream)
        if over or (early and len(asked) >= EARLY):
            is_class = classes[test][:, np.newaxis] == clf.classes_
            taught = rows[asked], classes[asked]
            judged = {name: unreliability(p, is_class) for name, p in _all(clf, taught, rows[test])}
            ours = clf.predict_proba(rows[test])
            judged["chance"] = by_chance(ours, job.seed)
            every, at = np.arange(n_test), _judged(ours)
            shifts = _shifts(ours[every, at], is_class[every, at]).tolist()
            some = stream[: len(asked)]  # their order is random
            chances, names = _logistic(rows[some], classes[some], rows[test])
            judged[LOGISTIC] = unreliability(chances, classes[test][:, np.newaxis] == names)
            when = "end" if over else "200 labels"
            found.append({"problem": job.problem, "when": when, "labels": len(asked)} | judged)
            found[-1]["shifts"] = shifts
    return found


def _all(
    clf: SelectiveClassifier, taught: tuple[Matrix, Array], rows: Matrix
) -> Iterator[tuple[str, Matrix]]:
    """Yield the probabilities of rows by each method; all are made from the same labels."""
    from sklearn.calibration import CalibratedClassifierCV  # noqa: PLC0415 - costs a second
    from sklearn.frozen import FrozenEstimator  # noqa: PLC0415

    yield "ours", clf.predict_proba(rows)
    every = np.arange(len(taught[1]))
    for name, method in METHODS.items():
        fitted = CalibratedClassifierCV(FrozenEstimator(clf), method=method, cv=[(every, every)])
        yield name, fitted.fit(*taught).predict_proba(rows)


def _logistic(rows: Matrix, labels: Array, test: Matrix) -> tuple[Matrix, Array]:
    """Return the probabilities of logistic regression on scaled columns, and its classes."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - costs a second
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415

    fitted = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1_000)).fit(rows, labels)
    return fitted.predict_proba(test), fitted.classes_


def report(found: list[tuple[Job, list[Row]]], seeds: int) -> Row:
    return {"seeds": seeds, "runs": [run for _, runs in found for run in runs]}


def _means(result: Row) -> dict[tuple[str, str], list[float]]:
    """Return the mean labels and distances of each problem and moment; last that of all streams."""
    each = grouped(((run["problem"], run["when"]), run) for run in result["runs"])
    return {
        place: [
            *(float(np.mean([run[name] for run in runs])) for name in NAMES),
            float(np.abs(np.mean([run["shifts"] for run in runs], axis=0)).sum()),
        ]
        for place, runs in each.items()
    }


def text(result: Row) -> str:
    """Write a line a problem and moment: labels, and the mean distance by each method."""
    rows, means = [["problem", "when", *NAMES, TOGETHER]], _means(result)
    for place, (labels, *distances) in means.items():
        rows.append([*place, f"{labels:.0f}", *(f"{distance:.3f}" for distance in distances)])
    near = sum(ours <= WANTED for _, ours, *_ in means.values())
    beyond = sum(ours - chance <= WANTED for _, ours, chance, *_ in means.values())
    whole = sum(together <= WANTED for *_, together in means.values())
    said = (
        f"Ours is at most {WANTED} in {near} of {len(means)} lines; what is more than chance, "
        f"in {beyond}; that of all streams together, in {whole}"
    )
    return "\n".join([*lay_out(rows), "", said])


def draw(result: Row) -> Picture:
    """Draw the distance by each method, a row a problem and moment."""
    means = _means(result)
    figure, axes = new_figure(8, 0.32 * len(means) + 1.2)
    places = np.arange(len(means))
    for name, mark in zip(SHOWN, "osvx", strict=True):
        distances = [found[NAMES.index(name)] for found in means.values()]
        axes.plot(distances, places, mark, label=name)
    chance = [found[NAMES.index("chance")] for found in means.values()]
    axes.plot(chance, places, "|", color="black", markersize=10, label="chance")
    axes.set_yticks(places, [f"{problem}, {when}" for problem, when in means])
    axes.invert_yaxis()
    axes.axvline(WANTED, color="black", linewidth=1)
    axes.set(xlabel="mean distance of probabilities from frequencies", xlim=(0, None))
    axes.legend()
    return figure
