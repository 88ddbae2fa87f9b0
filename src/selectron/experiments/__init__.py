"""The papers' tables and figures, one file each."""

from selectron.experiments.dkm09_labels import DKM09_LABELS
from selectron.experiments.registry import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    "dkm09-labels": DKM09_LABELS,
}

__all__ = ["EXPERIMENTS", "Experiment"]
