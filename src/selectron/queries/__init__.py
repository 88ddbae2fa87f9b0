"""Query rules: whether a label is worth its price."""

from selectron.queries.always import Always, Uniform
from selectron.queries.halving import Halving
from selectron.queries.margin import AdaptiveMargin, Margin, SecondOrderMargin
from selectron.queries.threshold import Balanced, RateTracking

__all__ = [
    "AdaptiveMargin",
    "Always",
    "Balanced",
    "Halving",
    "Margin",
    "RateTracking",
    "SecondOrderMargin",
    "Uniform",
]
