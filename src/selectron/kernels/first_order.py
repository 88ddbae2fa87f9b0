"""Perceptron and Ballseptron in dual form: hypotheses as sums over support vectors ([SS05]).

Two classes have one such sum (end of section 2), many have a prototype each (section 4). All
products w_a·w_b are kept: support vectors that leave or are projected change lengths and distances
in ways that a running squared length could not follow.
"""

from typing import NamedTuple

from selectron.arrays import Matrix, Vector
from selectron.compiler.verbs import Verb, helper
from selectron.kernels.budgets import (
    SMALL_LOSS,
    Projection,
    RandomExit,
    SmallestExit,
    Unlimited,
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
    State,
    already_exact,
    glance,
    learn,
    predict,
)
from selectron.updates.first_order import lead, rival_of


class Prototypes(NamedTuple):
    """w_c = Σ_j coefficients[c, j] k(s_j, ·)."""

    support: State
    kernel: State
    budget: State
    coefficients: Matrix  # (classes, capacity)
    products: Matrix  # (classes, classes): w_a·w_b
    scores: Vector  # w_c·x of the row at hand
    steps: Vector  # how far each w_c shall move along the row at hand
    along: Vector  # w_c·s of the one that leaves


class Entry(NamedTuple):
    """Where a row came to be, and how long the vector is that was added for it."""

    slot: int  # -1: nowhere, it was projected
    square: float


@Verb
def admit(budget: State, prototypes: Prototypes, x: BlockRow) -> Entry:
    """Find a place for the row; whoever leaves for it is taken out of the hypotheses."""


@helper
def score(prototypes: Prototypes, x: BlockRow) -> None:
    """Write w_c·x into `scores`, every sum over the slots in a fixed order."""
    m = prototypes.support.n_support
    catch_up(prototypes.kernel, prototypes.support, x)
    for c in range(len(prototypes.scores)):
        prototypes.scores[c] = lane_dot(prototypes.coefficients[c, :m], x.values[:m])


@helper
def move(prototypes: Prototypes, x: BlockRow) -> Prototypes:
    """Add steps[c] x to every w_c; the scores must be those of this row."""
    _, _, budget, coefficients, products, scores, steps, _ = prototypes
    entry = admit(budget, prototypes, x)
    support = prototypes.support
    if entry.slot >= 0:
        support = keep(support, entry.slot, x)
        for c in range(len(steps)):
            coefficients[c, entry.slot] = steps[c]
    for a in range(len(steps)):
        for b in range(len(steps)):
            cross = steps[a] * scores[b] + steps[b] * scores[a]
            products[a, b] += cross + steps[a] * steps[b] * entry.square
    return prototypes._replace(support=support)


@admit.of(Unlimited, RandomExit, SmallestExit)
def admit_after_exit(
    budget: Unlimited | RandomExit | SmallestExit, prototypes: Prototypes, x: BlockRow
) -> Entry:
    slot = prototypes.support.n_support
    if is_full(budget, slot):
        slot = leaving(budget, prototypes.coefficients, slot, prototypes.support.recent.n)
        take_out(budget, prototypes, slot, x)
    note_entry(budget, slot, x.values[: prototypes.support.n_support], x.square)
    return Entry(slot, x.square)


@Verb
def take_out(budget: State, prototypes: Prototypes, slot: int, x: BlockRow) -> None:
    """Take a support vector out of hypotheses, scores and products."""


@take_out.of(Unlimited)
def nothing_to_take_out(budget: Unlimited, prototypes: Prototypes, slot: int, x: BlockRow) -> None:
    pass


@take_out.of(RandomExit, SmallestExit)
def take_out_of_sums(
    budget: RandomExit | SmallestExit, prototypes: Prototypes, slot: int, x: BlockRow
) -> None:
    m = prototypes.support.n_support
    coefficients, products, along = (
        prototypes.coefficients,
        prototypes.products,
        prototypes.along,
    )
    for c in range(len(along)):
        along[c] = lane_dot(coefficients[c, :m], budget.gram[slot, :m])
    square = budget.gram[slot, slot]
    for a in range(len(along)):
        for b in range(len(along)):
            left, right = coefficients[a, slot], coefficients[b, slot]
            products[a, b] -= left * along[b] + right * along[a] - left * right * square
    for c in range(len(along)):
        prototypes.scores[c] -= coefficients[c, slot] * x.values[slot]
        coefficients[c, slot] = 0.0


