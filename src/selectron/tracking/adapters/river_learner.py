"""Classifiers with River's interface: one row at a time, as a dictionary."""

from typing import Any

import numpy as np

from selectron.arrays import Matrix, Vector


class RiverLearner:
    """Teach by `learn_one`, with False and True for the classes and columns as names."""

    def __init__(self, learner: Any) -> None:
        self.learner = learner
        self.has_chances = hasattr(learner, "predict_proba_one")

    def margins(self, X: Matrix) -> Vector:
        return np.array([self._margin(_named(x)) for x in X])

    def learn(self, x: Vector, y: float) -> None:
        self.learner.learn_one(_named(x), y > 0.0)

    def _margin(self, x: dict[int, float]) -> float:
        if self.has_chances:
            try:
                chances = self.learner.predict_proba_one(x)
                return float(chances.get(True, 0.0) - chances.get(False, 0.0))
            except NotImplementedError:  # River's base class has the method for all
                self.has_chances = False
        side = self.learner.predict_one(x)
        return 0.0 if side is None else (1.0 if side else -1.0)


def _named(x: Vector) -> dict[int, float]:
    return dict(enumerate(x.tolist()))
