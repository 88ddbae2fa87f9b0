"""Learn-α: a mixture that learns how often the best expert changes, and which one it is."""

from math import fsum
from typing import Self, cast

import numpy as np
from numpy.typing import ArrayLike

from selectron.arrays import Matrix, Vector
from selectron.experts.alpha_rows import (
    AlphaRows,
    Room,
    hear_all,
    learn_calm,
    learn_stiff,
    make_room,
    mix_rows,
    mix_rows_scaled,
    share_restless,
    start_rows,
    sum_rows,
    weigh_rows,
)
from selectron.experts.compiled import compiled
from selectron.experts.discretisation import optimal_alphas
from selectron.experts.mixture import Mixture
from selectron.experts.rate import MOST, Eta, Rate, finish, rate_from_state, rate_state
from selectron.experts.readings import (
    State,
    check_shares,
    field,
    field_length,
    read_array,
    restore,
)
from selectron.experts.scaled import LOWEST, log_scaled, plain_numbers
from selectron.experts.sharing import check_alpha, is_calm
from selectron.experts.steps import FINE, Fault, first_fault

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
        return self._room.weights.copy()

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
        experts = cls(field_length(state, "calm"), alphas=field(state, "alphas"))
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
        exponents = self._room.weight_exponents - self._room.weight_exponents.max()
        pairs = zip(self._room.weights, exponents, strict=True)
        return np.array([log_scaled(w, k) for w, k in pairs])


_STATE = ("calm", "scale", "floor", "stiff", "stiff_exponents", "mantissas", "exponents")

# Where half of the mass or more moves, scale is negative.
_LEAST = {"scale": -MOST, "stiff_exponents": LOWEST, "exponents": LOWEST}


def _form(n: int, alpha: float) -> int:
    if n == 1 or alpha in (0.0, 1.0):
        return STIFF
    return CALM if is_calm(n, alpha) else RESTLESS


def log_evidence(experts: LearnAlpha) -> Vector:
    """Return, for each switching rate, minus its loss so far, above the sum of smallest losses."""
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


@compiled
def run_learn_alpha(rows: AlphaRows, room: Room, rate: Rate, losses: Matrix, out: Vector) -> Fault:
    fault = first_fault(losses)
    after = sum_rows(rows, room)
    for t in range(len(losses) if fault[0] == FINE else 0):
        before = after
        smallest, excess, eta = hear_all(rows, room, rate, losses[t])
        learn_calm(rows, room.likelihood, room.evidence)
        share_restless(rows, room.evidence)
        learn_stiff(rows, room)
        weigh_rows(rows, room.evidence)
        after = sum_rows(rows, room)
        log_evidence = log_scaled(after[1] / before[1], after[0] - before[0])
        out[t] = finish(rate, smallest, excess, log_evidence / eta)
    return fault


mix_alpha_rows, mix_alpha_rows_scaled = compiled(mix_rows), compiled(mix_rows_scaled)
