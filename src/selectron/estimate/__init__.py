"""Error, precision, recall and F1 of a whole stream, estimated from the labels that were asked."""

from selectron.estimate.constructions import Bernstein, Thinning
from selectron.estimate.estimates import Estimate, Share
from selectron.estimate.evidence import Evidence
from selectron.estimate.goal import Goal, Outlook, labels_to_goal, outlook, why_silent
from selectron.estimate.recent import Recent

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
