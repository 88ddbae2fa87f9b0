"""Learn a classifier from a stream while paying for as few labels as possible."""

from pathlib import Path
from typing import Any

from selectron.classifier import Ask, AskOne, DamagedFile, SelectiveClassifier
from selectron.classifier.estimator import load_as
from selectron.classifier.warm import warm

__all__ = ["Ask", "AskOne", "DamagedFile", "SelectiveClassifier", "load", "warm"]
__version__ = "0.1.0"


def load(path: str | Path) -> Any:
    """Read a classifier that `save` wrote; it goes on exactly where it stopped.

    Parameters
    ----------
    path : str or Path
        A file of a `SelectiveClassifier` or of a `TrackingClassifier`.
    """
    from selectron.tracking import TrackingClassifier  # noqa: PLC0415 - most files need none

    return load_as([SelectiveClassifier, TrackingClassifier], path)
