"""A floor under the odds of any query rule: what a guarantee on the error is paid with."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

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
)
from selectron.queries.auto import Auto
from selectron.queries.budget import Budget
from selectron.spec import QueryRule, Range


@dataclass(frozen=True)
class Floor(QueryRule):
    """Ask as another rule does, but never with odds below `explore`.

    A label that only the floor asked for teaches the hypothesis, not the rule: most such answers
    are right, and a rule that narrows its threshold after right answers would starve.

    Parameters
    ----------
    query : QueryRule
        What decides above the floor.
    explore : float
        The least odds of a question, in [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from selectron import SelectiveClassifier
    >>> from selectron.evaluate import progressive
    >>> from selectron.queries import Balanced, Floor
    >>> from selectron.updates import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2000, 5))
    >>> y = X @ rng.standard_normal(5) > 0
    >>> trace = progressive(SelectiveClassifier(Ridge(), Floor(Balanced(), explore=0.05)), X, y)
    >>> print(trace.n_asked, trace.probabilities.min())
    204 0.05
    """

    query: Any = field(default_factory=Auto)
    explore: float = 0.01
    RANGES: ClassVar = {"explore": Range(0.0, 1.0)}

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.query, QueryRule) or isinstance(self.query, Floor | Budget):
            raise TypeError(
                f"Floor: query must be a query rule without floor or budget, got {self.query!r}; "
                "a budget goes outside: Budget(Floor(...), total=100)"
            )

    def begin(self, d: int) -> "FloorState":
        return FloorState(self.query.begin(d), float(self.explore))

    def many(self, d: int, n_classes: int) -> "FloorState":
        return FloorState(self.query.many(d, n_classes), float(self.explore))


class FloorState(NamedTuple):
    rule: Any
    explore: float


@preview.of(FloorState)
def floor_regard(query: FloorState, x: Row) -> FloorState:
    return FloorState(preview(query.rule, x), query.explore)


@ask_probability.of(FloorState)
def floor_probability(query: FloorState, x: Row, forecast: Forecast) -> float:
    return max(float(ask_probability(query.rule, x, forecast)), query.explore)


@advance.of(FloorState)
def floor_advance(query: FloorState, forecast: Forecast, asked: bool) -> FloorState:
    return FloorState(advance(query.rule, forecast, asked), query.explore)


@count_class.of(FloorState)
def floor_meet(query: FloorState, k: int, n_classes: int) -> FloorState:
    return FloorState(count_class(query.rule, k, n_classes), query.explore)


@observe.of(FloorState)
def floor_observe(query: FloorState, x: Row, forecast: Forecast, y: float) -> FloorState:
    if ask_probability(query.rule, x, forecast) < query.explore:
        return query
    return FloorState(observe(query.rule, x, forecast, y), query.explore)


@expire.of(FloorState)
def floor_expire(query: FloorState, n: int) -> FloorState:
    return FloorState(expire(query.rule, n), query.explore)


@mark_overdue.of(FloorState)
def floor_overlook(query: FloorState, n: int) -> FloorState:
    return FloorState(mark_overdue(query.rule, n), query.explore)


def with_floor(query: Any, explore: float) -> Any:
    """Return the rule with a floor under its odds, inside its budget if it has one."""
    if isinstance(query, Budget):
        return replace(query, query=with_floor(query.query, explore))
    if hasattr(query, "explore"):
        return replace(query, explore=max(explore, query.explore))
    return Floor(query, explore)


def floor_of_rule(query: Any) -> float:
    """Return the odds that a rule never goes below while it may ask at all, 0 if there are none."""
    if isinstance(query, Budget):
        return floor_of_rule(query.query)
    return float(getattr(query, "explore", 0.0))
