"""The asking rule of the default for many classes: a balanced threshold under a cap on its rate."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from selectron.dispatch import helper
from selectron.forecasts import scarcer
from selectron.numeric.arrays import Vector
from selectron.numeric.elementary import exponential
from selectron.numeric.rows import Row
from selectron.protocol import Forecast, advance, ask_probability, expire, meet, observe, overlook
from selectron.queries.pace import too_many_wait
from selectron.queries.scarcity import has_few, is_sought, known_classes
from selectron.queries.threshold import certainty, odds_with_tail
from selectron.spec import QueryRule, Range

RHO, STEP, LEAK = 0.45, 1.0, 4.0
CAP, TRACK, APART = 0.1, 0.2, 4.0
LEAST_THRESHOLD = 1e-6
ONE_CLASS_LABELS = 20
DOUBLINGS = 2  # of the power of the tail: the fourth


@dataclass(frozen=True)
class Capped(QueryRule):
    """Ask below the lower of two thresholds, e, and above it with the odds (e/s)⁴, s the certainty.

    The first balances itself: a mistake widens it, a right answer narrows it, silence widens it.
    The second holds the share of questions at a tenth: with many classes nearly every early answer
    is a mistake, and the first alone would ask nearly every row. A mistake on a class that has had
    few labels widens both, and lifts the second to the first. Rows whose best or second class is
    such a one are asked in any case, once classes have had 20 labels each on average, up to an
    eighth of all labels. Labels that only this or the
    floor asked for move no threshold. Until two classes are known every row is asked, after 20
    labels of one class one in ten; and while as many answers are waited for as have come, 20 at
    least, only the floor asks.

    Parameters
    ----------
    explore : float
        The floor: the least odds of a question, in [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from selectron import SelectiveClassifier
    >>> from selectron.evaluate import progressive
    >>> from selectron.queries import Capped
    >>> from selectron.updates import ClassRidge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2000, 5))
    >>> y = (X @ rng.standard_normal((5, 4))).argmax(axis=1)
    >>> trace = progressive(SelectiveClassifier(ClassRidge(), Capped()), X, y)
    >>> print(trace.n_asked, round(trace.error, 4))
    203 0.1385
    """

    explore: float = 0.005
    RANGES: ClassVar = {"explore": Range(0.0, 1.0)}

    def begin(self, d: int) -> "CappedState":
        return self.many(d, 2)

    def many(self, d: int, n_classes: int) -> "CappedState":
        return CappedState(
            np.zeros(n_classes), Thresholds(0.0, 0.0), float(self.explore), 0, 0, 0, 0, 0, False
        )


class Thresholds(NamedTuple):
    balanced: float  # 0: not set yet
    tracked: float


class CappedState(NamedTuple):
    counts: Vector  # labels of each class
    thresholds: Thresholds
    explore: float
    n_rounds: int
    n_asked: int  # questions, less those that were given up
    n_overdue: int  # questions whose answers are hardly expected any more
    n_labels: int
    n_sought: int  # questions that a class with few labels was the reason of
    late: bool  # the class of the label at hand has had few


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
def seeks(query: CappedState, forecast: Forecast, n_sought: int) -> bool:
    """Tell whether the row may be of a class that is sought."""
    k = scarcer(forecast, query.counts)
    return is_sought(query.counts, k, query.n_labels, n_sought)


@helper
def rule_share(odds: float, sought: bool, explore: float) -> float:
    """Return how much of a question is the thresholds' own."""
    return odds if sought else odds / max(odds, explore)


@helper
def waits(query: CappedState) -> bool:
    return too_many_wait(query.n_asked, query.n_overdue, query.n_labels)


@ask_probability.of(CappedState)
def capped_probability(query: CappedState, x: Row, forecast: Forecast) -> float:
    if waits(query):
        return query.explore
    if known_classes(query.counts) < 2:
        return 1.0 if query.n_labels < ONE_CLASS_LABELS else max(CAP, query.explore)
    if query.thresholds.balanced == 0.0 and not forecast.exact:
        return 1.0  # this row sets the thresholds
    if seeks(query, forecast, query.n_sought):
        return 1.0
    level = certainty(forecast)
    return max(rule_odds(thresholds_at(query.thresholds, level), level), query.explore)


@advance.of(CappedState)
def capped_advance(query: CappedState, forecast: Forecast, asked: bool) -> CappedState:
    n_rounds, n_sought = query.n_rounds + 1, query.n_sought
    thresholds = query.thresholds
    # While it waits nobody makes a forecast exact for it.
    begins = thresholds.balanced == 0.0 and forecast.exact and not waits(query)
    if known_classes(query.counts) > 1 and (thresholds.balanced > 0.0 or begins):
        level = certainty(forecast)
        balanced, tracked = thresholds = thresholds_at(thresholds, level)
        spent = 0.0
        if asked:
            sought = seeks(query, forecast, n_sought)
            spent = rule_share(rule_odds(thresholds, level), sought, query.explore)
            n_sought += sought
        else:
            balanced *= 1.0 + LEAK / n_rounds
        tracked = min(tracked * exponential(TRACK * (CAP - spent)), APART * balanced)
        thresholds = Thresholds(min(balanced, APART * tracked), tracked)
    return CappedState(
        query.counts,
        thresholds,
        query.explore,
        n_rounds,
        query.n_asked + asked,
        query.n_overdue,
        query.n_labels,
        n_sought,
        query.late,
    )


@meet.of(CappedState)
def capped_meet(query: CappedState, k: int, n_classes: int) -> CappedState:
    counts, n_labels = query.counts, query.n_labels + 1
    late = has_few(counts, k, n_labels)
    counts[k] += 1.0
    return CappedState(
        counts,
        query.thresholds,
        query.explore,
        query.n_rounds,
        query.n_asked,
        query.n_overdue,
        n_labels,
        query.n_sought,
        late,
    )


@observe.of(CappedState)
def capped_observe(query: CappedState, x: Row, forecast: Forecast, y: float) -> CappedState:
    thresholds = query.thresholds
    missed = y * forecast.margin <= 0.0
    if thresholds.balanced > 0.0 and missed and query.late:
        factor = exponential(STEP * (1.0 - RHO))
        balanced, tracked = thresholds  # the cap is lifted as far as the other threshold
        thresholds = Thresholds(factor * balanced, factor * max(balanced, tracked))
    elif thresholds.balanced > 0.0:
        sought = seeks(query, forecast, query.n_sought - 1)  # as before this question
        odds = rule_odds(thresholds, certainty(forecast))
        share = rule_share(odds, sought, query.explore)
        factor = exponential(share * STEP * ((1.0 if missed else 0.0) - RHO))
        thresholds = Thresholds(factor * thresholds.balanced, thresholds.tracked)
    return CappedState(
        query.counts,
        thresholds,
        query.explore,
        query.n_rounds,
        query.n_asked,
        query.n_overdue,
        query.n_labels,
        query.n_sought,
        query.late,
    )


@expire.of(CappedState)
def capped_expire(query: CappedState, n: int) -> CappedState:
    return CappedState(
        query.counts,
        query.thresholds,
        query.explore,
        query.n_rounds,
        query.n_asked - n,
        query.n_overdue,
        query.n_labels,
        query.n_sought,
        query.late,
    )


@overlook.of(CappedState)
def capped_overlook(query: CappedState, n: int) -> CappedState:
    return CappedState(
        query.counts,
        query.thresholds,
        query.explore,
        query.n_rounds,
        query.n_asked,
        n,
        query.n_labels,
        query.n_sought,
        query.late,
    )
