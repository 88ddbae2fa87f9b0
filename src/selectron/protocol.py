"""The verbs: what the loop asks of rules and forecasts.

A learner is three rules. A *scaling* presents the row, an *update* rule predicts and learns, a
*query* rule decides whether the label is worth asking for. Each rule has a *state*, and gives a
verb its body for that type of state. A verb without a body for a state does what `otherwise` says.

The loop does not know how many classes there are. With two, a label is a sign, -1 or +1. With
more, a label is the number of its class, and the margin is the lead of the best class over the
second. The verbs of the forecast hide the difference.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.compiler.verbs import Verb
from selectron.numeric.rows import Row, Rows
from selectron.spec import Range, State

ScalingState: TypeAlias = State
UpdateState: TypeAlias = State
QueryState: TypeAlias = State
Presented: TypeAlias = Any  # a row as a scaling presents it: a `Row`, or a type of its own
# What `folded_scores` needs of a scaling and of weights; None: rows are presented one by one.
Folded: TypeAlias = State | None

TILE = 16  # rows that are folded at once: so long some weights stay in the innermost cache
TWO, MANY = 4, 6  # how many numbers of a forecast are written down


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


AnyForecast: TypeAlias = Forecast | ManyForecast


@Verb
def absorb(scaling: ScalingState, x: Row) -> ScalingState:
    """Take the row into the scaling's statistics (no label needed); return the scaling."""


@Verb
def has_statistics(scaling: ScalingState) -> bool:
    """Tell whether rows are worth absorbing: a constant that the compiler can see."""


@Verb
def present(scaling: ScalingState, x: Row) -> Presented:
    """Return the row as the update rule shall see it."""


@Verb
def ready(scaling: ScalingState) -> bool:
    """Tell whether enough rows were seen to ask for labels."""


@Verb
def follow_scaling(update: UpdateState, x: Presented) -> UpdateState:
    """Return the update rule after its scaling has absorbed this row: most need not know."""


@Verb
def end_warm_up(
    scaling: ScalingState, update: UpdateState, query: QueryState
) -> tuple[UpdateState, QueryState]:
    """Return update and query rule after what the scaling kept of the warm-up, if anything."""


@Verb
def warm_up(update: UpdateState, x: Presented) -> UpdateState:
    """Return the update rule after a row of the warm-up, ahead of all labels."""


@Verb
def glance(update: UpdateState, x: Presented) -> AnyForecast:
    """Forecast in O(d); where that cannot be exact, give the least certain possible forecast."""


@Verb
def predict(update: UpdateState, x: Presented, seen: AnyForecast) -> AnyForecast:
    """Make the forecast of a glance exact."""


@Verb
def learn(update: UpdateState, x: Presented, y: float, forecast: AnyForecast) -> UpdateState:
    """Return the update rule after the label; arrays change in place."""


@Verb
def learn_again(update: UpdateState, x: Presented, y: float, forecast: AnyForecast) -> UpdateState:
    """Return the update rule after one more lesson of the label that it has learnt last."""


@Verb
def postpone(update: UpdateState) -> UpdateState:
    """Return the update rule that may put off, until `catch_up`, what only glances need."""


@Verb
def catch_up(update: UpdateState) -> UpdateState:
    """Return the update rule after all that was put off."""


@Verb
def set_odds(update: UpdateState, odds: float) -> UpdateState:
    """Return the update rule that is told the odds of a question, ahead of its label."""


@Verb
def write_details(update: UpdateState, details: Vector) -> None:
    """Write down what else the last forecast was made of, for those who keep a log."""


@Verb
def preview(query: QueryState, x: Presented) -> QueryState:
    """Return the query rule after a look at a new row, ahead of the decision on it."""


@Verb
def ask_probability(query: QueryState, x: Presented, forecast: AnyForecast) -> float:
    """Return the odds of asking: they never rise with certainty."""


@Verb
def advance(query: QueryState, forecast: AnyForecast, asked: bool) -> QueryState:
    """Return the query rule after the decision of this round."""


@Verb
def observe(query: QueryState, x: Presented, forecast: AnyForecast, y: float) -> QueryState:
    """Return the query rule after a label it asked for."""


@Verb
def count_class(query: QueryState, k: int, n_classes: int) -> QueryState:
    """Return the query rule that is told, ahead of `observe`, which class was answered."""


@Verb
def expire(query: QueryState, n: int) -> QueryState:
    """Return the query rule after n of its questions were given up."""


@Verb
def mark_overdue(query: QueryState, n: int) -> QueryState:
    """Return the query rule that knows n of its questions to be overdue."""


