"""Second-order states: weights, and a variance for every product with them.

Two states play the loop: `Belief` with two classes, `ClassBelief` with many. Each has a rule and a
store. The rule says what a label teaches: which target, which step, by how much the variance
falls. The store keeps weights and variances and carries the step out: here by the whole of A⁻¹, in
`low_rank` by some of its directions, and in `selectron.kernels` by support vectors.
"""

from typing import NamedTuple

import numpy as np

from selectron.arrays import Indices, Matrix, Vector
from selectron.compiler.verbs import Verb, helper
from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import DenseRow, Row, add_scaled, dot, square_norm
from selectron.numeric.sums import lane_dot
from selectron.numeric.symmetric import downdate, image, quadratic_form
from selectron.protocol import (
    Forecast,
    ManyForecast,
    catch_up,
    follow_scaling,
    glance,
    hypothesis,
    in_file,
    learn,
    learn_again,
    postpone,
    predict,
    product_weights,
    room_for,
    warm_up,
)
from selectron.spec import NOT_NEGATIVE, State
from selectron.updates.first_order import Lead, lead, rival_of

# A glance takes the largest variance there can be, |x|²/a; rounding must not undercut it.
ROUNDING = 1e-9  # more than the share by which two ways to compute one product differ
SLACK = 1.0 + ROUNDING
LARGEST_WIDTH = 20_000


class Belief(NamedTuple):
    """Two classes: the sign of one product is the prediction."""

    store: State
    rule: State  # the numbers of the rule
    norm: float  # the length of the weights
    n_updates: int


class ClassBelief(NamedTuple):
    """Many classes: the class of the largest product is the prediction; all share one A⁻¹."""

    store: State
    rule: State
    scores: Vector
    norm: float  # the length of all weights as one vector
    n_updates: int


class Lesson(NamedTuple):
    """What a label of two classes teaches."""

    learns: bool
    rule: State  # the rule after the label
    step: float  # how far the weights move along A⁻¹x
    share: float  # A⁻¹ falls by this times A⁻¹x xᵀA⁻¹


# What a rule says.


@Verb
def lesson_of(rule: State, y: float, forecast: Forecast) -> Lesson:
    """Return what a label y = ±1 teaches."""


@Verb
def weight_of_label(rule: State, label: int, rival: int, scores: Vector) -> float:
    """Return for how many labels one of many classes counts; 0: it teaches nothing."""


@Verb
def target_of(rule: State, k: int, label: int, rival: int, score: float) -> float:
    """Return what the score of class k should have been."""


@Verb.with_body
def most_variance(rule: State, square: float) -> float:
    """Return a bound on the variance of any row of this squared length."""
    return SLACK * square  # A starts at I, and only grows


@Verb.with_body
def least_variance(rule: State) -> float:
    """Return what a variance is held above, whatever rounding leaves of it."""
    return 0.0


@Verb.with_body
def is_damped(rule: State) -> bool:
    """Tell whether margins are divided by 1 + variance: a constant that the compiler can see."""
    return False


@Verb.with_body
def lead_of(rule: State, scores: Vector) -> Lead:
    """Return who leads; the rule may put classes last that do not compete."""
    return lead(scores)


@Verb.with_body
def all_compete(rule: State) -> bool:
    """Tell whether `lead_of` leaves all scores as they are. The body is never compiled."""
    return True


@Verb.with_body
def warm_up_rule(rule: State, update: Belief, x: Row) -> State:
    """Return the rule after a row of the warm-up, ahead of all labels."""
    return rule


@Verb.with_body
def reconsider(
    rule: State, update: Belief, x: Row, y: float, forecast: Forecast
) -> tuple[Belief, bool]:
    """Return the belief ahead of a label, and whether the label has refuted all it had learnt."""
    return update, False


# What a store does.


@Verb.with_body
def look(store: State, x: Row) -> None:
    """Bring the store up to date with a row, ahead of the first score."""


@Verb
def score(store: State, x: Row, k: int) -> float:
    """Return the product of the row with the weights of class k, the only one of two classes."""


@Verb
def variance_of(store: State, x: Row) -> float:
    """Return xᵀA⁻¹x, but for rounding."""


@Verb.with_body
def has_exact_scores(store: State) -> bool:
    """Tell whether the store knows scores better, once it has found a variance."""
    return False


@Verb.with_body
def exact_score(store: State, k: int) -> float:
    """Return the score of the row whose variance was found last."""
    return 0.0


@Verb.with_body
def postponed(store: State) -> State:
    """Return the store that may leave its weights behind until `caught_up`: lessons follow."""
    return store


@Verb.with_body
def caught_up(store: State) -> State:
    """Return the store whose weights are those of its last lesson."""
    return store


