"""Other people's classifiers as learners of a tracker: asked for a margin, taught by a sign."""

from copy import deepcopy
from typing import Any, Protocol, TypeAlias

import numpy as np

from selectron.arrays import Label, Matrix, Vector
from selectron.classifier import SelectiveClassifier
from selectron.classifier.labels import Labels, plain, some
from selectron.classifier.run import Run
from selectron.queries import Always
from selectron.spec import UpdateRule

Foreign: TypeAlias = Any  # a learner of any make
SIDES = np.array([-1, 1])
RIVER = {"Classifier": "classifier", "Regressor": "regressor", "Clusterer": "clusterer"}


def adapt(learner: Foreign) -> "Member":
    """Return a copy of the learner behind the interface that the tracker speaks."""
    if isinstance(learner, UpdateRule):
        return SelectiveLearner(SelectiveClassifier(learner, Always(), random_state=0))
    if isinstance(learner, SelectiveClassifier):
        return SelectiveLearner(deepcopy(learner))
    if isinstance(learner, type):
        raise TypeError(f"{learner!r} is a class: pass an instance, {learner.__name__}(...)")
    check_classifier(learner)
    if says_it_is_frozen(learner):
        return FrozenLearner(deepcopy(learner))
    if hasattr(learner, "partial_fit") and hasattr(learner, "predict"):
        return BatchLearner(deepcopy(learner))
    if hasattr(learner, "learn_one") and hasattr(learner, "predict_one"):
        return RiverLearner(deepcopy(learner))
    if hasattr(learner, "predict"):
        return FrozenLearner(deepcopy(learner))
    raise TypeError(
        f"{learner!r} cannot be a learner: it needs partial_fit and predict (scikit-learn's "
        "interface), or learn_one and predict_one (River's), or predict and to be fitted, or to be "
        "a rule of selectron.updates"
    )


class Member(Protocol):
    """A learner with a say in the vote; before it has learnt anything its margins are 0."""

    def margins(self, X: Matrix) -> Vector:
        """Return the margin of every row; nothing changes."""

    def learn(self, x: Vector, y: float) -> None:
        """Learn the label of one row, -1 or +1."""


def signed_margins(learner: Foreign, X: Matrix) -> Vector | None:
    """Return margins towards the second class; None of a learner that only names classes."""
    if hasattr(learner, "decision_function"):
        return np.asarray(learner.decision_function(X), float).reshape(-1)
    if hasattr(learner, "predict_proba"):
        chances = np.asarray(learner.predict_proba(X))
        return np.asarray(chances[:, 1] - chances[:, 0], float)
    return None


def as_votes(margins: Vector) -> Vector:
    """Return margins that the vote takes as they are: NaN is no opinion, beyond 1 is certain."""
    return np.nan_to_num(margins).clip(-1.0, 1.0)


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


class BatchLearner:
    """Teach by `partial_fit`, with -1 and +1 for the classes."""

    def __init__(self, learner: Foreign) -> None:
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
            margins = signed_margins(self.learner, X)
        if margins is None:
            margins = np.asarray(self.learner.predict(X), float).reshape(-1)
        return as_votes(margins)

    def learn(self, x: Vector, y: float) -> None:
        label = np.array([int(y)])
        if self.taught:
            self.learner.partial_fit(x[np.newaxis], label)
        else:
            self.learner.partial_fit(x[np.newaxis], label, classes=SIDES)
            self.taught = True


class RiverLearner:
    """Teach by `learn_one`, with False and True for the classes and columns as names."""

    def __init__(self, learner: Foreign) -> None:
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


class FrozenLearner:
    """Ask a fitted classifier, which speaks of the tracker's own classes, and leave it as it is."""

    def __init__(self, learner: Foreign) -> None:
        self.learner = learner
        self.run: Run | None = None  # the tracker's, whose classes it speaks of
        self.has_predicted = False

    @property
    def labels(self) -> Labels:
        return Labels() if self.run is None else self.run.labels

    def margins(self, X: Matrix) -> Vector:
        """Return the margin of every row; 0 for a class of which the tracker has not heard yet."""
        known = [plain(label) for label in getattr(self.learner, "classes_", ())]
        for label in known:
            self._check(label)
        try:
            signed = signed_margins(self.learner, X) if len(known) == 2 else None
            found = np.asarray(self.learner.predict(X)).reshape(-1) if signed is None else signed
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
        if signed is None:
            return np.array([self._side(plain(label)) for label in found])
        return as_votes((self._side(known[1]) or -self._side(known[0])) * signed)

    def learn(self, x: Vector, y: float) -> None:
        """Take no notice."""

    def _side(self, label: Label) -> float:
        self._check(label)
        return self.labels.codes_by_name.get(label, 0.0)

    def _check(self, label: Label) -> None:
        if self.labels.complete and not self.labels.knows(label):
            raise ValueError(
                f"{self._name} predicts {label!r}, and the tracker's classes are "
                f"{some(self.labels.classes)}: fit it to those"
            )

    @property
    def _name(self) -> str:
        return " ".join(repr(self.learner).split())


def check_classifier(learner: Foreign) -> None:
    """Refuse a learner that says it is something else: a regressor, a clusterer, a detector."""
    kind = _stated_kind(learner)
    if kind not in (None, "classifier"):
        article = "an" if kind[0] in "aeiou" else "a"
        raise TypeError(
            f"{' '.join(repr(learner).split())} is {article} {kind.replace('_', ' ')}, and the "
            "learners of a tracker are classifiers: pass one, such as SGDClassifier() for "
            "SGDRegressor()"
        )


def says_it_is_frozen(learner: Foreign) -> bool:
    """Tell scikit-learn's FrozenEstimator, which passes the partial_fit of what it holds on."""
    return any(b.__module__.startswith("sklearn.frozen") for b in type(learner).__mro__)


def _stated_kind(learner: Foreign) -> str | None:
    tags = getattr(learner, "__sklearn_tags__", None)
    if tags is not None:
        stated: str | None = tags().estimator_type
        return stated
    while isinstance(steps := getattr(learner, "steps", None), dict) and steps:
        learner = list(steps.values())[-1]  # a pipeline of River's is what its last step is
    bases = [b.__name__ for b in type(learner).__mro__ if b.__module__.startswith("river.base")]
    return next((kind for name, kind in RIVER.items() if name in bases), None)
