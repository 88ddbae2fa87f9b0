"""Several learners as one state: a chain, so that compiled code knows the type of each."""

from typing import Any, NamedTuple

from selectron.arrays import Vector
from selectron.compiler.verbs import Verb, helper
from selectron.numeric.rows import Row
from selectron.protocol import Forecast, glance, learn, predict


class Crew(NamedTuple):
    """The state of one update rule, and those of the others: a Crew again, or Last."""

    first: Any
    rest: Any


class Last(NamedTuple):
    """The end of the chain."""


def chain(states: list[Any]) -> Any:
    """Link the states of update rules."""
    crew: Any = Last()
    for state in reversed(states):
        crew = Crew(state, crew)
    return crew


@Verb
def hear_each(crew: Any, x: Row, k: int, margins: Vector) -> None:
    """Write the margin of every learner for the row, from place k on."""


@Verb
def teach_each(crew: Any, x: Row, y: float) -> Any:
    """Return the crew after all have learnt the label."""


@helper
def exact_forecast(update: Any, x: Row) -> Forecast:
    forecast: Forecast = glance(update, x)
    if not forecast.exact:
        forecast = predict(update, x, forecast)
    return forecast


@hear_each.of(Crew)
def hear_first(crew: Crew, x: Row, k: int, margins: Vector) -> None:
    margins[k] = exact_forecast(crew.first, x).margin
    hear_each(crew.rest, x, k + 1, margins)


@hear_each.of(Last)
def hear_nobody(crew: Last, x: Row, k: int, margins: Vector) -> None:
    return


@teach_each.of(Crew)
def teach_first(crew: Crew, x: Row, y: float) -> Crew:
    first = learn(crew.first, x, y, exact_forecast(crew.first, x))
    return Crew(first, teach_each(crew.rest, x, y))


@teach_each.of(Last)
def teach_nobody(crew: Last, x: Row, y: float) -> Last:
    return crew
