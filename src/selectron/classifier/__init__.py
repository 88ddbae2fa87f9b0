"""The learner that users hold: `SelectiveClassifier`, and `load` for the files it saves."""

from pathlib import Path

from selectron.classifier.estimator import SelectiveClassifier
from selectron.classifier.interface import load_as
from selectron.classifier.run import Ask
from selectron.files import DamagedFile

__all__ = ["Ask", "DamagedFile", "SelectiveClassifier", "load"]


def load(path: str | Path) -> SelectiveClassifier:
    """Read a learner that `save` wrote; it goes on exactly where it stopped."""
    return load_as(SelectiveClassifier, path)
