"""Our own classifier as one learner among others: taught every label, its query rule idle."""

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.classifier import SelectiveClassifier


class SelectiveLearner:
    """Teach by `learn_one`, with -1 and +1 for the classes."""

    def __init__(self, learner: SelectiveClassifier) -> None:
        known = [] if learner._run is None else learner.classes_.tolist()
        if not set(known) <= {-1, 1}:
            raise ValueError(
                f"{learner!r} has learnt the classes {known!r}: inside a tracker they are -1 and "
                "+1; pass it unfitted, or fitted to those"
            )
        self.learner = learner
        self.taught = len(known) > 0

    def margins(self, X: Matrix) -> Vector:
        if not self.taught:
            return np.zeros(len(X))
        # Classes met one by one keep the order of their coming, the first on the negative side.
        turned: Vector = -self.learner.classes_[0] * self.learner.decision_function(X)
        return turned

    def learn(self, x: Vector, y: float) -> None:
        self.learner.learn_one(x, int(y))
        self.taught = True
