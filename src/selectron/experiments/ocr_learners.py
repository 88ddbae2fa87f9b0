"""Learners without a tuned knob on the seven problems: the default, and its predecessors."""

from typing import NamedTuple

import numpy as np

from selectron.classifier import SelectiveClassifier
from selectron.evaluate.first_passage import Curve, first_passage, most_errors
from selectron.experiments.ocr_problems import PROBLEMS, draw, folds
from selectron.queries import Auto, Balanced, RateTracking
from selectron.scalings import Centred
from selectron.updates import HalfStep, Ridge

HOLD = 20  # labels for which an error has to stay down to be held

DEFAULT, HARD, SO_AUTO, SO_RATE, O_D_AUTO, O_D_RATE = (
    "default",
    "default, hard",
    "Ridge + Balanced",
    "Ridge + RateTracking",
    "HalfStep + Balanced, O(d)",
    "HalfStep + RateTracking, O(d)",
)
LEARNERS = {
    DEFAULT: SelectiveClassifier(),
    HARD: SelectiveClassifier(query=Auto(hard=True)),
    SO_AUTO: SelectiveClassifier(Ridge(), Balanced(), scaling=Centred()),
    SO_RATE: SelectiveClassifier(Ridge(), RateTracking(), scaling=Centred()),
    O_D_AUTO: SelectiveClassifier(HalfStep(), Balanced(rho=0.4, step=0.3), scaling=Centred()),
    O_D_RATE: SelectiveClassifier(HalfStep(), RateTracking(), scaling=Centred()),
}


class Runs(NamedTuple):
    """Labels to the error in each fold, None where it was never reached; and to hold it."""

    reached: list[int | None]
    held: list[int | None]

    @classmethod
    def of(cls, curves: list[Curve], allowed: list[int]) -> "Runs":
        pairs = list(zip(curves, allowed, strict=True))
        return cls([c.passage(n) for c, n in pairs], [c.held(n, HOLD) for c, n in pairs])


class LearnerJob(NamedTuple):
    """One learner on the folds of one problem."""

    learner: str
    problem: int
    runs: int
    seed: int


def run_learner(job: LearnerJob) -> Runs:
    """Run the learner over every fold until it has held the error."""
    digits = PROBLEMS[job.problem]
    _, sample = draw(digits, job.seed)
    rows, signs = sample.rows, sample.signs
    curves, allowed = [], []
    room = np.empty_like(rows)  # fresh memory for every fold would cost as much as the learner
    for fold in folds(digits, len(rows), job.runs, job.seed):
        train = np.take(rows, fold.train, axis=0, out=room[: len(fold.train)], mode="clip")
        test = rows[fold.test], signs[fold.test]
        curves.append(
            first_passage(
                LEARNERS[job.learner],
                train,
                signs[fold.train],
                test,
                digits.error,
                seed=fold.seed,
                hold=HOLD,
            )
        )
        allowed.append(most_errors(digits.error, len(fold.test)))
    return Runs.of(curves, allowed)