@Verb
def hypothesis(update: UpdateState) -> Vector:
    """Return the weights whose product with a row has the sign of its margin, or a row a class."""


@Verb
def product_weights(update: UpdateState) -> Matrix | None:
    """Return the weights, a row a class, if scores are nothing but products with them.

    The body is never compiled.
    """


@Verb
def fold(scaling: ScalingState, weights: Matrix) -> Folded:
    """Return what `folded_scores` needs of a scaling and of weights, worked out once for all rows.

    None if rows have to be presented one by one. The body is never compiled.
    """


@Verb
def folded_scores(folded: Folded, X: Rows, start: int, scores: Matrix) -> None:
    """Write the products of rows from `start` on with all weights, as if they were presented."""


@Verb
def verdict(forecast: AnyForecast, y: float) -> float:
    """Return the label as a query rule is told it: a sign, +1 for a right answer among many."""


@Verb
def class_of(forecast: AnyForecast, y: float) -> int:
    """Return the number of the class that a label names."""


@Verb
def class_count(forecast: AnyForecast, update: UpdateState) -> int:
    """Return how many classes compete."""


@Verb
def scarcer(forecast: AnyForecast, counts: Vector) -> int:
    """Return which of the two classes that the margin lies between has had fewer labels."""


@Verb
def side(forecast: AnyForecast) -> float:
    """Return what the prediction hangs on: the margin, or the number of the best class."""


@Verb
def write_down(forecast: AnyForecast, told: Vector) -> None:
    """Keep the numbers of a forecast."""


@Verb
def recall(forecast: AnyForecast, told: Vector) -> AnyForecast:
    """Return the exact forecast that was written down, of the same kind as this one."""


@Verb
def relabel(update: State, x: Presented, before: float, after: float) -> State:
    """Replace a label that was taught by another one. The body is never compiled.

    Only a hypothesis that is a sum over all labels can do so: rules that learn from mistakes have
    gone another way since. Their specs are not `CORRECTABLE`.
    """


@Verb
def chances(update: UpdateState, scores: Vector) -> Matrix:
    """Return the probability of each class of rows with these margins, or scores of many classes.

    Only rules whose spec says `HAS_SCALE` have a body. The body is never compiled.
    """


@Verb
def flaw(state: State) -> str:
    """Say what cannot be about a state that was read from a file; nothing if all is well.

    Types, shapes, constants, and whether numbers are finite and counts not negative have been
    checked before. A state says here what else its arrays are indexed by, and which numbers it can
    do nothing with. The body is never compiled.
    """


@flaw.otherwise
def flawless(state: State) -> str:
    """Serve as `flaw` of the states in which any finite numbers can do no harm."""
    return ""


@Verb.with_body
def constants(state: State) -> tuple[str, ...]:
    """Name the numbers of a state that never change: a file has them as the rule begins with them.

    The body is never compiled.
    """
    return ()


@Verb.with_body
def rooms(state: State) -> tuple[str, ...]:
    """Name the arrays of a state that every call fills anew; files have zeros there.

    The body is never compiled.
    """
    return ()


def out_of_range(state: State, **ranges: Range) -> str:
    """Say which field of a state, a number or an array, lies outside its range; nothing if none."""
    for name, allowed in ranges.items():
        found = np.asarray(getattr(state, name))
        if found.size and not (allowed.holds(found.min()) and allowed.holds(found.max())):
            return f"{name} goes from {found.min()} to {found.max()}, not within {allowed}"
    return ""


def room_for(kind: type, *names: str) -> None:
    """Say of a state which of its arrays are room for the row at hand (`rooms`)."""
    rooms.of(kind)(lambda state: names)


def in_file(kind: type, /, *fixed: str, **ranges: Range) -> None:
    """Say of a state which numbers a file may hold: `constants`, and ranges of others (`flaw`)."""
    constants.of(kind)(lambda state: fixed)
    if ranges:
        flaw.of(kind)(lambda state: out_of_range(state, **ranges))


# Bodies for the rules that need not know. The compiler drops calls that do nothing.


@follow_scaling.otherwise
def unmoved_by_rows(update: UpdateState, x: Presented) -> UpdateState:
    """Serve as `follow_scaling` of the rules that keep nothing of the scaling's statistics."""
    return update


@product_weights.otherwise
def more_than_products(update: UpdateState) -> None:
    """Serve as `product_weights` of the rules whose scores are more than products."""


@fold.otherwise
def one_by_one(scaling: ScalingState, weights: Matrix) -> None:
    """Serve as `fold` of the scalings that present rows one by one."""


@end_warm_up.otherwise
def keeps_nothing(
    scaling: ScalingState, update: UpdateState, query: QueryState
) -> tuple[UpdateState, QueryState]:
    """Serve as `end_warm_up` of the scalings that keep no rows."""
    return update, query


