"""A floor under the odds of any query rule: a guarantee on the error needs one."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from selectron.arrays import Vector
from selectron.compiler.verbs import helper
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
from selectron.queries.budget import Budget, BudgetState, hand_on
from selectron.queries.threshold import certainty
from selectron.spec import NOT_NEGATIVE, SHARE, QueryRule, Range

BINS = 6  # of certainty


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


@dataclass(frozen=True)
class FloorByCertainty(QueryRule):
    """Ask as another rule does, with a floor for each range of certainty.

    A wager sets the floors from outside, between rounds. Floors may rise with certainty, so
    forecasts have to be exact.

    Parameters
    ----------
    query : QueryRule
        The rule that decides above the floors; it has a floor of its own.
    """

    query: QueryRule = field(default_factory=Auto)
    NAMED: ClassVar = False

    @property
    def explore(self) -> float:  # type: ignore[override]
        return self.query.explore

    def begin(self, d: int) -> "FloorByCertaintyState":
        return FloorByCertaintyState(self.query.begin(d), np.zeros(BINS - 1), np.zeros(BINS))

    def many(self, d: int, n_classes: int) -> "FloorByCertaintyState":
        rule = self.query.many(d, n_classes)
        return FloorByCertaintyState(rule, np.zeros(BINS - 1), np.zeros(BINS))


class FloorByCertaintyState(NamedTuple):
    rule: QueryState  # the state of the rule within
    edges: Vector  # certainties between the bins
    floors: Vector  # the floor of each bin


hand_on(FloorByCertaintyState, expire)


@helper
def rule_on_floor(query: FloorByCertaintyState, forecast: AnyForecast) -> QueryState:
    """Return the rule within, with the floor of this forecast as its own."""
    level, k = certainty(forecast), 0
    while k < len(query.edges) and query.edges[k] < level:
        k += 1
    return query.rule._replace(explore=max(query.rule.explore, query.floors[k]))


@helper
def with_rule(query: FloorByCertaintyState, moved: QueryState) -> FloorByCertaintyState:
    """Return the query rule after the rule within has moved; that has its own floor again."""
    return query._replace(rule=moved._replace(explore=query.rule.explore))


@ask_probability.of(FloorByCertaintyState)
def odds_by_certainty(query: FloorByCertaintyState, x: Row, forecast: AnyForecast) -> float:
    return float(ask_probability(rule_on_floor(query, forecast), x, forecast))


@advance.of(FloorByCertaintyState)
def advance_by_certainty(
    query: FloorByCertaintyState, forecast: AnyForecast, asked: bool
) -> FloorByCertaintyState:
    return with_rule(query, advance(rule_on_floor(query, forecast), forecast, asked))


@observe.of(FloorByCertaintyState)
def observe_by_certainty(
    query: FloorByCertaintyState, x: Row, forecast: AnyForecast, y: float
) -> FloorByCertaintyState:
    return with_rule(query, observe(rule_on_floor(query, forecast), x, forecast, y))


def with_floor(query: Any, explore: float) -> Any:
    """Return the rule with a floor under its odds, inside its budget if it has one."""
    if isinstance(query, Budget | FloorByCertainty):
        return replace(query, query=with_floor(query.query, explore))
    if "explore" in query.knobs():
        return replace(query, explore=max(explore, query.explore))
    return Floor(query, explore)


def by_certainty(query: Any) -> Any:
    """Return the rule with a floor for each range of certainty, inside its budget."""
    if isinstance(query, Budget):
        return replace(query, query=by_certainty(query.query))
    return (
        query if isinstance(query, FloorByCertainty) else FloorByCertainty(with_floor(query, 0.0))
    )


def set_floors(query: QueryState, edges: Vector, floors: Vector) -> None:
    """Write the floors into the state of a rule that `by_certainty` gave."""
    inside = query.rule if isinstance(query, BudgetState) else query
    inside.edges[:], inside.floors[:] = edges, floors


in_file(FloorState, "explore")
in_file(FloorByCertaintyState, edges=NOT_NEGATIVE, floors=SHARE)
