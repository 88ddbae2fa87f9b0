"""Run first-order learners on a table of products: a pass costs its updates, not its rows.

The hypothesis is a sum of rows. So an update moves the margins of all rows by one line of the
table, and nothing is computed between updates. The query rules are the library's own.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from selectron.arrays import Signs, Vector
from selectron.compiler.verbs import digest, shelved
from selectron.evaluate.first_passage import Curve
from selectron.loop import quietly
from selectron.numeric.coins import coins
from selectron.numeric.rows import DenseRow
from selectron.protocol import Forecast, advance, ask_probability, observe
from selectron.reproduce.mon06.digits import Fold, Sample
from selectron.spec import QueryRule

Products = NDArray[np.int32]
BLOCK = 1_000
NO_ROW = DenseRow(np.empty(0))  # the query rules used here look at the forecast alone


class Table(NamedTuple):
    """All products of two rows of a sample, exact as whole numbers."""

    products: Products
    lengths: Vector
    signs: Signs

    @classmethod
    def of(cls, sample: Sample) -> "Table":
        n = len(sample.signs)
        products = np.empty((n, n), np.int32)
        for start in range(0, n, BLOCK):
            stop = min(n, start + BLOCK)
            products[start:stop] = sample.pixels[start:stop] @ sample.pixels.T
        return cls(products, sample.lengths, sample.signs)


def run_fold(table: Table, fold: Fold, query: QueryRule, *, eta: float, enough: int = -1) -> Curve:
    """Run a learner over a fold, to its end or until no more than `enough` errors are left.

    The first label makes the hypothesis y x. Then a mistake adds eta y x, as the Perceptron does,
    or reflects, as [DKM09]'s does, if eta is 0.
    """
    state = query.begin(0)
    n = len(fold.train)
    labels, errors = np.empty(n, np.int64), np.empty(n, np.int64)
    tossed = coins(fold.seed, 0, n)
    n_updates, n_labels = compiled_fold(digest(type(state), kernel=__name__))(
        table, fold.train, fold.test, tossed, NO_ROW, state, eta, enough, labels, errors
    )
    return Curve(labels[:n_updates], errors[:n_updates], int(n_labels))


@cache
def compiled_fold(bodies: str) -> Callable[..., tuple[int, int]]:
    """Compile the pass for a query rule."""

    @njit(cache=True, error_model="numpy", nogil=True)
    @shelved(bodies)
    def run(table, train, test, tossed, no_row, query, eta, enough, labels, errors):  # type: ignore[no-untyped-def]
        _ = bodies  # captured, hence part of the cache key: an edited rule is compiled anew
        products, lengths, signs = table
        n = len(train)
        places = np.concatenate((train, test))
        inverse = 1.0 / lengths[places]
        wanted = signs[places]
        margins = np.zeros(len(places))
        square_length = norm = 0.0
        n_labels = n_updates = 0
        for t in range(n):
            margin = margins[t]
            forecast = Forecast(margin, norm if norm > 0.0 else 1.0, norm, 0.0, True)
            asked = tossed[t] < ask_probability(query, no_row, forecast)
            query = advance(query, forecast, asked)
            if not asked:
                continue
            n_labels += 1
            y = float(wanted[t])
            query = observe(query, no_row, forecast, y)
            step = y
            if n_updates > 0:
                right = y * margin >= 0.0 if eta == 0.0 else y * margin > 0.0
                if right:
                    continue
                step = -2.0 * margin if eta == 0.0 else eta * y
            square_length = max(square_length + step * (2.0 * margin + step), 0.0)
            norm = np.sqrt(square_length)
            line = products[places[t]]
            scale = step * inverse[t]
            for j in range(t, len(places)):
                margins[j] += scale * inverse[j] * line[places[j]]
            wrong = 0
            for j in range(n, len(places)):
                wrong += wanted[j] != (1 if margins[j] > 0.0 else -1)
            labels[n_updates] = n_labels
            errors[n_updates] = wrong
            n_updates += 1
            if wrong <= enough:
                break
        return n_updates, n_labels

    return quietly(run)
