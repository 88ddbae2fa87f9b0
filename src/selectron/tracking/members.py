"""Several learners as one update rule: they vote, and a mixture of experts weighs their votes.

`Committee` describes the learners, `MembersState` is their state in the loop. Rules of `selectron`
are a chain of states, so that compiled code knows the type of each. Learners of any other make are
Python objects; the same loop then runs uncompiled.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Matrix, Vector
from selectron.classifier.rows import TAME
from selectron.compiler.verbs import Verb, helper
from selectron.experts import LearnAlpha, Mixture, optimal_alphas
from selectron.experts.learn_alpha import AlphaRows, Room, mix_alpha_rows, run_learn_alpha
from selectron.experts.rate import Rate
from selectron.loop import made_exact
from selectron.numeric.rows import Row, write_out
from selectron.protocol import (
    Forecast,
    ManyForecast,
    already_exact,
    glance,
    in_file,
    learn,
    predict,
    set_odds,
    side,
    write_details,
)
from selectron.queries import Always
from selectron.spec import FRACTION, QueryRule, State, UpdateRule
from selectron.tracking.forgetting_logistic import ForgettingLogistic
from selectron.tracking.forgetting_ridge import ForgettingRidge
from selectron.tracking.recent_forest import RecentForest
from selectron.tracking.recent_neighbours import RecentNeighbours
from selectron.updates import HalfStep, PassiveAggressive, Perceptron
from selectron.updates.first_order import lead

HORIZON = 2000
MOST_RESTLESS = 0.5  # a best learner that changes more often than every second label is noise
CAREFUL = 0.1  # with floors on the odds as they are, η / odds stays below 5
FEW_COLUMNS = 64  # trees and neighbours look at all columns of many rows
MANY_COLUMNS = 1000  # beyond, rules that keep a matrix of d x d numbers are out of the question
MEMORIES = 5.0, 20.0, 60.0, 250.0  # labels a column: of fast drift at a tenth, of slow with all
LINEAR_LEARNERS = (
    ForgettingRidge(memory=5.0),
    ForgettingRidge(memory=50.0),
    ForgettingRidge(memory=None),
    Perceptron(),
    HalfStep(),
    ForgettingRidge(memory=None, reset_every=400),
)
SURE = 4.0  # standard deviations: chance alone exceeds them once in thousands of labels


@dataclass(frozen=True)
class Committee(UpdateRule):
    """Several learners in the place of one update rule."""

    learners: tuple[object, ...] = ()
    NAMED: ClassVar = False

    @classmethod
    def of(cls, learners: Iterable[object] | None, d: int, n_classes: int = 2) -> "Committee":
        """Return what the user passed as learners; for None, the defaults for d columns."""
        if learners is None:
            return cls(default_learners(d, n_classes))
        if isinstance(learners, UpdateRule) or not isinstance(learners, Iterable):
            raise TypeError(f"learners must be a list of learners, got {learners!r}")
        listed = tuple(learners)
        if not listed:
            raise ValueError("learners is empty: give at least one, or None for the defaults")
        return cls(listed)

    @property
    def label(self) -> str:
        return f"{len(self.learners)} learners"

    @property
    def names(self) -> list[str]:
        """What the learners are called: rules by the knobs that were turned, others as printed."""
        return [_name(learner) for learner in self.learners]

    @property
    def all_rules(self) -> bool:
        """Whether all learners are rules of ours, which one compiled loop can run."""
        return all(isinstance(learner, UpdateRule) for learner in self.learners)

    @property
    def many_classes(self) -> bool:
        """Whether all learners are rules that have a form for more than two classes."""
        return self.all_rules and all(
            type(rule).many is not UpdateRule.many  # type: ignore[attr-defined]
            for rule in self.learners
        )


def _name(learner: object) -> str:
    if not isinstance(learner, UpdateRule):
        return " ".join(repr(learner).split())
    defaults = type(learner)().knobs()
    turned = [f"{k}={v!r}" for k, v in learner.knobs().items() if v != defaults[k]]
    return f"{learner.label}({', '.join(turned)})"


def default_learners(d: int, n_classes: int) -> tuple[UpdateRule, ...]:
    """Return learners that are good at different kinds of drift, and at none."""
    if d <= FEW_COLUMNS:
        return (
            ForgettingLogistic(memory=0.0, watch=SURE),
            *map(ForgettingLogistic, MEMORIES),
            RecentForest(window=2000, watch=SURE, trees=10),
            RecentForest(window=100, trees=10),
            RecentNeighbours(window=500, watch=SURE),
        )
    if n_classes == 2 and d <= MANY_COLUMNS:
        return LINEAR_LEARNERS
    return Perceptron(), HalfStep(), PassiveAggressive()


def default_mixture(learners: int, query: QueryRule, eta: float | None) -> Mixture:
    """Return Learn-α with the optimal rates for 2,000 labels, up to 1/2."""
    alphas = optimal_alphas(horizon=HORIZON)
    if eta is None:
        eta = 1.0 if isinstance(query, Always) else getattr(query, "rate", CAREFUL)
    return LearnAlpha(learners, alphas=alphas[alphas <= MOST_RESTLESS], eta=eta)


def fresh_copy(mixture: object, learners: int) -> Mixture:
    """Return a mixture that goes on where the given one stands, which is left alone."""
    if not isinstance(mixture, Mixture):
        raise TypeError(
            f"experts must be a mixture such as selectron.experts.LearnAlpha, got {mixture!r}"
        )
    if mixture.n != learners:
        raise ValueError(
            f"experts weighs {mixture.n} experts and there are {learners} learners: make it for "
            f"{learners}"
        )
    return type(mixture).from_state(mixture.state())


class Link(NamedTuple):
    """The state of one learner, and the links behind it."""

    first: State
    rest: "Link | End"


class End(NamedTuple):
    """The end of the chain."""


class Outside(NamedTuple):
    """Learners of other makes: Python objects behind one interface (`adapters.Member`)."""

    members: NDArray[np.object_]
    room: Matrix  # (1, d): for a row as they are given it


class WeighedInside(NamedTuple):
    """Learn-α, compiled into the loop."""

    rows: AlphaRows
    room: Room
    rate: Rate
    mixed: Vector  # (1,): room for the mixture's own loss


class WeighedOutside(NamedTuple):
    """Any other mixture: the loop stops after every label, and Python updates it."""

    weighed: bool  # always: an empty tuple would have no type of its own in compiled code


class MembersState(NamedTuple):
    members: "Link | Outside"
    mixture: WeighedInside | WeighedOutside
    weights: Vector  # (K,)
    margins: Vector  # of the row at hand
    losses: Matrix  # (1, K), of the label at hand
    odds: float  # with which that label was asked
    n_updates: int


class ManyMembersState(NamedTuple):
    scores: Vector  # (classes,)
    opinions: Matrix  # (K, classes): the scores of every learner for the row at hand
    members: "Link"
    mixture: WeighedInside | WeighedOutside
    weights: Vector  # (K,)
    guesses: Vector  # the class that each learner predicts for the row at hand
    losses: Matrix  # (1, K), of the label at hand
    odds: float  # with which that label was asked
    n_updates: int


def begin_members(
    members: "Link | Outside", mixture: Mixture, n_classes: int
) -> MembersState | ManyMembersState:
    """Return the state of these members; the arrays of Learn-α are those of the mixture itself."""
    weighed: WeighedInside | WeighedOutside = WeighedOutside(True)
    if isinstance(mixture, LearnAlpha):
        weighed = WeighedInside(mixture._rows, mixture._room, mixture._rate, np.empty(1))
    room = np.empty(mixture.n), np.empty((1, mixture.n))
    if n_classes == 2:
        return MembersState(members, weighed, mixture.weights, *room, 1.0, 0)
    assert isinstance(members, Link)
    scores, opinions = np.zeros(n_classes), np.zeros((mixture.n, n_classes))
    return ManyMembersState(scores, opinions, members, weighed, mixture.weights, *room, 1.0, 0)


def chain(states: Sequence[State]) -> Link:
    """Link the states of update rules, of which there is at least one."""
    first, *others = states
    return Link(first, chain(others) if others else End())


@Verb.with_body
def hear_each(members: State, x: Row, k: int, margins: Vector) -> None:
    """Write the margin of every learner for the row, from place k on; NaN if it cannot be read."""


@Verb.with_body
def score_each(members: State, x: Row, k: int, opinions: Matrix, guesses: Vector) -> None:
    """Write what every learner scores each class and which it predicts, from place k on."""


@Verb.with_body
def teach_each(members: State, x: Row, y: float) -> State:
    """Return the learners after all have learnt the label."""
    return members


@Verb.with_body
def reweigh(mixture: State, losses: Matrix, weights: Vector) -> None:
    """Learn from the losses of one label, and write the new weights, where the loop does so."""


@helper
def vote(weights: Vector, margins: Vector) -> float:
    """Return Σ v_k clip(p_k, -1, 1), in this order; nan if a margin is not finite."""
    total = 0.0
    for k in range(len(weights)):
        if not isfinite(margins[k]):
            return nan
        total += weights[k] * min(max(margins[k], -1.0), 1.0)
    return total


@helper
def vote_of_many(weights: Vector, opinions: Matrix, scores: Vector) -> None:
    """Write Σ v_k clip(s_k, -1, 1) of every class, in this order; nan if a score is not finite."""
    scores[:] = 0.0
    for k in range(len(weights)):
        for c in range(len(scores)):
            opinion = opinions[k, c]
            inside = min(max(opinion, -1.0), 1.0) if isfinite(opinion) else nan
            scores[c] += weights[k] * inside


@glance.of(MembersState)
def members_glance(update: MembersState, x: Row) -> Forecast:
    hear_each(update.members, x, 0, update.margins)
    return Forecast(vote(update.weights, update.margins), 1.0, 1.0, 0.0, True)


@glance.of(ManyMembersState)
def many_members_glance(update: ManyMembersState, x: Row) -> ManyForecast:
    score_each(update.members, x, 0, update.opinions, update.guesses)
    vote_of_many(update.weights, update.opinions, update.scores)
    found = lead(update.scores)
    return ManyForecast(found.margin, 1.0, 1.0, 0.0, True, found.best, found.second)


predict.of(MembersState, ManyMembersState)(already_exact)


@set_odds.of(MembersState, ManyMembersState)
def members_set_odds(update: State, odds: float) -> State:
    return update._replace(odds=odds)


@learn.of(MembersState)
def members_learn(update: MembersState, x: Row, y: float, forecast: Forecast) -> MembersState:
    """A mistake counts 1/odds: over the coin of asking, that is what it is on the whole stream."""
    losses = update.losses[0]
    for k in range(len(losses)):
        mistaken = (update.margins[k] > 0.0) != (y > 0.0)  # a margin of 0 is on the negative side
        losses[k] = 1.0 / update.odds if mistaken else 0.0
    members = teach_each(update.members, x, y)
    reweigh(update.mixture, update.losses, update.weights)
    return update._replace(members=members, n_updates=update.n_updates + 1)


@learn.of(ManyMembersState)
def many_members_learn(
    update: ManyMembersState, x: Row, y: float, forecast: ManyForecast
) -> ManyMembersState:
    losses = update.losses[0]
    for k in range(len(losses)):
        losses[k] = 1.0 / update.odds if update.guesses[k] != y else 0.0
    members = teach_each(update.members, x, y)
    reweigh(update.mixture, update.losses, update.weights)
    return update._replace(members=members, n_updates=update.n_updates + 1)


@helper
def write_votes(weights: Vector, votes: Vector, details: Vector) -> None:
    """Write the weights of all learners, and what they said."""
    n = len(weights)
    for k in range(min(n, len(details) // 2)):
        details[k] = weights[k]
        details[n + k] = votes[k]


@write_details.of(MembersState)
def members_details(update: MembersState, details: Vector) -> None:
    write_votes(update.weights, update.margins, details)


@write_details.of(ManyMembersState)
def many_members_details(update: ManyMembersState, details: Vector) -> None:
    write_votes(update.weights, update.guesses, details)


@hear_each.of(Link)
def hear_first(members: Link, x: Row, k: int, margins: Vector) -> None:
    margins[k] = made_exact(members.first, x, glance(members.first, x)).margin
    hear_each(members.rest, x, k + 1, margins)


@score_each.of(Link)
def score_first(members: Link, x: Row, k: int, opinions: Matrix, guesses: Vector) -> None:
    guesses[k] = side(made_exact(members.first, x, glance(members.first, x)))
    for c in range(opinions.shape[1]):
        opinions[k, c] = members.first.scores[c]
    score_each(members.rest, x, k + 1, opinions, guesses)


@hear_each.of(Outside)
def hear_outside(members: Outside, x: Row, k: int, margins: Vector) -> None:
    write_out(x, members.room[0])
    if not (np.abs(members.room) < TAME[members.room.dtype]).all():
        margins[:] = nan
        return
    for place, member in enumerate(members.members):
        margins[place] = member.margins(members.room)[0]


@teach_each.of(Link)
def teach_first(members: Link, x: Row, y: float) -> Link:
    forecast = made_exact(members.first, x, glance(members.first, x))
    return Link(learn(members.first, x, y, forecast), teach_each(members.rest, x, y))


@teach_each.of(Outside)
def teach_outside(members: Outside, x: Row, y: float) -> Outside:
    write_out(x, members.room[0])
    for member in members.members:
        member.learn(members.room[0].copy(), y)
    return members


@reweigh.of(WeighedInside)
def reweigh_inside(mixture: WeighedInside, losses: Matrix, weights: Vector) -> None:
    run_learn_alpha(mixture.rows, mixture.room, mixture.rate, losses, mixture.mixed)
    mix_alpha_rows(mixture.rows, mixture.room)
    for k in range(len(weights)):
        weights[k] = mixture.room.row.weights[k]


in_file(Rate, "tuned", "fixed", "scale", "cap")
in_file(WeighedOutside, "weighed")
in_file(MembersState, odds=FRACTION)
in_file(ManyMembersState, odds=FRACTION)
