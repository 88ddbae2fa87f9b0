"""The vote of the learners, and what each of them loses: in one place for all loops."""

from math import isfinite, nan

from selectron.arrays import Vector
from selectron.compiler.verbs import helper


@helper
def vote(weights: Vector, margins: Vector) -> float:
    """Return Σ v_k clip(p_k, -1, 1), in this order; nan if a margin is not finite."""
    total = 0.0
    for k in range(len(weights)):
        if not isfinite(margins[k]):
            return nan
        total += weights[k] * min(max(margins[k], -1.0), 1.0)
    return total


@helper
def mistaken(margin: float, y: float) -> bool:
    """Tell whether the side of the margin is not that of the label; 0 is on the negative side."""
    return (margin > 0.0) != (y > 0.0)


@helper
def write_losses(margins: Vector, y: float, probability: float, losses: Vector) -> None:
    """Write 1/probability for every learner that was wrong: unbiased over the coin of asking."""
    for k in range(len(margins)):
        losses[k] = 1.0 / probability if mistaken(margins[k], y) else 0.0
