"""Learn a classifier from a stream while paying for as few labels as possible."""

import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from selectron.classifier import Ask, AskOne, DamagedFile, SelectiveClassifier
    from selectron.classifier.warm import warm

__all__ = ["Ask", "AskOne", "DamagedFile", "SelectiveClassifier", "load", "warm"]
__version__ = "0.1.0"

logging.getLogger(__name__).addHandler(logging.NullHandler())  # silent unless somebody listens


def __getattr__(name: str) -> Any:
    """Import the library when a name of it is first used.

    That takes a second. The command `selectron` listens for Ctrl-C before it begins.
    """
    if name.startswith("__"):  # asked for by Python's own machinery
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from selectron.classifier import Ask, AskOne, DamagedFile, SelectiveClassifier
    from selectron.classifier.warm import warm

    names = (Ask, AskOne, DamagedFile, SelectiveClassifier, warm)
    globals().update({each.__name__: each for each in names})
    if name in globals():  # one of these, or a package that they import
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def load(path: "str | Path") -> Any:
    """Read a classifier that `save` wrote; it goes on exactly where it stopped.

    Parameters
    ----------
    path : str or Path
        A file of a `SelectiveClassifier` or of a `TrackingClassifier`.
    """
    from selectron.classifier.estimator import SelectiveClassifier, load_as
    from selectron.tracking import TrackingClassifier

    return load_as([SelectiveClassifier, TrackingClassifier], path)
