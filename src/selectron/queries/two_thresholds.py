"""Two thresholds, of which the lower counts: one balances mistakes, one holds a rate."""

from typing import NamedTuple

from selectron.compiler.verbs import helper
from selectron.numeric.elementary import exponential
from selectron.queries.threshold import odds_with_tail

RHO, STEP, LEAK = 0.45, 1.0, 4.0
CAP, TRACK, APART = 0.1, 0.2, 4.0
LEAST_THRESHOLD = 1e-6
DOUBLINGS = 2  # of the power of the tail: the fourth


class Thresholds(NamedTuple):
    balanced: float  # 0: not set yet
    tracked: float


@helper
def thresholds_at(now: Thresholds, level: float) -> Thresholds:
    """Return the thresholds, which the first certainty sets."""
    if now.balanced > 0.0:
        return now
    start = max(level / 2.0, LEAST_THRESHOLD)
    return Thresholds(start, start)


@helper
def rule_odds(now: Thresholds, level: float) -> float:
    """Return the odds by the thresholds alone."""
    return odds_with_tail(min(now.balanced, now.tracked), level, DOUBLINGS)


@helper
def after_round(now: Thresholds, n_rounds: int, asked: bool, spent: float) -> Thresholds:
    """Return the thresholds after a decision, of which so much was a question of their own."""
    balanced = now.balanced if asked else now.balanced * (1.0 + LEAK / n_rounds)
    tracked = min(now.tracked * exponential(TRACK * (CAP - spent)), APART * balanced)
    return Thresholds(min(balanced, APART * tracked), tracked)


@helper
def after_label(now: Thresholds, missed: bool, share: float) -> Thresholds:
    """Return the thresholds after a label, of which they asked for this share."""
    factor = exponential(share * STEP * ((1.0 if missed else 0.0) - RHO))
    return Thresholds(factor * now.balanced, now.tracked)


@helper
def reopened(now: Thresholds) -> Thresholds:
    """Return the thresholds after a class was missed that has had few labels: no cap for it."""
    factor = exponential(STEP * (1.0 - RHO))
    return Thresholds(factor * now.balanced, factor * max(now.balanced, now.tracked))
