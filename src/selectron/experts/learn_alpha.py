"""Learn-α: a mixture that learns how often the best expert changes, and which one it is.

Learn-α mixes Fixed-share rows of many switching rates. *Calm* rows lie side by side: entry (i, j)
of `calm` belongs to expert i and switching rate j. So every loop runs along j, vectorises, and adds
up over i in order. Calm rows are stored *before* sharing, p = scale · calm + floor, and shared when
the next step reads them: one pass over memory a step. *Restless* rows, in which that would be a
difference of equals (α near 1), share at once: there scale = 1 and floor = 0. *Stiff* rows, in
which no mass moves (α = 0) or none stays (α = 1), are kept apart.
"""

from math import fsum, prod
from typing import NamedTuple, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from selectron.arrays import Indices, Matrix, Vector
from selectron.compiler.verbs import compiled
from selectron.experts.discretisation import optimal_alphas
from selectron.experts.mixture import Mixture
from selectron.experts.rate import MOST, Eta, Rate, finish, rate_from_state, rate_state, step_rate
from selectron.experts.readings import State, check_shares, field, field_length, read_array, restore
from selectron.experts.scaled import LOWEST, align, log_scaled, plain_numbers, power_of_two, split
from selectron.experts.sharing import (
    Row,
    calm_transition_of,
    check_alpha,
    is_calm,
    likelihoods,
    scaled_likelihoods,
    scaled_mixture,
    stiff_share,
    transition_of,
)
from selectron.experts.steps import (
    FINE,
    Fault,
    first_fault,
    mean_excess,
    smallest_awake,
    sum_awake,
    sum_of,
)
from selectron.numeric.elementary import jitable
from selectron.numeric.sums import lane_dot

SAFE_MASS = 1e-250  # above this no term that underflowed would have counted
CALM, RESTLESS, STIFF = 0, 1, 2  # how a row is kept, in this order


class LearnAlpha(Mixture):
    """Mix Fixed-share rows of many switching rates by how well each has done ([Mon06], 2.2.3).

    Each of m rows is a `FixedShare` with its own α; a `StaticExpert` weighs the rows (2.7). O(mn) a
    step. With the optimal rates for T steps its total loss is at most log(m) + 1/2 above that of
    the best Fixed-share with hindsight, m ≈ 1.57 √T ([Mon06], Corollary 1).

    Parameters
    ----------
    n : int
        How many experts.
    horizon : int, optional
        T, about how many steps there will be: the rates are `optimal_alphas(horizon=T)`.
    alphas : array of shape (m,), optional
        The switching rates, instead of a horizon.
    eta, prior
        As in `StaticExpert`; every row begins with the prior. A tuned rate applies to the losses of
        its own step only. An expert that slept suffers the loss of the whole mixture, in each row.

    Examples
    --------
    >>> experts = LearnAlpha(2, horizon=1000)
    >>> losses = experts.run(([[0.0, 2.0]] * 20 + [[2.0, 0.0]] * 20) * 10)
    >>> print(len(experts.alphas), round(losses.sum(), 4))
    51 74.9806
    >>> print(round(experts.alphas[experts.alpha_weights.argmax()], 4))
    0.0441
    """

    def __init__(
        self,
        n: int,
        *,
        horizon: int | None = None,
        alphas: ArrayLike | None = None,
        eta: Eta = 1.0,
        prior: ArrayLike | None = None,
    ) -> None:
        super().__init__(n, eta, prior)
        self.alphas = _read_alphas(horizon, alphas)
        forms = np.array([_form(self.n, a) for a in self.alphas])
        self._order = np.argsort(forms, kind="stable")
        ordered, n_stiff = self.alphas[self._order], np.count_nonzero(forms == STIFF)
        split = len(ordered) - n_stiff
        self._rows = start_rows(self._prior, ordered[:split], ordered[split:])
        self._room = make_room(self.n, len(self.alphas))

    @property
    def weights(self) -> Vector:
        mix_alpha_rows(self._rows, self._room)
        return self._room.row.weights.copy()

    @property
    def alpha_weights(self) -> Vector:
        """The weight of each switching rate in `alphas`, (m,)."""
        exponents = self._rows.exponents - self._rows.exponents.max()
        shares = plain_numbers(self._rows.mantissas, exponents)
        weights = np.empty(len(self.alphas))
        weights[self._order] = shares / fsum(shares.tolist())
        return weights

    def state(self) -> State:
        arrays = {name: getattr(self._rows, name).copy() for name in _STATE}
        return {"alphas": self.alphas.copy(), **arrays, **rate_state(self._rate)}

    @classmethod
    def from_state(cls, state: State) -> Self:
        n, alphas = field_length(state, "calm"), _read_alphas(None, field(state, "alphas"))
        shapes = [np.shape(field(state, name)) for name in ("calm", "stiff")]
        if sum(prod(shape) for shape in shapes) != n * len(alphas):
            raise ValueError(
                f"'calm' and 'stiff' of the state have the shapes {shapes}: that is not one weight "
                f"for each of {n} experts and {len(alphas)} rates"
            )
        experts = cls(n, alphas=alphas)
        experts._rate = rate_from_state(state)
        for name in _STATE:
            restore(getattr(experts._rows, name), state, name, _LEAST.get(name, 0.0))
        check_shares("mantissas", lambda: experts.alpha_weights)
        check_shares("calm", lambda: experts.weights)
        return experts

    def _advance(self, losses: Matrix, out: Vector) -> Fault:
        return run_learn_alpha(self._rows, self._room, self._rate, losses, out)

    def _log_weights(self) -> Vector:
        mix_alpha_rows_scaled(self._rows, self._room)
        row = self._room.row
        return row._replace(exponents=row.exponents - row.exponents.max()).log_weights()