@Verb
def begin_step(store: State, x: Row) -> None:
    """Find the direction A⁻¹x in which weights move."""


@Verb
def move(store: State, k: int, step: float, target: float) -> None:
    """Move the weights of class k by this step, or, which is the same, towards this target."""


@Verb
def end_step(store: State, x: Row, share: float) -> State:
    """Narrow A⁻¹ by this share, and return the store."""


@Verb
def length_of(store: State) -> float:
    """Return the length of all weights as one vector."""


@Verb.with_body
def length_after(store: State, before: float) -> float:
    """Return the length after a step, of weights that had this length before it."""
    return np.float64(length_of(store))


@Verb.with_body
def length_caught_up(store: State, before: float) -> float:
    """Return the length of the weights, whose length was `before` ahead of `caught_up`."""
    return before


@Verb.with_body
def follow(store: State, x: Row) -> None:
    """Take note that the scaling has absorbed this row."""


# The store with the whole of A⁻¹.


class Covariance(NamedTuple):
    """The weights of one class or many, and A⁻¹."""

    weights: Matrix  # a row a class; two classes have one row
    A_inv: Matrix  # float64 whatever the rows are: its errors would add up
    image: Vector  # A⁻¹x of the row at hand
    columns: Indices  # room for those of the row at hand


def fresh_covariance(d: int, a: float, n: int) -> Covariance:
    """Start from A = a I with n weight vectors."""
    if d > LARGEST_WIDTH:
        raise ValueError(
            f"a second-order rule keeps a {d} x {d} matrix ({8 * d * d / 2**30:.0f} GiB); above "
            f"{LARGEST_WIDTH} features use a first-order rule such as HalfStep() or Perceptron()"
        )
    A_inv = np.zeros((d, d))  # takes no memory where nobody writes: a file may claim any d
    np.fill_diagonal(A_inv, 1.0 / a)
    return Covariance(np.zeros((n, d)), A_inv, np.zeros(d), np.zeros(d, np.int64))


def belief(rule: State, d: int, a: float) -> Belief:
    """Begin with two classes and A = a I."""
    return Belief(fresh_covariance(d, a, 1), rule, 0.0, 0)


def class_belief(rule: State, d: int, a: float, n_classes: int) -> ClassBelief:
    """Begin with many classes and A = a I."""
    return ClassBelief(fresh_covariance(d, a, n_classes), rule, np.zeros(n_classes), 0.0, 0)


@score.of(Covariance)
def covariance_score(store: Covariance, x: Row, k: int) -> float:
    return np.float64(dot(x, store.weights[k]))


@variance_of.of(Covariance)
def covariance_variance(store: Covariance, x: Row) -> float:
    return np.float64(quadratic_form(x, store.A_inv, store.columns))


@begin_step.of(Covariance)
def covariance_begin(store: Covariance, x: Row) -> None:
    image(x, store.A_inv, store.image)


@move.of(Covariance)
def move_along_image(store: State, k: int, step: float, target: float) -> None:
    if step != 0.0:
        add_scaled(DenseRow(store.image), step, store.weights[k])


@end_step.of(Covariance)
def covariance_end(store: Covariance, x: Row, share: float) -> Covariance:
    downdate(store.A_inv, store.image, share)
    return store


@length_of.of(Covariance)
def length_of_weights(store: State) -> float:
    total = 0.0
    for k in range(len(store.weights)):
        total += np.float64(lane_dot(store.weights[k], store.weights[k]))
    return sqrt(total)


@helper
def positive_root(variance: float) -> float:
    """Return the square root as a unit of margins: 1 where the variance is 0."""
    return sqrt(variance) if variance > 0.0 else 1.0


# The verbs of the loop.


@helper
def damped(rule: State, product: float, variance: float) -> float:
    """Return the margin of a row with this product and this variance."""
    return product / (1.0 + variance) if is_damped(rule) else product


@helper
def least_certain(update: State, x: Row, margin: float) -> float:
    """Return the margin nearest to 0 that the exact scores of the store may still find."""
    off = ROUNDING * update.norm * sqrt(square_norm(x)) if has_exact_scores(update.store) else 0.0
    if margin > 0.0:
        return max(margin - off, 0.0)
    return min(margin + off, 0.0) if margin < 0.0 else margin  # which may be NaN


@glance.of(Belief)
def belief_glance(update: Belief, x: Row) -> Forecast:
    look(update.store, x)
    most = most_variance(update.rule, square_norm(x))
    margin = least_certain(update, x, damped(update.rule, score(update.store, x, 0), most))
    return Forecast(margin, positive_root(most), update.norm, most, False)


