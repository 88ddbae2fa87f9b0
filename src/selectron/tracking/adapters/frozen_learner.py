"""Classifiers that are done learning: asked for a margin or a class, never taught."""

from typing import Any

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.classifier.label_arrays import plain, some
from selectron.classifier.labels import Labels


class FrozenLearner:
    """Ask a fitted classifier, which speaks of the tracker's own classes, and leave it as it is."""

    def __init__(self, learner: Any, labels: Labels) -> None:
        self.learner, self.labels = learner, labels
        self.has_predicted = False

    def margins(self, X: Matrix) -> Vector:
        """Return the margin of every row; 0 for a class of which the tracker has not heard yet."""
        known = [plain(label) for label in getattr(self.learner, "classes_", ())]
        for label in known:
            self._check(label)
        try:
            found, signed = self._read(X, len(known) == 2)
        except Exception as error:
            if self.has_predicted:
                raise
            raise ValueError(
                f"{self._name} cannot predict ({error}): without partial_fit it is asked as it is, "
                "so fit it first, to rows of the same columns"
            ) from error
        if len(found) != len(X):
            raise ValueError(f"{self._name} gave {len(found)} predictions for {len(X)} rows")
        self.has_predicted = True
        if not signed:
            return np.array([self._side(plain(label)) for label in found])
        margins: Vector = self._turn(known) * np.asarray(found, float)
        margins[np.isnan(margins)] = 0.0  # no opinion
        return margins.clip(-1.0, 1.0)

    def learn(self, x: Vector, y: float) -> None:
        """Take no notice."""

    def _read(self, X: Matrix, two: bool) -> tuple[Any, bool]:
        """Return margins towards the second of its classes, or classes; and which it is."""
        if two and hasattr(self.learner, "decision_function"):
            return np.array(self.learner.decision_function(X)).reshape(-1), True
        if two and hasattr(self.learner, "predict_proba"):
            chances = np.asarray(self.learner.predict_proba(X))
            return chances[:, 1] - chances[:, 0], True
        return np.asarray(self.learner.predict(X)).reshape(-1), False

    def _turn(self, known: list[Any]) -> float:
        return self._side(known[1]) or -self._side(known[0])

    def _side(self, label: Any) -> float:
        self._check(label)
        return self.labels.codes_by_name.get(label, 0.0)

    def _check(self, label: Any) -> None:
        if self.labels.complete and not self.labels.knows(label):
            raise ValueError(
                f"{self._name} predicts {label!r}, and the tracker's classes are "
                f"{some(self.labels.classes)}: fit it to those"
            )

    @property
    def _name(self) -> str:
        return " ".join(repr(self.learner).split())
