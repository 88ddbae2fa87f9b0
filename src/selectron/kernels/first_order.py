"""Perceptron and Ballseptron in dual form: hypotheses as sums over support vectors ([SS05]).

Two classes have one such sum (end of section 2), many have a prototype each (section 4). All
products w_a·w_b are kept: support vectors that leave or are projected change lengths and distances
in ways that a running squared length could not follow.
"""

from typing import NamedTuple

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.compiler.verbs import Verb, helper
from selectron.kernels.budgets import (
    SMALL_LOSS,
    Exit,
    Projection,
    is_full,
    leaving,
    mixture,
    note_entry,
    widen_inverse,
)
from selectron.kernels.support import BlockRow, catch_up, keep
from selectron.numeric.elementary import sqrt
from selectron.numeric.sums import lane_dot
from selectron.protocol import (
    Forecast,
    ManyForecast,
    already_exact,
    glance,
    in_file,
    learn,
    predict,
)
from selectron.spec import NOT_NEGATIVE, State
from selectron.updates.covariance import look, score
from selectron.updates.first_order import is_mistake, lead, rival_of, sign_of


class Prototypes(NamedTuple):
    """w_c = Σ_j coefficients[c, j] k(s_j, ·)."""

    support: State
    kernel: State
    budget: State
    coefficients: Matrix  # (classes, capacity)
    products: Matrix  # (classes, classes): w_a·w_b
    scores: Vector  # w_c·x of the row at hand
    steps: Vector  # how far each w_c shall move along the row at hand
    along: Vector  # w_c·s of the support vector that leaves


class Entry(NamedTuple):
    """The slot that a row got, and the squared length of the vector that was added for it."""

    slot: int  # -1: none, the row was projected
    square: float


@Verb.with_body
def admit(budget: State, store: Prototypes, x: BlockRow) -> Entry:
    """Find a slot for the row; take a support vector that leaves for it out of the hypotheses."""
    slot = store.support.n_support
    if is_full(budget, slot):
        slot = leaving(budget, store.coefficients, slot, store.support.recent.n)
        take_out(budget, store, slot, x)
    note_entry(budget, slot, x.values[: store.support.n_support], x.square)
    return Entry(slot, x.square)


@Verb.with_body
def take_out(budget: State, store: Prototypes, slot: int, x: BlockRow) -> None:
    """Take a support vector out of hypotheses, scores and products."""


@look.of(Prototypes)
def compare_row(store: State, x: BlockRow) -> None:
    catch_up(store.kernel, store.support, x)


@score.of(Prototypes)
def sum_over_support(store: State, x: BlockRow, k: int) -> float:
    """Return w·x of one class; NaN if the row is not finite."""
    m = store.support.n_support
    return np.float64(lane_dot(store.coefficients[k, :m], x.values[:m]) + 0.0 * x.square)


@helper
def score_all(store: Prototypes, x: BlockRow) -> None:
    """Write w_c·x into `scores`, every sum over the slots in a fixed order."""
    look(store, x)
    for c in range(len(store.scores)):
        store.scores[c] = score(store, x, c)


@helper
def move(store: Prototypes, x: BlockRow) -> Prototypes:
    """Add steps[c] x to every w_c; the scores must be those of this row."""
    _, _, budget, coefficients, products, scores, steps, _ = store
    entry = admit(budget, store, x)
    support = store.support
    if entry.slot >= 0:
        support = keep(support, entry.slot, x)
        for c in range(len(steps)):
            coefficients[c, entry.slot] = steps[c]
    for a in range(len(steps)):
        for b in range(len(steps)):
            cross = steps[a] * scores[b] + steps[b] * scores[a]
            products[a, b] += cross + steps[a] * steps[b] * entry.square
    return store._replace(support=support)


@take_out.of(Exit)
def take_out_of_sums(budget: Exit, store: Prototypes, slot: int, x: BlockRow) -> None:
    m = store.support.n_support
    _, _, _, coefficients, products, scores, _, along = store
    for c in range(len(along)):
        along[c] = lane_dot(coefficients[c, :m], budget.gram[slot, :m])
    square = budget.gram[slot, slot]
    for a in range(len(along)):
        for b in range(len(along)):
            left, right = coefficients[a, slot], coefficients[b, slot]
            products[a, b] -= left * along[b] + right * along[a] - left * right * square
    for c in range(len(along)):
        scores[c] -= coefficients[c, slot] * x.values[slot]
        coefficients[c, slot] = 0.0


@admit.of(Projection)
def admit_or_project(budget: Projection, store: Prototypes, x: BlockRow) -> Entry:
    m = store.support.n_support
    shadow = min(mixture(budget, x.values[:m]), x.square)
    loss = x.square - shadow
    if is_full(budget, m) or loss <= SMALL_LOSS * x.square:
        for c in range(len(store.steps)):
            for j in range(m):
                store.coefficients[c, j] += store.steps[c] * budget.image[j]
        return Entry(-1, shadow)
    widen_inverse(budget.inverse, budget.image, m, m, loss)
    return Entry(m, x.square)


