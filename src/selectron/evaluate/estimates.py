"""What the labels that a run asked for said of its error while it went on."""

from typing import Any

import numpy as np

from selectron.estimate import Estimate, Evidence
from selectron.queries import Always, Uniform

POINTS = 100  # estimates of a run, unless told otherwise


def estimates_over_time(
    trace: Any, level: float = 0.95, *, every: int | None = None, explore: float | None = None
) -> list[Estimate]:
    """Return the estimate after every `every` rounds and at the end, from the asked labels alone.

    Parameters
    ----------
    trace : Trace
        The run.
    level : float
        As in `selectron.estimate.Evidence.estimate`.
    every : int, optional
        In rounds; a hundredth of the run if left out.
    explore : float, optional
        The floor on the odds, known before the run; that of the query rule if left out. One taken
        from the run itself would void the claim.
    """
    floor = trace_floor(trace, explore)
    step = max(len(trace) // POINTS, 1) if every is None else every
    if step < 1:
        raise ValueError(f"every must be at least 1 round, got {every}")
    evidence = Evidence(floor)
    outside = np.cumsum(trace.probabilities < floor)
    # Of many classes only right and wrong are told apart: a prediction is +1, a mistake -1.
    predicted = np.where(trace.margins > 0.0, 1, -1)
    if len(trace.learner.classes_) > 2:
        predicted = np.ones(len(trace), int)
    labels = np.where(trace.mistakes, -predicted, predicted)
    shown, done = [], 0
    for reached in [*range(step, len(trace), step), len(trace)]:
        told = done + np.flatnonzero(trace.asked[done:reached])
        evidence.reach(reached, outside=int(outside[reached - 1]))
        evidence.add(told, trace.probabilities[told], predicted[told], labels[told])
        shown.append(evidence.estimate(level))
        done = reached
    return shown


def trace_floor(trace: Any, explore: float | None) -> float:
    """Return the floor that was given, or the odds its query rule never goes below, 0 if none."""
    query = trace.learner.rules_.query
    if explore is not None:
        return explore
    if isinstance(query, Always):
        return 1.0
    if isinstance(query, Uniform):
        return query.rate
    return float(getattr(query, "explore", 0.0))
