"""The asking rule of the default learner: a balanced threshold with a tail and a floor."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypeVar

from selectron.compiler.verbs import helper
from selectron.numeric.elementary import exponential
from selectron.numeric.rows import Row
from selectron.protocol import (
    AnyForecast,
    advance,
    ask_probability,
    expire,
    in_file,
    mark_overdue,
    observe,
)
from selectron.queries.threshold import Ceiling, certainty, moved, odds_with_tail
from selectron.spec import NOT_NEGATIVE, POSITIVE, SHARE, QueryRule, Range

RHO, LEAK = 0.45, 4.0
FRESH_ROUNDS = 5000  # after a fresh start the threshold leaks as after so many rounds
FLOOR_SHARE, MOST_FLOOR = 0.15, 0.02
DOUBLINGS = 3  # the tail falls with the power 2³
ONE_CLASS_STEP, ONE_CLASS_SHARE, ONE_CLASS_LABELS = 0.5, 0.25, 30.0
MOST_WAITING = 20  # answers
NO_MARGIN = 1e-12


@dataclass(frozen=True)
class Auto(QueryRule):
    """Ask below a threshold that balances itself, and sometimes above it.

    Let q be the threshold and s the certainty of a row. The rule asks if s is at most q, and
    otherwise with the odds (q/s)⁸. A floor keeps the odds at 0.15 of the recent share of questions
    at least, and at 0.02 at most. So no row is left out for good: the rule finds whole clusters on
    the wrong side, and the error can be estimated without bias.

    A mistake widens q, a right answer narrows it, and a round without a question widens it. While
    all labels are of one class, q holds a rate of questions that fades, and novel rows come first.
    If mistakes keep q above all certainties, labels are noise: q starts anew at 1/200 of the
    largest certainty. If the update rule drops what it had learnt, so does this rule. While at
    least 20 answers are outstanding, and at least as many as have come, only the floor asks.

    Parameters
    ----------
    hard : bool
        Ask below the threshold only. That takes a tenth fewer labels, but the error cannot be
        estimated without bias.
    explore : float
        The least odds of a question, in [0, 1]; a guarantee on the error needs some.
    step : float
        How far an answer moves the logarithm of the threshold, > 0. Large steps leave the many
        mistakes of the first texts sooner; small ones do not let the threshold fall for good.

    Examples
    --------
    >>> from selectron import SelectiveClassifier, evaluate, streams
    >>> X, y = streams.drifting("stationary", seed=0, n=2000, noise=0.0)[:2]
    >>> trace = evaluate.progressive(SelectiveClassifier(query=Auto()), X, y)
    >>> print(trace.n_asked, round(trace.error, 4))
    214 0.073
    """

    hard: bool = False
    explore: float = 0.0
    step: float = 0.5
    RANGES: ClassVar = {"explore": Range(0.0, 1.0), "step": POSITIVE}

    def begin(self, d: int) -> "AutoState":
        return AutoState(hard=bool(self.hard), explore=float(self.explore), step=float(self.step))


class AutoState(NamedTuple):
    threshold: float = 0.0  # 0: not set yet
    ceiling: Ceiling = Ceiling()
    hard: bool = False
    explore: float = 0.0
    step: float = 0.5
    asked_share: float = 0.5  # of the recent rounds
    n_rounds: int = 0
    n_asked: int = 0  # questions, less those that were given up
    n_overdue: int = 0  # questions whose answers are hardly expected any more
    n_negative: int = 0  # labels
    n_positive: int = 0


@helper
def one_class(query: AutoState) -> bool:
    """Tell whether a class has had no label yet."""
    return query.n_negative == 0 or query.n_positive == 0


@helper
def too_many_wait(n_asked: int, n_overdue: int, n_labels: int) -> bool:
    """Tell whether so many answers are outstanding that they cannot help the next question."""
    return n_asked - n_labels - n_overdue >= max(MOST_WAITING, n_labels)


@helper
def paused(query: AutoState) -> bool:
    """Tell whether only the floor asks, until more answers come."""
    return too_many_wait(query.n_asked, query.n_overdue, query.n_negative + query.n_positive)


@helper
def floor_of(query: AutoState) -> float:
    """Return the least odds of a question: a share of the recent ones, so that they can fade."""
    if query.hard:
        return query.explore
    return max(min(MOST_FLOOR, FLOOR_SHARE * query.asked_share), query.explore)


@helper
def rule_odds(query: AutoState, level: float) -> float:
    """Return the odds by the threshold and its tail, without the floor."""
    limit = query.threshold if query.threshold > 0.0 else level / 2.0
    if level > limit and (query.hard or one_class(query)):
        return 0.0
    return odds_with_tail(limit, level, DOUBLINGS)


@helper
def begun_again(query: AutoState) -> AutoState:
    """Return the rule without all it had learnt; what it asked and waits for stays."""
    return query._replace(
        threshold=0.0,
        ceiling=Ceiling(0.0, 0),
        asked_share=0.5,
        n_rounds=0,
        n_asked=query.n_asked - query.n_negative - query.n_positive,
        n_negative=0,
        n_positive=0,
    )


@ask_probability.of(AutoState)
def auto_probability(query: AutoState, x: Row, forecast: AnyForecast) -> float:
    level = certainty(forecast)
    if paused(query):
        return floor_of(query)
    if query.n_negative + query.n_positive == 0 or level < NO_MARGIN:
        return 1.0
    if query.threshold == 0.0 and not forecast.exact:
        return 1.0  # this row sets the threshold
    return max(rule_odds(query, level), floor_of(query))


@advance.of(AutoState)
def auto_advance(query: AutoState, forecast: AnyForecast, asked: bool) -> AutoState:
    if forecast.norm == 0.0 and query.n_negative + query.n_positive > 0:
        query = begun_again(query)  # as the update rule has
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


Waits = TypeVar("Waits", bound=NamedTuple)  # the state of a rule that waits for answers


@expire.of(AutoState)
def forget_questions(query: Waits, n: int) -> Waits:
    """Take back n questions that were given up."""
    left = max(query.n_asked - n, 0)  # type: ignore[attr-defined] # some may have been chosen
    return query._replace(n_asked=left)


@mark_overdue.of(AutoState)
def count_overdue(query: Waits, n: int) -> Waits:
    """Note that n answers are hardly expected any more."""
    return query._replace(n_overdue=n)


@observe.of(AutoState)
def auto_observe(query: AutoState, x: Row, forecast: AnyForecast, y: float) -> AutoState:
    threshold, ceiling, n_rounds = query.threshold, query.ceiling, query.n_rounds
    level = certainty(forecast)
    if threshold > 0.0 and level >= NO_MARGIN and not one_class(query):
        # Most answers to questions of the floor are right, whatever the threshold is. So a label
        # counts as far as the threshold asked for it.
        by_rule = rule_odds(query, level)
        weight = by_rule / max(by_rule, floor_of(query)) if by_rule > 0.0 else 0.0
        missed = 1.0 if y * forecast.margin <= 0.0 else 0.0
        factor = exponential(weight * query.step * (missed - RHO))
        threshold, ceiling, n_rounds = moved(
            threshold, ceiling, n_rounds, level, factor, FRESH_ROUNDS
        )
    return query._replace(
        threshold=threshold,
        ceiling=ceiling,
        n_rounds=n_rounds,
        n_negative=query.n_negative + (y < 0.0),
        n_positive=query.n_positive + (y > 0.0),
    )


in_file(AutoState, "hard", "explore", "step", threshold=NOT_NEGATIVE, asked_share=SHARE)
