"""A floor under the odds of any query rule: a guarantee on the error needs one."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

from selectron.numeric.rows import Row
from selectron.protocol import (
    AnyForecast,
    QueryState,
    advance,
    ask_probability,
    expire,
    in_file,
    observe,
)
from selectron.queries.auto import Auto
from selectron.queries.budget import Budget, hand_on
from selectron.spec import QueryRule, Range


@dataclass(frozen=True)
class Floor(QueryRule):
    """Ask as another rule does, but never with odds below `explore`.

    A label that only the floor asked for teaches the update rule, but not the query rule. Most
    such answers are right, and a rule that narrows its threshold after right answers would starve.

    Parameters
    ----------
    query : QueryRule
        The rule that decides above the floor.
    explore : float
        The least odds of a question, in [0, 1].

    Examples
    --------
    >>> from selectron import SelectiveClassifier, evaluate, queries, streams, updates
    >>> X, y = streams.drifting("stationary", seed=0, n=2000)[:2]
    >>> query = Floor(queries.Balanced(), explore=0.05)
    >>> trace = evaluate.progressive(SelectiveClassifier(updates.Ridge(), query), X, y)
    >>> float(trace.probabilities.min())
    0.05
    """

    query: QueryRule = field(default_factory=Auto)
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
    rule: QueryState  # the state of the rule within
    explore: float


hand_on(FloorState, advance, expire)


@ask_probability.of(FloorState)
def floor_probability(query: FloorState, x: Row, forecast: AnyForecast) -> float:
    return max(float(ask_probability(query.rule, x, forecast)), query.explore)


@observe.of(FloorState)
def floor_observe(query: FloorState, x: Row, forecast: AnyForecast, y: float) -> FloorState:
    if ask_probability(query.rule, x, forecast) < query.explore:
        return query
    return query._replace(rule=observe(query.rule, x, forecast, y))


def with_floor(query: Any, explore: float) -> Any:
    """Return the rule with a floor under its odds, inside its budget if it has one."""
    if isinstance(query, Budget):
        return replace(query, query=with_floor(query.query, explore))
    if "explore" in query.knobs():
        return replace(query, explore=max(explore, query.explore))
    return Floor(query, explore)


in_file(FloorState, "explore")
