"""Learners as experts under drift: a vote that follows whoever is right ([Mon06], chapter 2)."""

from pathlib import Path

from selectron.classifier.estimator import load_as
from selectron.tracking.by_margin import ByMargin
from selectron.tracking.by_mistakes import ByMistakes
from selectron.tracking.estimator import TrackingClassifier
from selectron.tracking.following import Following, follow
from selectron.tracking.forgetting_logistic import ForgettingLogistic
from selectron.tracking.forgetting_ridge import ForgettingRidge
from selectron.tracking.recent_forest import RecentForest
from selectron.tracking.recent_neighbours import RecentNeighbours

__all__ = [
    "ByMargin",
    "ByMistakes",
    "Following",
    "ForgettingLogistic",
    "ForgettingRidge",
    "RecentForest",
    "RecentNeighbours",
    "TrackingClassifier",
    "follow",
    "load",
]


def load(path: str | Path) -> TrackingClassifier:
    """Read a tracker that `save` wrote; it goes on exactly where it stopped."""
    return load_as([TrackingClassifier], path)
