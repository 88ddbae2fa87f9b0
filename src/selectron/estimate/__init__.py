"""Error, precision, recall and F1 of a whole stream, estimated from the labels that were asked."""

from selectron.estimate.certifying import Certifying
from selectron.estimate.constructions import Bernstein, Thinning
from selectron.estimate.estimates import Estimate, Share
from selectron.estimate.evidence import Evidence
from selectron.estimate.goal import (
    Goal,
    Outlook,
    labels_to_certify,
    labels_to_goal,
    outlook,
    outlook_of,
    why_silent,
)
from selectron.estimate.recent import Recent
from selectron.estimate.wager import Wager

__all__ = [
    "Bernstein",
    "Certifying",
    "Estimate",
    "Evidence",
    "Goal",
    "Outlook",
    "Recent",
    "Share",
    "Thinning",
    "Wager",
    "labels_to_certify",
    "labels_to_goal",
    "outlook",
    "outlook_of",
    "why_silent",
]
