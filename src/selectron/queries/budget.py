"""A budget of labels around any query rule: paced, spent to the end, never exceeded."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import floor, isfinite
from numbers import Real
from typing import NamedTuple

from selectron.compiler.verbs import Verb, helper
from selectron.numeric.elementary import exponential
from selectron.numeric.rows import Row
from selectron.protocol import (
    AnyForecast,
    QueryState,
    advance,
    ask_probability,
    count_class,
    expire,
    in_file,
    mark_overdue,
    observe,
    preview,
)
from selectron.queries.auto import Auto
from selectron.queries.threshold import certainty
from selectron.spec import NOT_NEGATIVE, QueryRule

AHEAD, AHEAD_LABELS = 0.1, 10.0  # how far questions may run ahead: share of the total, and least
MOST_BEHIND = 1.5  # labels: once a rate is so far behind, the next row is asked in any case
TRACK = 0.2  # speed at which the threshold follows the rate that is left to spend
UNLIMITED = float("inf")


@dataclass(frozen=True)
class Budget(QueryRule):
    """Ask as another rule does, within a budget.

    With a horizon the questions keep to the line from 0 to the total. They run ahead of the line
    by a tenth of the total at most, or by ten labels. Where the rule asks too little, the budget
    asks for the least certain rows besides. A question counts when it is asked, and is returned to
    the budget if it is given up.

    Parameters
    ----------
    query : QueryRule
        The rule that decides within the budget.
    total : int, optional
        Labels in all.
    horizon : int, optional
        Rounds over which the total is to be spent.
    rate : float, optional
        In place of a total: ask at most this share of the rounds so far, at any time.
    cost, per_label : float, optional
        In place of a total: the money to spend, and the price of a label.

    Examples
    --------
    >>> from selectron import SelectiveClassifier, evaluate, streams
    >>> X, y = streams.drifting("stationary", seed=0, n=2000)[:2]
    >>> learner = SelectiveClassifier(query=Budget(total=60, horizon=2000))
    >>> evaluate.progressive(learner, X, y).n_asked
    60
    """

    query: QueryRule = field(default_factory=Auto)
    total: int | None = None
    horizon: int | None = None
    rate: float | None = None
    cost: float | None = None
    per_label: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.query, QueryRule) or isinstance(self.query, Budget):
            raise TypeError(f"Budget: query must be a query rule, got {self.query!r}")
        given = [self.total is not None, self.rate is not None, self.cost is not None]
        if sum(given) != 1 or (self.cost is None) != (self.per_label is None):
            raise ValueError("Budget: give one of total=, rate=, or cost= with per_label=")
        for name in ("total", "horizon", "rate", "cost", "per_label"):
            self._check(name, whole=name in ("total", "horizon"))
        if self.rate is not None and (self.rate > 1.0 or self.horizon is not None):
            raise ValueError("Budget: rate must lie in (0, 1], and has no horizon")

    def _check(self, name: str, *, whole: bool) -> None:
        value = getattr(self, name)
        if value is None:
            return
        if isinstance(value, bool) or not isinstance(value, Real):
            raise TypeError(f"Budget: {name} must be a number, got {name}={value!r}")
        number = float(value)
        if not (isfinite(number) and number > 0.0):
            raise ValueError(f"Budget: {name} must be positive, got {name}={value!r}")
        if whole and not number.is_integer():
            raise ValueError(f"Budget: {name} must be a whole number, got {name}={value!r}")

    @property
    def explore(self) -> float:  # type: ignore[override]
        return self.query.explore

    @property
    def labels(self) -> float:
        """The labels that may be asked in all."""
        if self.cost is not None and self.per_label is not None:
            return float(floor(self.cost / self.per_label * (1.0 + 1e-12)))
        return UNLIMITED if self.total is None else float(self.total)

    def begin(self, d: int) -> "BudgetState":
        return self._around(self.query.begin(d))

    def many(self, d: int, n_classes: int) -> "BudgetState":
        return self._around(self.query.many(d, n_classes))

    def _around(self, rule: QueryState) -> "BudgetState":
        return BudgetState(rule, self.labels, float(self.horizon or 0.0), float(self.rate or 0.0))


class BudgetState(NamedTuple):
    rule: QueryState  # the state of the rule within
    total: float
    horizon: float  # 0: none
    rate: float  # 0: a total
    threshold: float = 0.0  # below it, rows are asked besides; 0: not set yet
    n_rounds: int = 0
    n_asked: int = 0


def hand_on(kind: type, *more: Verb) -> None:
    """Let a state hand verbs on to the rule within it, and keep its other fields.

    Every rule around another hands on what concerns the rule within alone, and `more`.
    """
    for verb in (preview, count_class, mark_overdue, *more):
        verb.of(kind)(_handed_on(verb))


def _handed_on(verb: Verb) -> Callable[..., QueryState]:
    def body(query, *args):  # type: ignore[no-untyped-def]
        return query._replace(rule=verb(query.rule, *args))

    return body


hand_on(BudgetState, observe)


@helper
def left(query: BudgetState) -> float:
    """Return how many labels may be asked now."""
    rounds = query.n_rounds + 1.0
    if query.rate > 0.0:
        return query.rate * rounds - query.n_asked
    most = query.total
    if query.horizon > 0.0:
        ahead = max(AHEAD * query.total, AHEAD_LABELS)
        most = min(most, query.total * min(rounds / query.horizon, 1.0) + ahead)
    return most - query.n_asked


@helper
def pace(query: BudgetState) -> float:
    """Return the share of the coming rounds that is to be asked, 0 if there is no line to keep."""
    if query.rate > 0.0:
        return query.rate
    rounds_left = query.horizon - query.n_rounds
    if query.horizon == 0.0 or rounds_left < 1.0:
        return 0.0
    return min((query.total - query.n_asked) / rounds_left, 1.0)


@helper
def behind(query: BudgetState) -> bool:
    """Tell whether fewer labels were asked than the line or the rate allows by now."""
    if query.rate > 0.0:
        return query.n_asked + 1.0 < query.rate * (query.n_rounds + 1.0)
    return query.n_asked < query.total * (query.n_rounds + 1.0) / query.horizon


@ask_probability.of(BudgetState)
def budget_probability(query: BudgetState, x: Row, forecast: AnyForecast) -> float:
    share = pace(query)
    if share > 0.0 and query.threshold == 0.0 and not forecast.exact:
        return 1.0  # this row sets the threshold
    odds = ask_probability(query.rule, x, forecast)
    if left(query) < 1.0:  # a rule that is sure to ask may be waiting for an exact forecast
        return 0.0 if forecast.exact or odds < 1.0 else 1.0
    late = query.rate > 0.0 and left(query) >= MOST_BEHIND
    if share >= 1.0 or late:
        return 1.0
    short = share > 0.0 and behind(query)
    if short and (query.threshold == 0.0 or certainty(forecast) <= query.threshold):
        return 1.0
    return float(odds)


@advance.of(BudgetState)
def budget_advance(query: BudgetState, forecast: AnyForecast, asked: bool) -> BudgetState:
    threshold, share = query.threshold, pace(query)
    if share > 0.0 and forecast.exact:
        threshold = threshold if threshold > 0.0 else certainty(forecast) / 2.0
    if share > 0.0 and threshold > 0.0:
        threshold *= exponential(TRACK * (share - (1.0 if asked else 0.0)))
    return query._replace(
        rule=advance(query.rule, forecast, asked),
        threshold=threshold,
        n_rounds=query.n_rounds + 1,
        n_asked=query.n_asked + asked,
    )


def close_unpaid(query: QueryState, n: int) -> QueryState:
    """Take back n questions without returning their price to a budget."""
    if isinstance(query, BudgetState):
        return query._replace(rule=expire(query.rule, n))
    return expire(query, n)


@expire.of(BudgetState)
def budget_expire(query: BudgetState, n: int) -> BudgetState:
    left = max(query.n_asked - n, 0)  # rows at hand may have been chosen without the budget
    return query._replace(rule=expire(query.rule, n), n_asked=left)


in_file(BudgetState, "total", "horizon", "rate", threshold=NOT_NEGATIVE)
