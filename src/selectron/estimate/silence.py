"""Why a label is not asked for now."""

from selectron.estimate.goal import Goal
from selectron.estimate.percent import percent
from selectron.estimate.report import Estimate


def why_silent(
    odds: float, *, warm_up: int = 0, goal: Goal | None = None, estimate: Estimate | None = None
) -> str:
    """Say why a round was not asked, the strongest reason first.

    Parameters
    ----------
    odds : float
        Its odds of being asked.
    warm_up : int
        Rounds left in which nothing is asked because the rows are still being measured.
    goal, estimate : Goal and Estimate, optional
        The goal to stop at, and the estimate it is held against.

    Examples
    --------
    >>> print(why_silent(0.0))
    margin beyond the threshold
    >>> print(why_silent(0.02))
    not drawn: the odds were 2.0 %
    >>> print(why_silent(0.0, warm_up=20))
    too early: 20 more rounds to measure the rows
    """
    if goal is not None and estimate is not None and goal.met(estimate):
        return goal.status(estimate)
    if warm_up > 0:
        return f"too early: {warm_up:,} more rounds to measure the rows"
    return (
        f"not drawn: the odds were {percent(odds)}" if odds > 0.0 else "margin beyond the threshold"
    )
