"""Learn a classifier from a stream while paying for as few labels as possible."""

from selectron.classifier import Ask, SelectiveClassifier, load

__all__ = ["Ask", "SelectiveClassifier", "load"]
__version__ = "0.1.0"
