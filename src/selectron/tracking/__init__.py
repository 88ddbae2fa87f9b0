"""Learners as experts under drift: a vote that follows whoever is right ([Mon06], chapter 2)."""

from pathlib import Path

from selectron.classifier.estimator import load_as
from selectron.tracking.by_margin import ByMargin
from selectron.tracking.by_mistakes import ByMistakes
from selectron.tracking.estimator import TrackingClassifier
from selectron.tracking.following import Following, follow
from selectron.tracking.forgetting_ridge import ForgettingRidge

__all__ = [
    "ByMargin",
    "ByMistakes",
    "Following",
    "ForgettingRidge",
    "TrackingClassifier",
    "follow",
    "load",
]


def load(path: str | Path) -> TrackingClassifier:
    """Read a tracker that `save` wrote; it goes on exactly where it stopped."""
    return load_as([TrackingClassifier], path)
