"""The asking rule of the default for many classes: a balanced threshold under a cap on its rate."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from selectron.arrays import Vector
from selectron.compiler.verbs import helper
from selectron.numeric.rows import Row
from selectron.protocol import (
    Forecast,
    advance,
    ask_probability,
    count_class,
    expire,
    mark_overdue,
    observe,
    preview,
    scarcer,
)
from selectron.queries.coverage import (
    FIRST_QUESTIONS,
    Coverage,
    decided,
    fresh_coverage,
    regarded,
    speaks,
    stands_out,
    weight,
)
from selectron.queries.pace import too_many_wait
from selectron.queries.scarcity import has_few, is_sought, known_classes
from selectron.queries.threshold import certainty
from selectron.queries.two_thresholds import (
    CAP,
    Thresholds,
    after_label,
    after_round,
    reopened,
    rule_odds,
    thresholds_at,
)
from selectron.spec import QueryRule, Range

ONE_CLASS_LABELS = 20
COVERED_LABELS = 400  # after which coverage has nothing to add


@dataclass(frozen=True)
class Capped(QueryRule):
    """Ask below the lower of two thresholds, e, and above it with the odds (e/s)⁴, s the certainty.

    The first balances itself: a mistake widens it, a right answer narrows it, silence widens it.
    The second holds the share of questions at a tenth: with many classes nearly every early answer
    is a mistake, and the first alone would ask nearly every row. A mistake on a class that has had
    few labels widens both, and lifts the second to the first. Rows whose best or second class is
    such a one are asked in any case, once classes have had 20 labels each on average, up to an
    eighth of all labels. Labels that only this or the floor asked for move no threshold. While as
    many answers are waited for as have come, 20 at least, only the floor asks.

    The first 15 questions, and those until two classes are known, go to rows that stand for many
    others; up to 400 labels such rows count as less certain than they are.

    Parameters
    ----------
    explore : float
        The floor: the least odds of a question, in [0, 1].
    covers : bool
        Whether rows that stand for many others come first. With a kernel, and with rows that are
        never written out, they do not.

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
    154 0.1435
    """

    explore: float = 0.005
    covers: bool = True
    RANGES: ClassVar = {"explore": Range(0.0, 1.0)}

    def begin(self, d: int) -> "CappedState":
        return self.many(d, 2)

    def many(self, d: int, n_classes: int) -> "CappedState":
        coverage, none_yet = fresh_coverage(d, used=bool(self.covers)), Thresholds(0.0, 0.0)
        return CappedState(
            np.zeros(n_classes), coverage, none_yet, float(self.explore), 0, 0, 0, 0, 0, False
        )


class CappedState(NamedTuple):
    counts: Vector  # labels of each class
    coverage: Coverage
    thresholds: Thresholds
    explore: float
    n_rounds: int
    n_asked: int  # questions, less those that were given up
    n_overdue: int  # questions whose answers are hardly expected any more
    n_labels: int
    n_sought: int  # questions that a class with few labels was the reason of
    late: bool  # the class of the label at hand has had few


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


@helper
def asks_by_coverage(query: CappedState) -> bool:
    """Tell whether margins say too little yet, and the coverage does say something."""
    few = query.n_asked < FIRST_QUESTIONS or known_classes(query.counts) < 2
    return few and speaks(query.coverage)


@helper
def weighted_certainty(query: CappedState, forecast: Forecast) -> float:
    """Return the certainty, less for a row that stands for many others."""
    return certainty(forecast) / weight(query.coverage)


@preview.of(CappedState)
def capped_regard(query: CappedState, x: Row) -> CappedState:
    if query.n_labels >= COVERED_LABELS:
        return query
    return query._replace(coverage=regarded(query.coverage, x))


@ask_probability.of(CappedState)
def capped_probability(query: CappedState, x: Row, forecast: Forecast) -> float:
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
def capped_advance(query: CappedState, forecast: Forecast, asked: bool) -> CappedState:
    n_rounds, n_sought = query.n_rounds + 1, query.n_sought
    thresholds = query.thresholds
    # While it waits nobody makes a forecast exact for it.
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
        coverage=decided(query.coverage, asked, first),
        thresholds=thresholds,
        n_rounds=n_rounds,
        n_asked=query.n_asked + asked,
        n_sought=n_sought,
    )


@count_class.of(CappedState)
def capped_meet(query: CappedState, k: int, n_classes: int) -> CappedState:
    counts, n_labels = query.counts, query.n_labels + 1
    late = has_few(counts, k, n_labels)
    counts[k] += 1.0
    return query._replace(n_labels=n_labels, late=late)


@observe.of(CappedState)
def capped_observe(query: CappedState, x: Row, forecast: Forecast, y: float) -> CappedState:
    thresholds = query.thresholds
    missed = y * forecast.margin <= 0.0
    if thresholds.balanced > 0.0 and missed and query.late:
        thresholds = reopened(thresholds)
    elif thresholds.balanced > 0.0:
        sought = seeks(query, forecast, query.n_sought - 1)  # as before this question
        odds = rule_odds(thresholds, certainty(forecast))
        thresholds = after_label(thresholds, missed, rule_share(odds, sought, query.explore))
    return query._replace(thresholds=thresholds)


@expire.of(CappedState)
def capped_expire(query: CappedState, n: int) -> CappedState:
    return query._replace(n_asked=query.n_asked - n)


@mark_overdue.of(CappedState)
def capped_overlook(query: CappedState, n: int) -> CappedState:
    return query._replace(n_overdue=n)
