"""Query rules: whether a label is worth its price."""

from selectron.queries.auto import Auto
from selectron.queries.budget import Budget
from selectron.queries.capped import Capped
from selectron.queries.floor import Floor
from selectron.queries.halving import Halving
from selectron.queries.margin import AdaptiveMargin, Always, Margin, SecondOrderMargin, Uniform
from selectron.queries.threshold import Balanced, RateTracking

__all__ = [
    "AdaptiveMargin",
    "Always",
    "Auto",
    "Balanced",
    "Budget",
    "Capped",
    "Floor",
    "Halving",
    "Margin",
    "RateTracking",
    "SecondOrderMargin",
    "Uniform",
]