_STATE = ("calm", "scale", "floor", "stiff", "stiff_exponents", "mantissas", "exponents")

# Where half of the mass or more moves, scale is negative.
_LEAST = {"scale": -MOST, "stiff_exponents": LOWEST, "exponents": LOWEST}


def _form(n: int, alpha: float) -> int:
    if n == 1 or alpha in (0.0, 1.0):
        return STIFF
    return CALM if is_calm(n, alpha) else RESTLESS


def log_evidence(experts: LearnAlpha) -> Vector:
    """Return, for each switching rate, the sum of smallest losses minus its own total loss."""
    logs = np.empty(len(experts.alphas))
    pairs = zip(experts._rows.mantissas, experts._rows.exponents, strict=True)
    logs[experts._order] = [log_scaled(w, k) for w, k in pairs]
    return logs


def _read_alphas(horizon: int | None, alphas: ArrayLike | None) -> Vector:
    if (horizon is None) == (alphas is None):
        raise ValueError(
            f"horizon is {horizon} and alphas is {alphas!r}; give one of them: the number of "
            "steps, or the switching rates"
        )
    if horizon is not None:
        return optimal_alphas(horizon=horizon)
    rates = read_array("alphas", alphas, "give at least one rate, (m,)")
    shape = np.shape(cast(ArrayLike, alphas))
    if len(shape) != 1 or not len(rates):
        raise ValueError(f"alphas have shape {shape}; give at least one rate, (m,)")
    return np.array([check_alpha(a) for a in rates.tolist()])


class AlphaRows(NamedTuple):
    """m distributions over n experts, c of them calm, and one distribution over the m."""

    calm: Matrix  # (n, c)
    scale: Vector  # (c,)
    floor: Vector
    spread: Vector  # P(i | i) - P(i | j)
    move: Vector  # P(i | j)
    restless_stay: Vector  # P(i | i) of the last calm columns, which share at once
    stiff: Matrix  # (m - c, n): mantissas
    stiff_exponents: Indices
    stiff_stay: Vector  # (m - c,)
    stiff_move: Vector
    mantissas: Vector  # (m,): weights of the rows, calm ones first
    exponents: Indices


class Room(NamedTuple):
    """Space for one step."""

    shares: Vector  # (m,)
    evidence: Vector
    term_exponents: Indices
    likelihood: Vector  # (n,)
    row: Row  # the mixture of all rows, and the likelihood as scaled numbers


