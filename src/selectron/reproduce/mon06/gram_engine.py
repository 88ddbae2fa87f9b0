"""Run first-order learners on a table of products: a pass costs its updates, not its rows.

The hypothesis is a sum of rows. So an update moves the margins of all rows by one line of the
table, and nothing is computed between updates. The table is an update rule like any other: query
rules and the loop are the library's own.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Signs, Vector
from selectron.compiler.states import States
from selectron.evaluate.first_passage import Curve
from selectron.loop import NOTHING_KEPT, UPDATED, Learner, Rounds, compiled, run_pass
from selectron.numeric.coins import coins
from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import row, sound
from selectron.protocol import Forecast, already_exact, glance, learn, predict
from selectron.reproduce.mon06.digits import Fold, Sample
from selectron.scalings import Raw
from selectron.spec import QueryRule

Products = NDArray[np.int32]
Counts = NDArray[np.int64]
BLOCK = 1_000


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
            some = slice(start, start + BLOCK)
            products[some] = sample.pixels[some] @ sample.pixels.T
        return cls(products, sample.lengths, sample.signs)


class Places(NamedTuple):
    """Rows that are known by their places in the stream alone, from `first` on."""

    first: int


class Place(NamedTuple):
    """One of them."""

    t: int


class TableState(NamedTuple):
    """The margins of the rows of a fold, those to learn from first, then those to judge by."""

    products: Products
    places: Counts  # of the rows in the table
    inverse: Vector  # 1 / length
    wanted: Signs
    margins: Vector
    labels: Counts  # labels asked at each update
    errors: Counts  # rows to judge by that are wrong after it
    n_train: int
    eta: float  # of the Perceptron; 0 reflects
    first: float  # length of the first step
    square_length: float = 0.0
    norm: float = 0.0
    n_labels: int = 0
    n_updates: int = 0


@row.of(Places)
def place(X: Places, t: int) -> Place:
    return Place(X.first + t)


@sound.of(Places)
def always_sound(X: Places, t: int) -> bool:
    return True


@glance.of(TableState)
def table_glance(update: TableState, x: Place) -> Forecast:
    unit = update.norm if update.norm > 0.0 else 1.0
    return Forecast(update.margins[x.t], unit, update.norm, 0.0, True)


predict.of(TableState)(already_exact)


@learn.of(TableState)
def table_learn(update: TableState, x: Place, y: float, forecast: Forecast) -> TableState:
    margin, n_labels = forecast.margin, update.n_labels + 1
    step = update.first * y
    if update.n_updates > 0:
        right = y * margin >= 0.0 if update.eta == 0.0 else y * margin > 0.0
        if right:
            return update._replace(n_labels=n_labels)
        step = -2.0 * margin if update.eta == 0.0 else update.eta * y
    square_length = max(update.square_length + step * (2.0 * margin + step), 0.0)
    places, inverse, margins = update.places, update.inverse, update.margins
    line, scale = update.products[places[x.t]], step * inverse[x.t]
    for j in range(x.t, len(places)):
        margins[j] += scale * inverse[j] * line[places[j]]
    wrong = 0
    for j in range(update.n_train, len(places)):
        wrong += update.wanted[j] != (1 if margins[j] > 0.0 else -1)
    update.labels[update.n_updates] = n_labels
    update.errors[update.n_updates] = wrong
    return update._replace(
        square_length=square_length,
        norm=sqrt(square_length),
        n_labels=n_labels,
        n_updates=update.n_updates + 1,
    )


def run_fold(
    table: Table,
    fold: Fold,
    query: QueryRule,
    *,
    eta: float,
    first: float = 1.0,
    enough: int = -1,
) -> Curve:
    """Run a learner over a fold, to its end or until no more than `enough` errors are left.

    The first label makes the hypothesis first y x: y x as in [Mon06], Figure 4-3, or eta y x as
    from the zero of Figure 4-4. Then a mistake adds eta y x, as the Perceptron does, or reflects,
    as [DKM09]'s does, if eta is 0.
    """
    n, places = len(fold.train), np.concatenate((fold.train, fold.test))
    state = TableState(
        table.products,
        places,
        1.0 / table.lengths[places],
        table.signs[places],
        np.zeros(len(places)),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        n,
        float(eta),
        float(first),
    )
    learner = Learner(Raw().begin(0, np.dtype(float)), state, query.begin(0))
    states, tossed = States(learner), coins(fold.seed, 0, n)
    loop = compiled(run_pass, (*states.kinds, Places, Place), nogil=True)
    done, left = 0, UPDATED
    while left == UPDATED and done < n:
        rest = Places(done), state.wanted[done:n], tossed[done:]
        moved, left, _ = loop(learner, states.numbers, *Rounds(*rest, NOTHING_KEPT, 0, pause=True))
        done += moved
        if left == UPDATED and state.errors[states.now.update.n_updates - 1] <= enough:
            break
    end = states.now.update
    return Curve(state.labels[: end.n_updates], state.errors[: end.n_updates], end.n_labels)
