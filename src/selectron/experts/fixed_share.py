"""Fixed-share: a mixture of experts whose best one changes at a known rate."""

from typing import Self

from numpy.typing import ArrayLike

from selectron.arrays import Matrix, Vector
from selectron.compiler.verbs import compiled
from selectron.experts.mixture import Mixture
from selectron.experts.rate import Eta, Rate, finish, rate_from_state, rate_state
from selectron.experts.readings import State, field, field_length
from selectron.experts.scaled import log_scaled
from selectron.experts.sharing import (
    Row,
    calm_share,
    calm_transition_of,
    check_alpha,
    is_calm,
    step_likelihoods,
    stiff_share,
    transition_of,
)
from selectron.experts.static import StaticExpert
from selectron.experts.steps import FINE, Fault, first_fault


class FixedShare(Mixture):
    """Let a share α of each weight go to the other experts at every step ([Mon06], 2.2 and 2.3).

    p(i) ∝ (1 - α) p(i) e^(-ηL(i)) + α / (n - 1) · Σ_{j≠i} p(j) e^(-ηL(j)), in O(n) a step.
    With the right α it loses little against the best sequence of experts; with a wrong one its
    regret may grow with time ([Mon06], Theorem 2); `LearnAlpha` learns α instead.

    Parameters
    ----------
    n : int
        How many experts.
    alpha : float
        Switching rate in [0, 1]: how often, a step, the best expert changes. 0 is `StaticExpert`.
        Rates between 0 and 1e-280 are refused.
    eta, prior
        As in `StaticExpert`. A tuned rate applies to the losses of its own step only.

    Examples
    --------
    >>> experts = FixedShare(2, alpha=0.1)
    >>> print(round(experts.run([[0.0, 3.0]] * 5).sum(), 4))
    1.1011
    >>> experts.weights.round(4).tolist()
    [0.8954, 0.1046]
    >>> print(round(experts.update([3.0, 0.0]), 4))
    1.9024
    >>> experts.weights.round(4).tolist()
    [0.339, 0.661]
    """

    def __init__(
        self, n: int, alpha: float, *, eta: Eta = 1.0, prior: ArrayLike | None = None
    ) -> None:
        super().__init__(n, eta, prior)
        self.alpha = check_alpha(alpha)
        self._calm = is_calm(self.n, self.alpha)
        self._row = Row.start(self._prior, self._calm)
        self._shares = (calm_transition_of if self._calm else transition_of)(self.n, self.alpha)
        self._static = StaticExpert(self.n, eta=eta, prior=prior) if alpha == 0 or n == 1 else None

    @property
    def weights(self) -> Vector:
        return self._static.weights if self._static else self._row.plain_weights()

    def state(self) -> State:
        if self._static:
            return {"alpha": self.alpha, **self._static.state()}
        return {"alpha": self.alpha, **self._row.state(), **rate_state(self._rate)}

    @classmethod
    def from_state(cls, state: State) -> Self:
        alpha = check_alpha(field(state, "alpha"))
        experts = cls(field_length(state, "high" if "high" in state else "weights"), alpha)
        if experts._static:
            experts._static = StaticExpert.from_state(state)
        else:
            experts._rate = rate_from_state(state)
            experts._row.restore(state, experts._calm)
        return experts

    def _advance(self, losses: Matrix, out: Vector) -> Fault:
        if self._static:
            return self._static._advance(losses, out)
        return run_row(self._row, self._calm, self._shares, self._rate, losses, out)

    def _log_weights(self) -> Vector:
        return self._static._log_weights() if self._static else self._row.log_weights()


@compiled
def run_row(
    row: Row, calm: bool, shares: tuple[float, float], rate: Rate, losses: Matrix, out: Vector
) -> Fault:
    fault = first_fault(losses)
    for t in range(len(losses) if fault[0] == FINE else 0):
        smallest, excess, eta = step_likelihoods(row, calm, losses[t], rate)
        if calm:
            evidence, exponent = calm_share(row.weights, row.likelihood, *shares), 0
        else:
            evidence, exponent = stiff_share(row, *shares)
        out[t] = finish(rate, smallest, excess, log_scaled(evidence, exponent) / eta)
    return fault
