"""What a learner says it is, by the conventions of scikit-learn and of River."""

from typing import Any

RIVER = {"Classifier": "classifier", "Regressor": "regressor", "Clusterer": "clusterer"}


def check_classifier(learner: Any) -> None:
    """Refuse a learner that says it is something else: a regressor, a clusterer, a detector."""
    kind = _stated_kind(learner)
    if kind not in (None, "classifier"):
        article = "an" if kind[0] in "aeiou" else "a"
        raise TypeError(
            f"{' '.join(repr(learner).split())} is {article} {kind.replace('_', ' ')}, and the "
            "learners of a tracker are classifiers: pass one, such as SGDClassifier() for "
            "SGDRegressor()"
        )


def says_it_is_frozen(learner: Any) -> bool:
    """Tell scikit-learn's FrozenEstimator, which passes the partial_fit of what it holds on."""
    return any(b.__module__.startswith("sklearn.frozen") for b in type(learner).__mro__)


def _stated_kind(learner: Any) -> str | None:
    tags = getattr(learner, "__sklearn_tags__", None)
    if tags is not None:
        stated: str | None = tags().estimator_type
        return stated
    while isinstance(steps := getattr(learner, "steps", None), dict) and steps:
        learner = list(steps.values())[-1]  # a pipeline of River's is what its last step is
    bases = [b.__name__ for b in type(learner).__mro__ if b.__module__.startswith("river.base")]
    return next((kind for name, kind in RIVER.items() if name in bases), None)
