"""The learner that users hold: `SelectiveClassifier`."""

from selectron.classifier.estimator import SelectiveClassifier
from selectron.classifier.pool import Choice
from selectron.classifier.run import Ask, AskOne
from selectron.classifier.tickets import Waiting
from selectron.files import DamagedFile

__all__ = ["Ask", "AskOne", "Choice", "DamagedFile", "SelectiveClassifier", "Waiting"]
