"""The asking rule of the default learner: a balanced threshold with a tail and a floor."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from selectron.compiler.verbs import helper
from selectron.numeric.elementary import exponential
from selectron.numeric.rows import Row
from selectron.protocol import Forecast, advance, ask_probability, expire, mark_overdue, observe
from selectron.queries.pace import too_many_wait
from selectron.queries.threshold import certainty, odds_with_tail
from selectron.spec import QueryRule, Range

RHO, STEP, LEAK = 0.45, 0.7, 4.0
FLOOR_SHARE, MOST_FLOOR = 0.15, 0.02
DOUBLINGS = 3  # of the power of the tail: the eighth
ONE_CLASS_STEP, ONE_CLASS_SHARE, ONE_CLASS_LABELS = 0.5, 0.25, 30.0
NO_MARGIN = 1e-12


@dataclass(frozen=True)
class Auto(QueryRule):
    """Ask below a threshold that balances itself, sometimes above it, and never never.

    Below the threshold q a label is asked, above it with the odds (q/s)⁸, s the certainty, and
    never with less than 0.15 of the recent share of questions: whole clusters on the wrong side
    are found, and the error can be estimated without bias. A mistake widens q, a right answer
    narrows it, silence widens it. While all labels are of one class, q holds a rate of questions
    that fades, and novel rows come first. While as many answers are waited for as have come, 20 at
    least, only the floor asks.

    Parameters
    ----------
    hard : bool
        Ask below the threshold only: a tenth fewer labels, and no honest estimate of the error.
    explore : float
        The least odds of a question in [0, 1]; a guarantee on the error needs some.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron import SelectiveClassifier
    >>> from selectron.evaluate import progressive
    >>> from selectron.queries import Auto
    >>> from selectron.updates import Probit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2000, 5))
    >>> y = X @ rng.standard_normal(5) > 0
    >>> trace = progressive(SelectiveClassifier(Probit(), Auto()), X, y)
    >>> print(trace.n_asked, round(trace.error, 4))
    110 0.012
    """

    hard: bool = False
    explore: float = 0.0
    RANGES: ClassVar = {"explore": Range(0.0, 1.0)}

    def begin(self, d: int) -> "AutoState":
        return AutoState(0.0, bool(self.hard), float(self.explore), 0.5, 0, 0, 0, 0, 0)


class AutoState(NamedTuple):
    threshold: float  # 0: not set yet
    hard: bool
    explore: float
    asked_share: float  # of the recent rounds
    n_rounds: int
    n_asked: int  # questions, less those that were given up
    n_overdue: int  # questions whose answers are hardly expected any more
    n_negative: int  # labels
    n_positive: int


@helper
def one_class(query: AutoState) -> bool:
    return query.n_negative == 0 or query.n_positive == 0


@helper
def paused(query: AutoState) -> bool:
    return too_many_wait(query.n_asked, query.n_overdue, query.n_negative + query.n_positive)


@helper
def floor_of(query: AutoState) -> float:
    """Return the odds that no row falls below: proportional, so that labels can run dry."""
    if query.hard:
        return query.explore
    return max(min(MOST_FLOOR, FLOOR_SHARE * query.asked_share), query.explore)


@helper
def rule_odds(query: AutoState, level: float) -> float:
    """Return the odds by threshold and tail alone."""
    limit = query.threshold if query.threshold > 0.0 else level / 2.0
    if level > limit and (query.hard or one_class(query)):
        return 0.0
    return odds_with_tail(limit, level, DOUBLINGS)


@ask_probability.of(AutoState)
def auto_probability(query: AutoState, x: Row, forecast: Forecast) -> float:
    level = certainty(forecast)
    if paused(query):
        return floor_of(query)
    if query.n_negative + query.n_positive == 0 or level < NO_MARGIN:
        return 1.0
    if query.threshold == 0.0 and not forecast.exact:
        return 1.0  # this row sets the threshold
    return max(rule_odds(query, level), floor_of(query))


@advance.of(AutoState)
def auto_advance(query: AutoState, forecast: Forecast, asked: bool) -> AutoState:
    n_rounds = query.n_rounds + 1
    threshold, share = query.threshold, query.asked_share
    n_labels = query.n_negative + query.n_positive
    level = certainty(forecast)
    if n_labels > 0 and (level >= NO_MARGIN or not asked):
        if threshold == 0.0:
            threshold = level / 2.0
        share += ((1.0 if asked else 0.0) - share) * 2.0 / (n_rounds + 1.0)
        if one_class(query):
            target = ONE_CLASS_SHARE / (1.0 + n_labels / ONE_CLASS_LABELS)
            threshold *= exponential(ONE_CLASS_STEP * (target - (1.0 if asked else 0.0)))
        elif not asked:
            threshold *= 1.0 + LEAK / n_rounds
    return query._replace(
        threshold=threshold, asked_share=share, n_rounds=n_rounds, n_asked=query.n_asked + asked
    )


@expire.of(AutoState)
def auto_expire(query: AutoState, n: int) -> AutoState:
    return query._replace(n_asked=query.n_asked - n)


@mark_overdue.of(AutoState)
def auto_overlook(query: AutoState, n: int) -> AutoState:
    return query._replace(n_overdue=n)


@observe.of(AutoState)
def auto_observe(query: AutoState, x: Row, forecast: Forecast, y: float) -> AutoState:
    threshold = query.threshold
    level = certainty(forecast)
    if threshold > 0.0 and level >= NO_MARGIN and not one_class(query):
        # A label that the floor asked for says nothing about the threshold: most are right.
        by_rule = rule_odds(query, level)
        weight = by_rule / max(by_rule, floor_of(query)) if by_rule > 0.0 else 0.0
        missed = 1.0 if y * forecast.margin <= 0.0 else 0.0
        threshold *= exponential(weight * STEP * (missed - RHO))
    return query._replace(
        threshold=threshold,
        n_negative=query.n_negative + (y < 0.0),
        n_positive=query.n_positive + (y > 0.0),
    )
