"""Other people's classifiers as learners of a tracker: asked for a margin, taught by a sign."""

from copy import deepcopy
from typing import Any

from selectron.classifier import SelectiveClassifier
from selectron.classifier.labels import Labels
from selectron.queries import Always
from selectron.spec import UpdateRule
from selectron.tracking.adapters.batch_learner import BatchLearner
from selectron.tracking.adapters.frozen_learner import FrozenLearner
from selectron.tracking.adapters.kinds import check_classifier, says_it_is_frozen
from selectron.tracking.adapters.member import Member
from selectron.tracking.adapters.river_learner import RiverLearner
from selectron.tracking.adapters.selective_learner import SelectiveLearner

__all__ = ["FrozenLearner", "Member", "adapt"]


def adapt(learner: Any, labels: Labels) -> Member:
    """Return a copy of the learner behind the interface that the tracker speaks.

    `labels` are those of the run: what is not taught says by their names what it predicts.
    """
    if isinstance(learner, UpdateRule):
        return SelectiveLearner(SelectiveClassifier(learner, Always(), random_state=0))
    if isinstance(learner, SelectiveClassifier):
        return SelectiveLearner(deepcopy(learner))
    if isinstance(learner, type):
        raise TypeError(f"{learner!r} is a class: pass an instance, {learner.__name__}(...)")
    check_classifier(learner)
    if says_it_is_frozen(learner):
        return FrozenLearner(deepcopy(learner), labels)
    if hasattr(learner, "partial_fit") and hasattr(learner, "predict"):
        return BatchLearner(deepcopy(learner))
    if hasattr(learner, "learn_one") and hasattr(learner, "predict_one"):
        return RiverLearner(deepcopy(learner))
    if hasattr(learner, "predict"):
        return FrozenLearner(deepcopy(learner), labels)
    raise TypeError(
        f"{learner!r} cannot be a learner: it needs partial_fit and predict (scikit-learn's "
        "interface), or learn_one and predict_one (River's), or predict and to be fitted, or to be "
        "a rule of selectron.updates"
    )