def start_rows(prior: Vector, calm: Vector, stiff: Vector) -> AlphaRows:
    """Lay out rows of these rates; restless ones are at the end of the calm."""
    n, c, k = len(prior), len(calm), len(stiff)
    restless = [a for a in calm if not is_calm(n, a)]
    spread, move = np.array([calm_transition_of(n, a) for a in calm]).reshape(c, 2).T
    stiff_stay, stiff_move = np.array([transition_of(n, a) for a in stiff]).reshape(k, 2).T
    mantissas, exponents = zip(*(split(p) for p in prior), strict=True)
    return AlphaRows(
        calm=np.repeat(prior, c).reshape(n, c),
        scale=np.ones(c),
        floor=np.zeros(c),
        spread=spread.copy(),
        move=move.copy(),
        restless_stay=np.array([transition_of(n, a)[0] for a in restless]),
        stiff=np.tile(np.array(mantissas, np.float64), (k, 1)),
        stiff_exponents=np.tile(np.array(exponents, np.int64), (k, 1)),
        stiff_stay=stiff_stay.copy(),
        stiff_move=stiff_move.copy(),
        mantissas=np.ones(c + k),
        exponents=np.zeros(c + k, np.int64),
    )


def make_room(n: int, m: int) -> Room:
    """Make room for n experts and m rows."""
    shares, evidence = np.zeros((2, m))
    row = Row.start(np.ones(n), calm=False)
    return Room(shares, evidence, np.zeros(m, np.int64), np.zeros(n), row)


@jitable
def learn_calm(rows: AlphaRows, likelihood: Vector, evidence: Vector) -> None:
    """Share for the last step, then learn from this one: every calm row in one pass."""
    scale, floor, spread, move = rows.scale, rows.floor, rows.spread, rows.move
    for j in range(len(scale)):
        evidence[j] = 0.0
    for i in range(len(likelihood)):
        row, factor = rows.calm[i], likelihood[i]
        for j in range(len(scale)):
            learnt = (scale[j] * row[j] + floor[j]) * factor
            row[j] = learnt
            evidence[j] += learnt
    for j in range(len(scale)):
        scale[j] = spread[j] / evidence[j]
        floor[j] = move[j]


@jitable
def share_restless(rows: AlphaRows, evidence: Vector) -> None:
    """Share at once in the restless rows; the leader gets a sum over all other experts."""
    calm, n = rows.calm, len(rows.calm)
    first = len(rows.scale) - len(rows.restless_stay)
    for j in range(first, len(rows.scale)):
        leader, others = 0, 0.0
        for i in range(1, n):
            leader = i if calm[i, j] > calm[leader, j] else leader
        for i in range(n):
            others += calm[i, j] if i != leader else 0.0
        stay, move, total = rows.restless_stay[j - first], rows.move[j], others + calm[leader, j]
        leading = stay * calm[leader, j] + move * others
        for i in range(n):
            calm[i, j] = (stay * calm[i, j] + move * (total - calm[i, j])) / total
        calm[leader, j] = leading / total
        evidence[j], rows.scale[j], rows.floor[j] = total, 1.0, 0.0


@jitable
def learn_stiff(rows: AlphaRows, room: Room) -> None:
    """Learn and share in every stiff row; their evidence goes to the exponents over the rows."""
    calm = len(rows.scale)
    for k in range(len(rows.stiff_stay)):
        row = room.row._replace(weights=rows.stiff[k], exponents=rows.stiff_exponents[k])
        room.evidence[calm + k], exponent = stiff_share(row, rows.stiff_stay[k], rows.stiff_move[k])
        rows.exponents[calm + k] += exponent


@jitable
def mix_rows(rows: AlphaRows, room: Room) -> None:
    """Write the weight of every expert in the mixture of all rows, O(mn)."""
    calm, weights = len(rows.scale), room.row.weights
    _, total = sum_rows(rows, room)
    resting = 0.0
    for j in range(calm):
        share = room.shares[j] / total
        room.evidence[j] = share * rows.scale[j]
        resting += share * rows.floor[j]
    for i in range(len(weights)):
        weights[i] = lane_dot(rows.calm[i], room.evidence[:calm]) + resting
    for k in range(len(rows.stiff_stay)):
        share = room.shares[calm + k] / total
        for i in range(len(weights)):
            weights[i] += share * (rows.stiff[k, i] * power_of_two(rows.stiff_exponents[k, i]))