class Numbers(NamedTuple):
    """The knobs of Perceptron and of Ballseptron; each has the other's at rest."""

    eta: float
    r: float
    mistakes_too: bool
    literal_ties: bool


class TwoClasses(NamedTuple):
    store: Prototypes  # one: its sign is the prediction
    rule: Numbers
    norm: float
    n_updates: int
    n_margin_errors: int


@glance.of(TwoClasses)
def two_classes_glance(update: TwoClasses, x: BlockRow) -> Forecast:
    score_all(update.store, x)
    margin = update.store.scores[0]
    return Forecast(margin, update.norm if update.norm > 0.0 else 1.0, update.norm, 0.0, True)


predict.of(TwoClasses)(already_exact)


@learn.of(TwoClasses)
def two_classes_learn(update: TwoClasses, x: BlockRow, y: float, forecast: Forecast) -> TwoClasses:
    signed, rule = y * forecast.margin, update.rule
    is_right = not is_mistake(y, forecast.margin, rule.literal_ties)
    if is_right and (signed > rule.r * update.norm or signed == 0.0):
        return update
    store, margin_errors = update.store, update.n_margin_errors + (1 if signed > 0.0 else 0)
    if signed > 0.0 or (rule.mistakes_too and update.norm > 0.0):
        shrink = 1.0 - rule.r / update.norm  # x̂ = x - y r w/|w|: w + y x̂ = (1 - r/|w|) w + y x
        for j in range(store.support.n_support):
            store.coefficients[0, j] *= shrink
        store.products[0, 0] *= shrink * shrink
        store.scores[0] *= shrink
    store.steps[0] = rule.eta * y
    store = move(store, x)
    norm = sqrt(max(store.products[0, 0], 0.0))
    return TwoClasses(store, rule, norm, update.n_updates + 1, margin_errors)


class ManyClasses(NamedTuple):
    store: Prototypes
    scores: Vector  # those of the store, where the loop looks for them
    rule: Numbers
    n_updates: int
    n_margin_errors: int


@helper
def distance(products: Matrix, a: int, b: int) -> float:
    """Return |w_a - w_b|."""
    return sqrt(max(products[a, a] + products[b, b] - 2.0 * products[a, b], 0.0))


@glance.of(ManyClasses)
def many_classes_glance(update: ManyClasses, x: BlockRow) -> ManyForecast:
    score_all(update.store, x)
    found = lead(update.scores)
    apart = distance(update.store.products, found.best, found.second)
    unit = apart if apart > 0.0 else 1.0
    return ManyForecast(found.margin, unit, apart, 0.0, True, found.best, found.second)


predict.of(ManyClasses)(already_exact)


@learn.of(ManyClasses)
def many_classes_learn(
    update: ManyClasses, x: BlockRow, label: float, forecast: ManyForecast
) -> ManyClasses:
    store, right, rule = update.store, int(label), update.rule
    scores = store.scores
    rival = rival_of(right, forecast)
    ahead = scores[right] - scores[rival]
    apart = distance(store.products, right, rival)
    y = sign_of(right, rival)
    is_right = not is_mistake(y, y * ahead, rule.literal_ties)
    if is_right and (ahead > rule.r * apart or ahead == 0.0):
        return update
    margin_errors = update.n_margin_errors + (1 if ahead > 0.0 else 0)
    # Equal prototypes give the ball no direction: the row itself is added.
    if ahead > 0.0 or (rule.mistakes_too and apart > 0.0):
        blend(store, right, rival, rule.r / apart)
    for c in range(len(store.steps)):
        store.steps[c] = 0.0
    store.steps[right], store.steps[rival] = rule.eta, -rule.eta
    store = move(store, x)
    return ManyClasses(store, scores, rule, update.n_updates + 1, margin_errors)


@helper
def blend(store: Prototypes, a: int, b: int, share: float) -> None:
    """Move w_a and w_b towards each other by a share of what lies between them.

    With x̂ = x + r (w_b - w_a)/|w_b - w_a|, w_a gains and w_b loses the second term.
    """
    m = store.support.n_support
    _, _, _, coefficients, products, scores, _, _ = store
    mix(coefficients[a, :m], coefficients[b, :m], share)
    mix(scores[a : a + 1], scores[b : b + 1], share)
    mix(products[a], products[b], share)
    mix(products[:, a], products[:, b], share)


@helper
def mix(left: Vector, right: Vector, share: float) -> None:
    kept = 1.0 - share
    for k in range(len(left)):
        was = left[k]
        left[k] = kept * was + share * right[k]
        right[k] = kept * right[k] + share * was


in_file(Numbers, "eta", "r", "mistakes_too", "literal_ties")
in_file(TwoClasses, norm=NOT_NEGATIVE)