@warm_up.otherwise
def unmoved_by_warm_up(update: UpdateState, x: Presented) -> UpdateState:
    """Serve as `warm_up` of the rules that learn from labels alone."""
    return update


@learn_again.otherwise
def learn_as_before(
    update: UpdateState, x: Presented, y: float, forecast: AnyForecast
) -> UpdateState:
    """Serve as `learn_again` of the rules that draw no conclusion from a label but its lesson."""
    return learn(update, x, y, forecast)


@postpone.otherwise
@catch_up.otherwise
def puts_nothing_off(update: UpdateState) -> UpdateState:
    """Serve as `postpone` and `catch_up` of the rules that learn at once."""
    return update


@set_odds.otherwise
def unmoved_by_odds(update: UpdateState, odds: float) -> UpdateState:
    """Serve as `set_odds` of the rules to which all labels weigh the same."""
    return update


@write_details.otherwise
def no_details(update: UpdateState, details: Vector) -> None:
    """Serve as `write_details` of the rules that have nothing to add to their forecast."""


@preview.otherwise
def unmoved_by_row(query: QueryState, x: Presented) -> QueryState:
    """Serve as `preview` of the rules to which all rows of one certainty are alike."""
    return query


@count_class.otherwise
def unmoved_by_class(query: QueryState, k: int, n_classes: int) -> QueryState:
    """Serve as `count_class` of the rules to which all classes are alike."""
    return query


@mark_overdue.otherwise
@expire.otherwise
def unmoved_by_silence(query: QueryState, n: int) -> QueryState:
    """Serve as `expire` of the rules that do not wait for answers."""
    return query


def already_exact(update: UpdateState, x: Presented, seen: AnyForecast) -> AnyForecast:
    """Serve as `predict` of the rules whose glance is exact."""
    return seen


def unmoved_by_choice(query: QueryState, forecast: AnyForecast, asked: bool) -> QueryState:
    """Serve as `advance` of the rules that keep no count of rounds."""
    return query


def unmoved_by_label(
    query: QueryState, x: Presented, forecast: AnyForecast, y: float
) -> QueryState:
    """Serve as `observe` of the rules that do not adapt."""
    return query


# Bodies of the verbs of forecasts: two classes, and many.


@verdict.of(Forecast)
def sign_itself(forecast: Forecast, y: float) -> float:
    return y


@verdict.of(ManyForecast)
def right_or_wrong(forecast: ManyForecast, y: float) -> float:
    return 1.0 if forecast.best == int(y) else -1.0


@class_of.of(Forecast)
def class_of_sign(forecast: Forecast, y: float) -> int:
    return 1 if y > 0.0 else 0


@class_of.of(ManyForecast)
def class_itself(forecast: ManyForecast, y: float) -> int:
    return int(y)


@class_count.of(Forecast)
def two_classes(forecast: Forecast, update: UpdateState) -> int:
    return 2


@class_count.of(ManyForecast)
def one_class_a_score(forecast: ManyForecast, update: UpdateState) -> int:
    return len(update.scores)


@scarcer.of(Forecast)
def scarcer_sign(forecast: Forecast, counts: Vector) -> int:
    return 1 if counts[1] < counts[0] else 0


@scarcer.of(ManyForecast)
def scarcer_leader(forecast: ManyForecast, counts: Vector) -> int:
    best, second = forecast.best, forecast.second
    return second if counts[second] < counts[best] else best


@side.of(Forecast)
def side_of_margin(forecast: Forecast) -> float:
    return forecast.margin


@side.of(ManyForecast)
def side_of_best(forecast: ManyForecast) -> float:
    return float(forecast.best)


@write_down.of(Forecast)
def write_two(forecast: Forecast, told: Vector) -> None:
    told[0], told[1] = forecast.margin, forecast.unit
    told[2], told[3] = forecast.norm, forecast.variance


@write_down.of(ManyForecast)
def write_many(forecast: ManyForecast, told: Vector) -> None:
    told[0], told[1] = forecast.margin, forecast.unit
    told[2], told[3] = forecast.norm, forecast.variance
    told[4], told[5] = forecast.best, forecast.second


@recall.of(Forecast)
def recall_two(forecast: Forecast, told: Vector) -> Forecast:
    return Forecast(told[0], told[1], told[2], told[3], True)


@recall.of(ManyForecast)
def recall_many(forecast: ManyForecast, told: Vector) -> ManyForecast:
    return ManyForecast(told[0], told[1], told[2], told[3], True, int(told[4]), int(told[5]))
