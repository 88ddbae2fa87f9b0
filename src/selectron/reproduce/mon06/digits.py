"""Draw the seven problems of [Mon06], section 4.6.2: handwritten digits, a hold-out, and the folds.

Learners without a tuned knob run on the problems here: the default, and its predecessors.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Matrix, Signs, Vector
from selectron.classifier import SelectiveClassifier
from selectron.evaluate.first_passage import Curve, first_passage, most_errors
from selectron.queries import Auto, Balanced, RateTracking
from selectron.reproduce.harness import Labels
from selectron.reproduce.harness.problems import read_pixels
from selectron.scalings import Centred
from selectron.updates import HalfStep, Ridge

Places = NDArray[np.int64]

HOLD_OUT, MOST_ROWS = 2_000, 12_000
FOLDS = 10
HOLD = 20  # labels for which an error has to stay down to be held


class Digits(NamedTuple):
    """A problem: these digits against those, to an error that [Mon06] chose."""

    name: str
    file: str
    positive: tuple[int, ...]
    negative: tuple[int, ...]  # empty: all others
    error: float


PROBLEMS = (
    Digits("0v1", "mnist.npz", (0,), (1,), 0.01),
    Digits("0vAll", "mnist.npz", (0,), (), 0.05),
    Digits("4v7", "mnist.npz", (4,), (7,), 0.05),
    Digits("6v9", "mnist.npz", (6,), (9,), 0.025),
    Digits("147vAll", "mnist.npz", (1, 4, 7), (), 0.15),
    Digits("USPS 0vAll", "usps.npz", (0,), (), 0.05),
    Digits("USPS 147vAll", "usps.npz", (1, 4, 7), (), 0.1),
)
COLUMNS = range(len(PROBLEMS))
HEADS = [f"{digits.name} ({digits.error:g})" for digits in PROBLEMS]


class Sample(NamedTuple):
    """Rows as whole numbers, whose products are exact in any order; and their lengths."""

    pixels: Matrix
    lengths: Vector
    signs: Signs

    @property
    def rows(self) -> Matrix:
        """The rows as learners see them: of unit length."""
        rows: Matrix = self.pixels / self.lengths[:, np.newaxis]
        return rows

    def part(self, places: slice) -> "Sample":
        return Sample(self.pixels[places], self.lengths[places], self.signs[places])


class Fold(NamedTuple):
    """Which rows to learn from, in their order, and which to judge by."""

    train: Places
    test: Places
    seed: int  # of the coins


def draw_sample(digits: Digits, seed: int) -> tuple[Sample, Sample]:
    """Return the hold-out for tuning, and the problem itself; they share no row."""
    pixels, classes = read_pixels(digits.file)
    wanted = digits.positive + digits.negative
    places = np.flatnonzero(np.isin(classes, wanted)) if digits.negative else np.arange(len(pixels))
    rng = np.random.default_rng([seed, PROBLEMS.index(digits)])
    places = rng.permutation(places)[:MOST_ROWS]
    drawn = pixels[places].astype(float)
    signs = np.where(np.isin(classes[places], digits.positive), 1, -1).astype(np.int8)
    whole = Sample(drawn, np.sqrt((drawn * drawn).sum(axis=1)), signs)
    apart = min(HOLD_OUT, len(signs) // 4)
    return whole.part(slice(apart)), whole.part(slice(apart, None))


def folds(
    digits: Digits, n_rows: int, runs: int, seed: int, *, own_order: bool = True
) -> Iterator[Fold]:
    """Yield the folds of each run: rows permuted anew for a run, and once more for each fold.

    Without an order of its own a fold begins with the very rows that others begin with: fifty
    folds are then hardly more than ten streams.
    """
    for run in range(runs):
        rng = np.random.default_rng([seed, PROBLEMS.index(digits), n_rows, run])
        parts = np.array_split(rng.permutation(n_rows), FOLDS)
        for k, test in enumerate(parts):
            train = np.concatenate(parts[:k] + parts[k + 1 :])
            order = rng.permutation(train)
            yield Fold(order if own_order else train, test, int(rng.integers(2**31)))


DEFAULT = "default"
LEARNERS = {
    DEFAULT: SelectiveClassifier(),
    "default, hard": SelectiveClassifier(query=Auto(hard=True)),
    "Ridge + Balanced": SelectiveClassifier(Ridge(), Balanced(), scaling=Centred()),
    "Ridge + RateTracking": SelectiveClassifier(Ridge(), RateTracking(), scaling=Centred()),
    "HalfStep + Balanced, O(d)": SelectiveClassifier(
        HalfStep(), Balanced(rho=0.4, step=0.3), scaling=Centred()
    ),
    "HalfStep + RateTracking, O(d)": SelectiveClassifier(
        HalfStep(), RateTracking(), scaling=Centred()
    ),
}


def passages(curves: Sequence[Curve], error: float, used: Sequence[Fold]) -> Labels:
    """Return the labels of each curve until its error on the test rows of its fold is reached."""
    pairs = zip(curves, used, strict=True)
    return [curve.passage(most_errors(error, len(fold.test))) for curve, fold in pairs]


class Runs(NamedTuple):
    """Labels to the error in each fold, None where it was never reached; and to hold it."""

    reached: Labels
    held: Labels

    @classmethod
    def of(cls, curves: Sequence[Curve], error: float, used: Sequence[Fold]) -> "Runs":
        pairs = zip(curves, used, strict=True)
        held = [curve.held(most_errors(error, len(fold.test)), HOLD) for curve, fold in pairs]
        return cls(passages(curves, error, used), held)


class LearnerJob(NamedTuple):
    """One learner on the folds of one problem."""

    learner: str
    problem: int
    runs: int
    seed: int


def run_learner(job: LearnerJob) -> Runs:
    """Run the learner over every fold until it has held the error."""
    digits, learner = PROBLEMS[job.problem], LEARNERS[job.learner]
    _, sample = draw_sample(digits, job.seed)
    rows, signs = sample.rows, sample.signs
    used = list(folds(digits, len(rows), job.runs, job.seed))
    curves = []
    room = np.empty_like(rows)  # fresh memory for every fold would cost as much as the learner
    for fold in used:
        train = np.take(rows, fold.train, axis=0, out=room[: len(fold.train)], mode="clip")
        given = train, signs[fold.train], (rows[fold.test], signs[fold.test])
        curves.append(first_passage(learner, *given, digits.error, seed=fold.seed, hold=HOLD))
    return Runs.of(curves, digits.error, used)
