"""The learner that users hold: `SelectiveClassifier`."""

from selectron.classifier.estimator import SelectiveClassifier
from selectron.classifier.run import Ask, AskOne
from selectron.classifier.tickets import Waiting
from selectron.files import DamagedFile

__all__ = ["Ask", "AskOne", "DamagedFile", "SelectiveClassifier", "Waiting"]
