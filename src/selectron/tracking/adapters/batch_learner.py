"""Classifiers with scikit-learn's interface: `partial_fit`, and a margin or a prediction."""

from typing import Any

import numpy as np

from selectron.arrays import Matrix, Vector

SIDES = np.array([-1, 1])


class BatchLearner:
    """Teach by `partial_fit`, with -1 and +1 for the classes."""

    def __init__(self, learner: Any) -> None:
        known = getattr(learner, "classes_", None)
        if known is not None and set(np.asarray(known).tolist()) != {-1, 1}:
            raise ValueError(
                f"{learner!r} was fitted to the classes {list(known)!r}: inside a tracker they are "
                "-1 and +1; pass it unfitted, or fitted to those"
            )
        self.learner = learner
        self.taught = known is not None

    def margins(self, X: Matrix) -> Vector:
        if not self.taught:
            return np.zeros(len(X))
        with np.errstate(all="ignore"):  # naive Bayes divides by 0 until it knows both classes
            margins: Vector = np.asarray(self._read(X), float).reshape(-1)
        margins[np.isnan(margins)] = 0.0  # no opinion
        return margins.clip(-1.0, 1.0)  # beyond, the vote would clip them; infinity it refuses

    def _read(self, X: Matrix) -> Any:
        if hasattr(self.learner, "decision_function"):
            return self.learner.decision_function(X)
        if hasattr(self.learner, "predict_proba"):
            chances = np.asarray(self.learner.predict_proba(X))
            return chances[:, 1] - chances[:, 0]
        return self.learner.predict(X)

    def learn(self, x: Vector, y: float) -> None:
        label = np.array([int(y)])
        if self.taught:
            self.learner.partial_fit(x[np.newaxis], label)
        else:
            self.learner.partial_fit(x[np.newaxis], label, classes=SIDES)
            self.taught = True