@jitable
def mix_rows_scaled(rows: AlphaRows, room: Room) -> None:
    """Do as `mix_rows` does, with scaled numbers, because all plain weights may be 0."""
    calm, m = len(rows.scale), len(rows.mantissas)
    terms, exponents = room.evidence, room.term_exponents
    for i in range(len(room.row.weights)):
        for j in range(m):
            if j < calm:
                value, exponent = rows.scale[j] * rows.calm[i, j] + rows.floor[j], 0
            else:
                value, exponent = rows.stiff[j - calm, i], rows.stiff_exponents[j - calm, i]
            terms[j], carry = split(rows.mantissas[j] * value)
            exponents[j] = rows.exponents[j] + exponent + carry
        largest = align(terms, exponents, room.shares)
        room.row.weights[i], carry = split(sum_of(room.shares))
        room.row.exponents[i] = largest + carry


@jitable
def wake_all(rows: AlphaRows, room: Room, losses: Vector) -> None:
    """Give experts that slept the likelihood of the mixture of all awake experts."""
    mass = lane_dot(room.row.weights, room.likelihood)
    if mass > SAFE_MASS:
        mixture, exponent = split(mass / sum_awake(room.row.weights, losses))
    else:
        mix_rows_scaled(rows, room)
        mixture, exponent = scaled_mixture(room.row, losses)
    for i in range(len(losses)):
        if losses[i] != losses[i]:
            room.likelihood[i] = mixture * power_of_two(exponent)
            room.row.likelihood[i], room.row.likelihood_exponents[i] = mixture, exponent


@jitable
def weigh_rows(rows: AlphaRows, evidence: Vector) -> None:
    """Multiply the weight of every row by its evidence ([Mon06], equation 2.7)."""
    mantissas, exponents = rows.mantissas, rows.exponents
    for j in range(len(evidence)):
        mantissas[j], carry = split(mantissas[j] * evidence[j])
        exponents[j] += carry


@jitable
def sum_rows(rows: AlphaRows, room: Room) -> tuple[int, float]:
    """Write the weights of the rows at their largest exponent; return it and their sum."""
    largest = align(rows.mantissas, rows.exponents, room.shares)
    return largest, sum_of(room.shares)


@jitable
def row_likelihoods(
    rows: AlphaRows, room: Room, rate: Rate, losses: Vector
) -> tuple[float, float, float]:
    """Write the likelihood of every expert; return the smallest loss, the mean's excess, and η."""
    smallest, awake = smallest_awake(losses)
    excess = 0.0
    if rate.tuned or awake < len(losses):
        mix_rows(rows, room)
        excess = mean_excess(room.row.weights, losses, smallest)
    eta = step_rate(rate, excess)
    likelihoods(losses, smallest, eta, room.likelihood)
    if len(rows.stiff_stay) > 0 or awake < len(losses):
        row = room.row
        scaled_likelihoods(losses, smallest, eta, row.likelihood, row.likelihood_exponents)
    if awake < len(losses):
        wake_all(rows, room, losses)
    return smallest, excess, eta


@compiled
def run_learn_alpha(rows: AlphaRows, room: Room, rate: Rate, losses: Matrix, out: Vector) -> Fault:
    fault = first_fault(losses)
    after = sum_rows(rows, room)
    for t in range(len(losses) if fault[0] == FINE else 0):
        before = after
        smallest, excess, eta = row_likelihoods(rows, room, rate, losses[t])
        learn_calm(rows, room.likelihood, room.evidence)
        share_restless(rows, room.evidence)
        learn_stiff(rows, room)
        weigh_rows(rows, room.evidence)
        after = sum_rows(rows, room)
        log_evidence = log_scaled(after[1] / before[1], after[0] - before[0])
        out[t] = finish(rate, smallest, excess, log_evidence / eta)
    return fault


mix_alpha_rows, mix_alpha_rows_scaled = compiled(mix_rows), compiled(mix_rows_scaled)
