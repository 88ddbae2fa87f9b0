"""Honest numbers from asked labels: error, precision, recall, F1 of a whole stream."""

from selectron.estimate.bernstein import Bernstein
from selectron.estimate.evidence import Evidence
from selectron.estimate.goal import Goal
from selectron.estimate.outlook import Outlook, labels_to_goal, outlook
from selectron.estimate.ratios import Share
from selectron.estimate.recent import Recent
from selectron.estimate.report import Estimate
from selectron.estimate.silence import why_silent
from selectron.estimate.thinning import Thinning

__all__ = [
    "Bernstein",
    "Estimate",
    "Evidence",
    "Goal",
    "Outlook",
    "Recent",
    "Share",
    "Thinning",
    "labels_to_goal",
    "outlook",
    "why_silent",
]