@predict.of(Belief)
def belief_predict(update: Belief, x: Row, seen: Forecast) -> Forecast:
    variance = max(variance_of(update.store, x), least_variance(update.rule))
    margin = seen.margin
    if has_exact_scores(update.store):
        margin = np.float64(exact_score(update.store, 0))
    if is_damped(update.rule):
        margin = damped(update.rule, score(update.store, x, 0), variance)
    return Forecast(margin, positive_root(variance), update.norm, variance, True)


@learn.of(Belief)
def belief_learn(update: Belief, x: Row, y: float, forecast: Forecast) -> Belief:
    update, refuted = reconsider(update.rule, update, x, y, forecast)
    return update if refuted else learn_again(update, x, y, forecast)


@learn_again.of(Belief)
def belief_lesson(update: Belief, x: Row, y: float, forecast: Forecast) -> Belief:
    """Learn a label without asking what it says of all that was learnt before."""
    lesson = lesson_of(update.rule, y, forecast)
    if not lesson.learns:
        return update
    begin_step(update.store, x)
    move(update.store, 0, lesson.step, y)
    store = end_step(update.store, x, lesson.share)
    return Belief(store, lesson.rule, length_after(store, update.norm), update.n_updates + 1)


@postpone.of(Belief, ClassBelief)
def postpone_weights(update: State) -> State:
    return update._replace(store=postponed(update.store))


@catch_up.of(Belief, ClassBelief)
def catch_weights_up(update: State) -> State:
    store = caught_up(update.store)
    return update._replace(store=store, norm=length_caught_up(store, update.norm))


@hypothesis.of(Belief)
def belief_hypothesis(update: Belief) -> Vector:
    weights: Vector = update.store.weights[0]
    return weights


@product_weights.of(Belief, ClassBelief)
def weights_of_products(update: State) -> Matrix | None:
    store, rule = update.store, update.rule
    plain = isinstance(store, Covariance) and all_compete(rule) and not is_damped(rule)
    return store.weights if plain else None


@warm_up.of(Belief)
def belief_warm_up(update: Belief, x: Row) -> Belief:
    return update._replace(rule=warm_up_rule(update.rule, update, x))


@follow_scaling.of(Belief, ClassBelief)
def belief_follow(update: State, x: Row) -> State:
    follow(update.store, x)
    return update


@glance.of(ClassBelief)
def class_belief_glance(update: ClassBelief, x: Row) -> ManyForecast:
    look(update.store, x)
    for k in range(len(update.scores)):
        update.scores[k] = score(update.store, x, k)
    found = lead_of(update.rule, update.scores)
    most = most_variance(update.rule, square_norm(x))
    margin = least_certain(update, x, damped(update.rule, found.margin, most))
    unit = positive_root(most)
    return ManyForecast(margin, unit, update.norm, most, False, found.best, found.second)


@predict.of(ClassBelief)
def class_belief_predict(update: ClassBelief, x: Row, seen: ManyForecast) -> ManyForecast:
    variance = max(variance_of(update.store, x), least_variance(update.rule))
    margin, unit, best, second = seen.margin, positive_root(variance), seen.best, seen.second
    if has_exact_scores(update.store):
        for k in range(len(update.scores)):
            update.scores[k] = exact_score(update.store, k)
        margin, best, second = lead_of(update.rule, update.scores)
    if is_damped(update.rule):
        margin = damped(update.rule, update.scores[best] - update.scores[second], variance)
    return ManyForecast(margin, unit, update.norm, variance, True, best, second)


@learn.of(ClassBelief)
def learn_class(update: ClassBelief, x: Row, y: float, forecast: ManyForecast) -> ClassBelief:
    rule, scores, label = update.rule, update.scores, int(y)
    rival = rival_of(label, forecast)
    weight = weight_of_label(rule, label, rival, scores)
    if weight == 0.0:
        return update
    share = weight / (1.0 + weight * forecast.variance)
    begin_step(update.store, x)
    for k in range(len(scores)):
        target = target_of(rule, k, label, rival, scores[k])
        move(update.store, k, (target - scores[k]) * share, target)
    store = end_step(update.store, x, share)
    norm = length_after(store, update.norm)
    return ClassBelief(store, rule, scores, norm, update.n_updates + 1)


@hypothesis.of(ClassBelief)
def class_belief_hypothesis(update: ClassBelief) -> Matrix:
    weights: Matrix = update.store.weights
    return weights


in_file(Belief, norm=NOT_NEGATIVE)
in_file(ClassBelief, norm=NOT_NEGATIVE)
room_for(Covariance, "image", "columns")
room_for(ClassBelief, "scores")
