"""Predict, ask, learn: the verbs that rules give bodies to.

A learner is three rules. A *scaling* presents the row, an *update* predicts and learns, a *query*
decides whether the label is worth asking for.
"""

from typing import Any, NamedTuple

from selectron.arrays import Vector
from selectron.compiler.verbs import Verb, helper
from selectron.numeric.rows import Row


class Forecast(NamedTuple):
    """What an update rule knows of a row before its label."""

    margin: float  # p̂_t: its sign is the prediction
    unit: float  # the margin's natural unit: a standard deviation, a length, or 1
    norm: float  # the length of the hypothesis
    variance: float  # r_t = xᵀA⁻¹x, 0 in first-order rules
    exact: bool = True  # False: the least certain forecast that a glance cannot rule out


class ManyForecast(NamedTuple):
    """What an update rule for many classes knows of a row before its label."""

    margin: float  # the best score minus the second best, never negative
    unit: float
    norm: float  # the length of all prototypes as one vector
    variance: float
    exact: bool
    best: int  # the predicted class; of equal scores, that of the lowest number
    second: int


@Verb
def absorb(scaling: Any, x: Row) -> Any:
    """Take the row into the scaling's statistics (no label needed); return the scaling."""


@Verb
def has_statistics(scaling: Any) -> bool:
    """Tell whether rows are worth absorbing: a constant that the compiler can see."""


@Verb
def present(scaling: Any, x: Row) -> Any:
    """Return the row as the update rule shall see it."""


@Verb
def ready(scaling: Any) -> bool:
    """Tell whether enough rows were seen to ask for labels."""


@Verb
def follow_scaling(update: Any, x: Row) -> Any:
    """Return the update rule after its scaling has absorbed this row: most need not know."""


@Verb
def end_warm_up(scaling: Any, update: Any, query: Any) -> Any:
    """Return update and query rule after what the scaling kept of the warm-up, if anything."""


@Verb
def warm_up(update: Any, x: Row) -> Any:
    """Return the update rule after a row of the warm-up, ahead of all labels."""


@Verb
def glance(update: Any, x: Row) -> Forecast:
    """Forecast in O(d); where that cannot be exact, give the least certain possible forecast."""


@Verb
def predict(update: Any, x: Row, seen: Forecast) -> Forecast:
    """Make the forecast of a glance exact."""


@Verb
def learn(update: Any, x: Row, y: float, forecast: Forecast) -> Any:
    """Return the update rule after the label; arrays change in place."""


@Verb
def preview(query: Any, x: Row) -> Any:
    """Return the query rule after a look at a new row, ahead of the decision on it."""


@Verb
def ask_probability(query: Any, x: Row, forecast: Forecast) -> float:
    """Return the odds of asking: they never rise with certainty."""


@Verb
def advance(query: Any, forecast: Forecast, asked: bool) -> Any:
    """Return the query rule after the decision of this round."""


@Verb
def observe(query: Any, x: Row, forecast: Forecast, y: float) -> Any:
    """Return the query rule after a label it asked for."""


@Verb
def count_class(query: Any, k: int, n_classes: int) -> Any:
    """Return the query rule that is told, ahead of `observe`, which class was answered."""


@Verb
def expire(query: Any, n: int) -> Any:
    """Return the query rule after n of its questions were given up."""


@Verb
def mark_overdue(query: Any, n: int) -> Any:
    """Return the query rule that knows n of its questions to be overdue."""


@Verb
def hypothesis(update: Any) -> Vector:
    """Return the weights whose product with a row has the sign of its margin, or a row a class."""


@follow_scaling.otherwise
def unmoved_by_rows(update: Any, x: Row) -> Any:
    """Serve as `follow_scaling` of the rules that keep nothing of the scaling's statistics."""
    return update


@end_warm_up.otherwise
def keeps_nothing(scaling: Any, update: Any, query: Any) -> Any:
    """Serve as `end_warm_up` of the scalings that keep no rows."""
    return update, query


@warm_up.otherwise
def unmoved_by_warm_up(update: Any, x: Row) -> Any:
    """Serve as `warm_up` of the rules that learn from labels alone."""
    return update


@preview.otherwise
def unmoved_by_row(query: Any, x: Row) -> Any:
    """Serve as `preview` of the rules to which all rows of one certainty are alike."""
    return query


@count_class.otherwise
def unmoved_by_class(query: Any, k: int, n_classes: int) -> Any:
    """Serve as `count_class` of the rules to which all classes are alike."""
    return query


@mark_overdue.otherwise
@expire.otherwise
def unmoved_by_silence(query: Any, n: int) -> Any:
    """Serve as `expire` of the rules that do not wait for answers."""
    return query


def already_exact(update: Any, x: Row, seen: Forecast) -> Forecast:
    """Serve as `predict` of the rules whose glance is exact."""
    return seen


def unmoved_by_choice(query: Any, forecast: Forecast, asked: bool) -> Any:
    """Serve as `advance` of the rules that keep no count of rounds."""
    return query


def unmoved_by_label(query: Any, x: Row, forecast: Forecast, y: float) -> Any:
    """Serve as `observe` of the rules that do not adapt."""
    return query


@helper
def absorb_row(scaling: Any, update: Any, query: Any, x: Row) -> Any:
    """Absorb the row; if it ends the warm-up, the other rules hear of the rows before it."""
    warming = not ready(scaling)
    scaling = absorb(scaling, x)
    if warming and ready(scaling):
        update, query = end_warm_up(scaling, update, query)
    return scaling, update, query