@admit.of(Projection)
def admit_or_project(budget: Projection, prototypes: Prototypes, x: BlockRow) -> Entry:
    m = prototypes.support.n_support
    shadow = min(mixture(budget, x.values[:m]), x.square)
    loss = x.square - shadow
    if is_full(budget, m) or loss <= SMALL_LOSS * x.square:
        for c in range(len(prototypes.steps)):
            for j in range(m):
                prototypes.coefficients[c, j] += prototypes.steps[c] * budget.image[j]
        return Entry(-1, shadow)
    widen_inverse(budget.inverse, budget.image, m, m, loss)
    return Entry(m, x.square)


class TwoClasses(NamedTuple):
    prototypes: Prototypes  # one: its sign is the prediction
    eta: float
    r: float
    norm: float
    n_updates: int
    n_margin_errors: int


@glance.of(TwoClasses)
def two_classes_glance(update: TwoClasses, x: BlockRow) -> Forecast:
    score(update.prototypes, x)
    margin = update.prototypes.scores[0] + 0.0 * x.square
    return Forecast(margin, update.norm if update.norm > 0.0 else 1.0, update.norm, 0.0, True)


predict.of(TwoClasses)(already_exact)


@learn.of(TwoClasses)
def two_classes_learn(update: TwoClasses, x: BlockRow, y: float, forecast: Forecast) -> TwoClasses:
    signed = y * forecast.margin
    if signed > 0.0 and signed > update.r * update.norm:
        return update
    prototypes, margin_errors = update.prototypes, update.n_margin_errors
    if signed > 0.0:  # a margin error: x̂ = x - y r w/|w|, so w + y x̂ = (1 - r/|w|) w + y x
        shrink = 1.0 - update.r / update.norm
        for j in range(prototypes.support.n_support):
            prototypes.coefficients[0, j] *= shrink
        prototypes.products[0, 0] *= shrink * shrink
        prototypes.scores[0] *= shrink
        margin_errors += 1
    prototypes.steps[0] = update.eta * y
    prototypes = move(prototypes, x)
    norm = sqrt(max(prototypes.products[0, 0], 0.0))
    return TwoClasses(prototypes, update.eta, update.r, norm, update.n_updates + 1, margin_errors)


class ManyClasses(NamedTuple):
    prototypes: Prototypes
    scores: Vector  # those of the prototypes, where the loop looks for them
    eta: float
    r: float
    n_updates: int
    n_margin_errors: int


@helper
def distance(products: Matrix, a: int, b: int) -> float:
    """Return |w_a - w_b|."""
    return sqrt(max(products[a, a] + products[b, b] - 2.0 * products[a, b], 0.0))


@glance.of(ManyClasses)
def many_classes_glance(update: ManyClasses, x: BlockRow) -> ManyForecast:
    prototypes = update.prototypes
    score(prototypes, x)
    found = lead(prototypes.scores)
    margin = found.margin + 0.0 * x.square
    apart = distance(prototypes.products, found.best, found.second)
    unit = apart if apart > 0.0 else 1.0
    return ManyForecast(margin, unit, apart, 0.0, True, found.best, found.second)


predict.of(ManyClasses)(already_exact)


@learn.of(ManyClasses)
def many_classes_learn(
    update: ManyClasses, x: BlockRow, label: float, forecast: ManyForecast
) -> ManyClasses:
    prototypes, right = update.prototypes, int(label)
    scores = prototypes.scores
    rival = rival_of(right, forecast)
    ahead = scores[right] - scores[rival]
    apart = distance(prototypes.products, right, rival)
    if ahead > 0.0 and ahead > update.r * apart:
        return update
    margin_errors = update.n_margin_errors
    # Equal scores give the ball no direction: the row itself is added, as on a mistake.
    if ahead > 0.0:
        blend(prototypes, right, rival, update.r / apart)
        margin_errors += 1
    for c in range(len(prototypes.steps)):
        prototypes.steps[c] = 0.0
    prototypes.steps[right], prototypes.steps[rival] = update.eta, -update.eta
    prototypes = move(prototypes, x)
    n_updates = update.n_updates + 1
    return ManyClasses(prototypes, scores, update.eta, update.r, n_updates, margin_errors)


@helper
def blend(prototypes: Prototypes, a: int, b: int, share: float) -> None:
    """Move w_a and w_b towards each other by a share of what lies between them.

    With x̂ = x + r (w_b - w_a)/|w_b - w_a|, w_a gains and w_b loses the second term.
    """
    m = prototypes.support.n_support
    coefficients, products, scores = (
        prototypes.coefficients,
        prototypes.products,
        prototypes.scores,
    )
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
