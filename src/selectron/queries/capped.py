"""The asking rule of the default for many classes: a balanced threshold under a cap on its rate."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from selectron.arrays import Vector
from selectron.compiler.verbs import helper
from selectron.numeric.elementary import exponential
from selectron.numeric.rows import Row
from selectron.protocol import (
    AnyForecast,
    advance,
    ask_probability,
    count_class,
    expire,
    in_file,
    mark_overdue,
    observe,
    preview,
    scarcer,
)
from selectron.queries.auto import count_overdue, forget_questions, too_many_wait
from selectron.queries.coverage import (
    FIRST_QUESTIONS,
    FIRST_SHARE,
    Coverage,
    after_decision,
    fresh_coverage,
    speaks,
    stands_out,
    weight,
    with_row,
)
from selectron.queries.threshold import certainty, odds_with_tail
from selectron.spec import NOT_NEGATIVE, QueryRule, Range

ONE_CLASS_LABELS = 20
COVERED_LABELS = 400  # after which coverage has nothing to add
RHO, STEP, LEAK = 0.45, 1.0, 4.0
CAP, TRACK, APART = 0.1, 0.2, 4.0
LEAST_THRESHOLD = 1e-6
LEAST_DEVIATIONS = 0.3  # a lead of fewer standard deviations is never taken for certain
FIRST_SHARES = Range(0.01, 1.0)
DOUBLINGS = 2  # the tail falls with the power 2²
LATE_LABELS, LATE_SHARE = 10.0, 0.2
SOUGHT_FROM, MOST_SOUGHT = 20.0, 0.125


@dataclass(frozen=True)
class Capped(QueryRule):
    """Ask below the lower of two thresholds, and sometimes above it.

    Let e be the lower threshold and s the certainty of a row. The rule asks if s is at most e, and
    otherwise with the odds (e/s)⁴.

    The first threshold balances itself: a mistake widens it, a right answer narrows it, and a
    round without a question widens it. Where certainties are in standard deviations and there are
    more labels than columns, right answers do not narrow it below 0.3. The second threshold
    holds the share of questions at a tenth. With many classes nearly every early answer is a
    mistake, so the first threshold alone would ask nearly every row.

    A mistake on a class that has had few labels widens both thresholds, and lifts the second to
    the first. Once classes have had 20 labels each on average, the rule asks every row whose best
    or second class has had few labels, up to an eighth of all labels. Labels that only this or the
    floor asked for move no threshold. While at least 20 answers are outstanding, and at least as
    many as have come, only the floor asks.

    The first 15 questions, and those until two classes are known, go to rows that stand for many
    others. Up to 400 labels, such rows count as less certain than they are.

    Parameters
    ----------
    explore : float
        The floor: the least odds of a question, in [0, 1].
    covers : bool
        Whether rows that stand for many others come first. With a kernel, and with rows that are
        never written out, they do not.
    first_share : float
        The share of rows that the first 15 questions are to have: a tenth, more in a short stream.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron import SelectiveClassifier, evaluate, updates
    >>> X = np.random.default_rng(0).standard_normal((2000, 4))
    >>> learner = SelectiveClassifier(updates.ClassRidge(), Capped())
    >>> trace = evaluate.progressive(learner, X, X.argmax(axis=1))
    >>> print(trace.n_asked, round(trace.error, 4))
    205 0.105
    """

    explore: float = 0.005
    covers: bool = True
    first_share: float = FIRST_SHARE
    RANGES: ClassVar = {"explore": Range(0.0, 1.0), "first_share": FIRST_SHARES}

    def begin(self, d: int) -> "CappedState":
        return self.many(d, 2)

    def many(self, d: int, n_classes: int) -> "CappedState":
        coverage = fresh_coverage(d, float(self.first_share), used=bool(self.covers))
        return CappedState(np.zeros(n_classes), coverage, Thresholds(), float(self.explore))


class Thresholds(NamedTuple):
    balanced: float = 0.0  # the threshold that balances itself; 0: not set yet
    tracked: float = 0.0  # the threshold that holds a rate


class CappedState(NamedTuple):
    counts: Vector  # labels of each class
    coverage: Coverage
    thresholds: Thresholds
    explore: float
    n_rounds: int = 0
    n_asked: int = 0  # questions, less those that were given up
    n_overdue: int = 0  # questions whose answers are hardly expected any more
    n_labels: int = 0
    n_sought: int = 0  # questions that were asked for the sake of a class with few labels
    late: bool = False  # the class of the last label had few before it


@helper
def thresholds_at(now: Thresholds, level: float) -> Thresholds:
    """Return the thresholds; the first certainty sets them."""
    if now.balanced > 0.0:
        return now
    start = max(level / 2.0, LEAST_THRESHOLD)
    return Thresholds(start, start)


@helper
def rule_odds(now: Thresholds, level: float) -> float:
    """Return the odds by the lower threshold and its tail, without the floor."""
    return odds_with_tail(min(now.balanced, now.tracked), level, DOUBLINGS)


@helper
def after_round(now: Thresholds, n_rounds: int, asked: bool, spent: float) -> Thresholds:
    """Return the thresholds after a decision; they are charged for `spent` of a question."""
    balanced = now.balanced if asked else now.balanced * (1.0 + LEAK / n_rounds)
    tracked = min(now.tracked * exponential(TRACK * (CAP - spent)), APART * balanced)
    return Thresholds(min(balanced, APART * tracked), tracked)


@helper
def after_label(now: Thresholds, missed: bool, share: float, least: float) -> Thresholds:
    """Return the thresholds after a label; they asked for this share of it.

    A low threshold asks so little that it hardly moves any more. So the first stays above `least`.
    """
    factor = exponential(share * STEP * ((1.0 if missed else 0.0) - RHO))
    return Thresholds(max(factor * now.balanced, least), now.tracked)


@helper
def reopened(now: Thresholds) -> Thresholds:
    """Return the thresholds after a mistake on a class with few labels: no cap slows it down."""
    factor = exponential(STEP * (1.0 - RHO))
    return Thresholds(factor * now.balanced, factor * max(now.balanced, now.tracked))


@helper
def known_classes(counts: Vector) -> int:
    """Return how many classes have had a label."""
    known = 0
    for k in range(len(counts)):
        known += counts[k] > 0.0
    return known


@helper
def usual_labels(counts: Vector, n_labels: int) -> float:
    """Return how many labels a class has had on average."""
    return n_labels / max(known_classes(counts), 1)


@helper
def has_few(counts: Vector, k: int, n_labels: int) -> bool:
    """Tell whether class k has had few labels."""
    return bool(counts[k] < min(LATE_LABELS, LATE_SHARE * usual_labels(counts, n_labels)))


@helper
def is_sought(counts: Vector, k: int, n_labels: int, n_sought: int) -> bool:
    """Tell whether rows of class k are asked in any case, after n_sought such questions."""
    begun = usual_labels(counts, n_labels) >= SOUGHT_FROM  # at first all classes have few
    return begun and has_few(counts, k, n_labels) and n_sought < MOST_SOUGHT * n_labels


@helper
def seeks(query: CappedState, forecast: AnyForecast, n_sought: int) -> bool:
    """Tell whether the row may be of a class that has had few labels and is sought."""
    k = scarcer(forecast, query.counts)
    return is_sought(query.counts, k, query.n_labels, n_sought)


@helper
def rule_share(odds: float, sought: bool, explore: float) -> float:
    """Return the share of a question that the thresholds asked for, not the floor."""
    return odds if sought else odds / max(odds, explore)


@helper
def waits(query: CappedState) -> bool:
    """Tell whether only the floor asks, until more answers come."""
    return too_many_wait(query.n_asked, query.n_overdue, query.n_labels)


@helper
def asks_by_coverage(query: CappedState) -> bool:
    """Tell whether the coverage decides: margins say too little yet, and the coverage something."""
    few = query.n_asked < FIRST_QUESTIONS or known_classes(query.counts) < 2
    return few and speaks(query.coverage)


@helper
def least_threshold(query: CappedState, forecast: AnyForecast) -> float:
    """Return what right answers leave of the first threshold.

    With more labels than columns little is open but leads that are hardly known; before that, it
    pays to be choosy.
    """
    in_deviations = forecast.variance > 0.0
    columns = query.coverage.rows.shape[1]
    return LEAST_DEVIATIONS if in_deviations and query.n_labels > columns else 0.0


@helper
def weighted_certainty(query: CappedState, forecast: AnyForecast) -> float:
    """Return the certainty of a row; it counts less if the row stands for many others."""
    return certainty(forecast) / weight(query.coverage)


@preview.of(CappedState)
def capped_preview(query: CappedState, x: Row) -> CappedState:
    if query.n_labels >= COVERED_LABELS:
        return query
    return query._replace(coverage=with_row(query.coverage, x))


@ask_probability.of(CappedState)
def capped_probability(query: CappedState, x: Row, forecast: AnyForecast) -> float:
    if waits(query):
        return query.explore
    if asks_by_coverage(query):
        return 1.0 if stands_out(query.coverage) else query.explore
    if known_classes(query.counts) < 2:
        return 1.0 if query.n_labels < ONE_CLASS_LABELS else max(CAP, query.explore)
    if query.thresholds.balanced == 0.0 and not forecast.exact:
        return 1.0  # this row sets the thresholds
    if seeks(query, forecast, query.n_sought):
        return 1.0
    level = weighted_certainty(query, forecast)
    return max(rule_odds(thresholds_at(query.thresholds, level), level), query.explore)


@advance.of(CappedState)
def capped_advance(query: CappedState, forecast: AnyForecast, asked: bool) -> CappedState:
    n_rounds, n_sought = query.n_rounds + 1, query.n_sought
    thresholds = query.thresholds
    # While the rule waits, its forecasts may be glances, which cannot set thresholds.
    begins = thresholds.balanced == 0.0 and forecast.exact and not waits(query)
    first = asks_by_coverage(query)
    known = known_classes(query.counts) > 1 and not first
    if known and (thresholds.balanced > 0.0 or begins):
        level = weighted_certainty(query, forecast)
        thresholds = thresholds_at(thresholds, level)
        spent = 0.0
        if asked:
            sought = seeks(query, forecast, n_sought)
            spent = rule_share(rule_odds(thresholds, level), sought, query.explore)
            n_sought += sought
        thresholds = after_round(thresholds, n_rounds, asked, spent)
    return query._replace(
        coverage=after_decision(query.coverage, asked, first),
        thresholds=thresholds,
        n_rounds=n_rounds,
        n_asked=query.n_asked + asked,
        n_sought=n_sought,
    )


@count_class.of(CappedState)
def capped_count_class(query: CappedState, k: int, n_classes: int) -> CappedState:
    counts, n_labels = query.counts, query.n_labels + 1
    late = has_few(counts, k, n_labels)
    counts[k] += 1.0
    return query._replace(n_labels=n_labels, late=late)


@observe.of(CappedState)
def capped_observe(query: CappedState, x: Row, forecast: AnyForecast, y: float) -> CappedState:
    thresholds = query.thresholds
    missed = y * forecast.margin <= 0.0
    if thresholds.balanced > 0.0 and missed and query.late:
        thresholds = reopened(thresholds)
    elif thresholds.balanced > 0.0:
        sought = seeks(query, forecast, query.n_sought - 1)  # as before this question
        odds = rule_odds(thresholds, certainty(forecast))
        share = rule_share(odds, sought, query.explore)
        thresholds = after_label(thresholds, missed, share, least_threshold(query, forecast))
    return query._replace(thresholds=thresholds)


expire.of(CappedState)(forget_questions)
mark_overdue.of(CappedState)(count_overdue)

in_file(CappedState, "explore", counts=NOT_NEGATIVE)
in_file(Thresholds, balanced=NOT_NEGATIVE, tracked=NOT_NEGATIVE)
