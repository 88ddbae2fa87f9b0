"""The mixture that weighs the learners: a default, and fresh copies of those given."""

from typing import Any

import numpy as np

from selectron.experts import LearnAlpha, Mixture, optimal_alphas
from selectron.queries import Always
from selectron.spec import QueryRule
from selectron.tracking.rounds import Jury

HORIZON = 2000
MOST_RESTLESS = 0.5  # a best learner that changes more often than every second label is noise
CAREFUL = 0.1  # with floors on the odds as they are, η / odds stays below 5


def default_mixture(learners: int, query: QueryRule, eta: float | None) -> Mixture:
    """Return Learn-α with the optimal rates for 2,000 labels, up to 1/2."""
    alphas = optimal_alphas(horizon=HORIZON)
    if eta is None:
        eta = 1.0 if isinstance(query, Always) else getattr(query, "rate", CAREFUL)
    return LearnAlpha(learners, alphas=alphas[alphas <= MOST_RESTLESS], eta=eta)


def fresh_copy(mixture: Any, learners: int) -> Mixture:
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


def jury_of(mixture: Mixture) -> Jury:
    """Lay a mixture out for the compiled loop."""
    known = isinstance(mixture, LearnAlpha)
    # The loop is compiled once for all mixtures: one that it does not know brings idle rows.
    rows = mixture if isinstance(mixture, LearnAlpha) else LearnAlpha(mixture.n, alphas=[0.5])
    room = (np.empty(mixture.n), np.empty((1, mixture.n)), np.empty(1))
    return Jury(known, rows._rows, rows._room, rows._rate, mixture.weights, *room)
