"""Thresholds on the sphere down to an error of one in a million, skipping rows that decide nothing.

There the next question is millions of rows away. A row whose margin exceeds all that the band can
be by then is not asked, and opens the band a little, whatever else it is: so the number of such
rows is drawn instead of the rows. The distribution of the run is that of drawing every row.
"""

from typing import Any, NamedTuple

import numpy as np

from selectron.arrays import Vector
from selectron.classifier.machine import Machine
from selectron.classifier.rules import Rules
from selectron.compiler.states import pack
from selectron.experiments.sphere import SILENT, error, inside, points
from selectron.numeric.rows import Dense
from selectron.protocol import hypothesis
from selectron.queries.auto import LEAK
from selectron.scalings import Raw
from selectron.spec import Spec

AHEAD = 1.5  # the threshold is let grow by this factor before the band is drawn anew
FIRST_ROWS = 100  # taken one by one: the threshold still jumps from row to row


class Spread(NamedTuple):
    """The length of the hypothesis, and the belief's deviation along it and, at most, across."""

    norm: float
    along: float
    across: float


def labels_by_events(
    update: Spec, query: Spec, d: int, errors: Vector, seed: int, most_labels: int
) -> list[int | None]:
    """Return the labels asked when each error was first reached.

    The query must be a threshold that grows by 1 + leak/t in silence, with a whole leak, and asks
    nothing above: `Balanced`, or `Auto(hard=True)`.
    """
    rng = np.random.default_rng(seed)
    target = points(rng, 1, d)[0]
    machine = Machine(Rules(Raw(), update, query), d, np.dtype(np.float64), seed)
    reached: list[int | None] = []
    spread = Spread(0.0, 0.0, 0.0)
    while machine.n_asked < most_labels and len(reached) < len(errors):
        asked = machine.n_asked
        early = _early(machine.state.query)
        x = points(rng, 1, d)[0] if early else _next_row(machine, spread, rng)
        if x is None:
            continue
        sign = np.array([1 if x @ target > 0.0 else -1], np.int8)
        machine.run(Dense(x[np.newaxis]), sign, log=SILENT)
        if machine.n_asked > asked:
            spread = spread_of(machine.state.update)
            now = error(target, hypothesis(machine.state.update))
            while len(reached) < len(errors) and now <= errors[len(reached)]:
                reached.append(machine.n_asked)
    return reached + [None] * (len(errors) - len(reached))


def _early(query: Any) -> bool:
    one_class = min(getattr(query, "n_negative", 1), getattr(query, "n_positive", 1)) == 0
    return one_class or query.threshold == 0.0 or query.n_rounds < FIRST_ROWS


def _next_row(machine: Machine, spread: Spread, rng: np.random.Generator) -> Vector | None:
    """Skip to the next row that might be asked; None if the band has to be drawn anew before."""
    from scipy.special import betainc  # noqa: PLC0415 - costs half a second

    state = machine.state
    query, weights = state.query, hypothesis(state.update)
    leak = getattr(query, "leak", LEAK)
    width = widest_margin(spread, AHEAD * query.threshold)
    share = float(betainc(0.5, (len(weights) - 1) / 2.0, width * width))
    # (t + j)/(s + j) <= t/s, so until here the threshold has not outgrown the band.
    last = int(query.n_rounds * AHEAD ** (1.0 / leak)) if leak > 0 else np.iinfo(np.int64).max
    row = query.n_rounds + int(rng.geometric(share))
    skipped = min(row - 1, last)
    grown = query.threshold * growth(query.n_rounds, skipped, round(leak))
    query = query._replace(threshold=grown, n_rounds=skipped)
    pack(state._replace(query=query), machine.numbers)
    return inside(rng, weights, width) if row <= last + 1 else None


def growth(before: int, after: int, leak: int) -> float:
    """Return the product of 1 + leak/t over the rounds t from `before` + 1 to `after`."""
    product = 1.0
    for j in range(1, leak + 1):
        product *= (after + j) / (before + j)
    return product


def spread_of(update: Any) -> Spread:
    weights = hypothesis(update)
    norm = float(np.linalg.norm(weights))
    if not hasattr(update, "covariance"):
        return Spread(norm, 0.0, norm)  # certainty is the margin itself
    V, axis = update.covariance.A_inv, weights / norm
    image = V @ axis
    along = float(axis @ image)
    across = V - np.outer(axis, image) - np.outer(image, axis) + along * np.outer(axis, axis)
    return Spread(norm, along**0.5, float(np.linalg.eigvalsh(across)[-1]) ** 0.5)


def widest_margin(spread: Spread, threshold: float) -> float:
    """Return a bound on |w.x|/|w| for unit rows x whose certainty is within the threshold.

    A row m w/|w| + u, with u across w, has a deviation of at most `across` + |m| `along`.
    """
    left = spread.norm - threshold * spread.along
    return min(threshold * spread.across / left, 1.0) if left > 0.0 else 1.0
