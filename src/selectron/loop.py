"""The round of a learner, once, and the loops that are made of it.

A round has three parts. `arrive` shows a new row to the three rules. `decide` forecasts its label
and says how likely it is to be asked. `answer` teaches the label. The loops below put them
together: a pass over many rows, which is a lesson where labels come outside a pass, predictions and
scores, and the same for a single row. Numba inlines the parts into each loop.
"""

from collections.abc import Callable
from functools import cache
from math import isfinite, nan
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numba import config, typeof
from numpy.typing import NDArray

from selectron.arrays import Codes, Matrix, Vector
from selectron.compiler.handles import Handle, held
from selectron.compiler.raw_arrays import RAW_ARRAY, ArrayLayout, fits, vector
from selectron.compiler.states import States, pack, unpack
from selectron.compiler.verbs import Verb, digest, helper, kernel
from selectron.numeric.rows import (
    Csr,
    Dense,
    DenseRow,
    Row,
    SparseRow,
    dot,
    lay_down,
    row,
    sound,
    square_norm,
)
from selectron.protocol import (
    TILE,
    TWO,
    AnyForecast,
    Presented,
    QueryState,
    ScalingState,
    UpdateState,
    absorb,
    advance,
    ask_probability,
    catch_up,
    class_count,
    class_of,
    count_class,
    end_warm_up,
    folded_scores,
    follow_scaling,
    glance,
    has_statistics,
    learn,
    observe,
    postpone,
    predict,
    present,
    preview,
    ready,
    recall,
    set_odds,
    side,
    verdict,
    write_details,
    write_down,
)

Kernel: TypeAlias = Callable[..., Any]
LoopRows: TypeAlias = Any  # `Rows`, or a block of kernel values
Raw: TypeAlias = Any  # a Python object that may be an array: the loop looks whether it is


class Learner(NamedTuple):
    """The states of the three rules."""

    scaling: ScalingState
    update: UpdateState
    query: QueryState


class Log(NamedTuple):
    """Where a pass writes what happened, if anybody wants to know."""

    kept: bool
    exact: bool  # whether rounds that are not asked need their exact forecasts and odds too
    forecasts: Matrix  # (n, 4): margin, unit, norm, variance; of many classes also best, second
    details: Matrix  # (n, k): what else the update rule has to say of its forecast
    probabilities: Vector
    asked: NDArray[np.bool_]
    updated: NDArray[np.bool_]

    @classmethod
    def of(cls, n: int, told: int = TWO, *, exact: bool = True, details: int = 0) -> "Log":
        """Make room for n rounds, `told` numbers a forecast; none keeps nothing."""
        flags = np.zeros(n, bool), np.zeros(n, bool)
        room = np.zeros((n, told)), np.zeros((n, details)), np.zeros(n)
        return cls(n > 0, exact and n > 0, *room, *flags)

    @classmethod
    def of_questions(cls, n: int) -> "Log":
        """Make room for n rounds of which only the questions are kept: forecasts stay glances."""
        return cls.of(0)._replace(asked=np.zeros(n, bool))

    @property
    def sides(self) -> Vector:
        """What each prediction depends on: the margin, or of many classes the best one."""
        return self.forecasts[:, TWO if self.forecasts.shape[1] > TWO else 0].copy()

    @property
    def predicted(self) -> NDArray[np.int32]:
        """The label that each forecast predicts."""
        if self.forecasts.shape[1] > TWO:
            return self.forecasts[:, TWO].astype(np.int32)
        return np.where(self.forecasts[:, 0] > 0.0, 1, -1).astype(np.int32)

    def part(self, start: int, stop: int) -> "Log":
        """Return the log of a stretch of rounds."""
        if len(self.asked) == 0:
            return self
        parts: Any = (each[start:stop] for each in self[2:])
        return Log(self.kept, self.exact, *parts)


NOTHING_KEPT = Log.of(0)
NOTHING_TOLD = np.empty((0, TWO + 1))  # of labels that nobody asked for


class Rounds(NamedTuple):
    """What one call of `run_pass` plays."""

    rows: LoopRows
    labels: Codes
    coins: Vector
    log: Log
    arrived: int  # so many rows have arrived in an earlier call, which stopped for want of a label
    pause: bool = False  # stop after an update
    teach: bool = True  # False: labels come later, in a lesson
    lesson: bool = False  # labels come outside a pass: asked earlier, or never
    told: Matrix = NOTHING_TOLD  # of a lesson: the forecast and the odds of each question


def lesson_of(rows: LoopRows, labels: Codes, told: Matrix, *, fresh: bool) -> Rounds:
    """Return the rounds of a lesson; `fresh` rows are new."""
    coins, arrived = np.zeros(len(labels)), 0 if fresh else len(labels)
    return Rounds(rows, labels, coins, NOTHING_KEPT, arrived, lesson=True, told=told)


class Moved(NamedTuple):
    """How far a call came: rows done, why it stopped, labels asked."""

    rows: int
    status: int
    n_asked: int


# Labels are signs, -1 and +1, or with more than two classes their numbers from 0; or one of these.
UNKNOWN, NOT_GIVEN = -2, -3

DONE, LABEL_NEEDED, LABEL_UNKNOWN, NOT_FINITE, UNSOUND, UPDATED = range(6)


@helper
def arrive(
    scaling: ScalingState, update: UpdateState, query: QueryState, x: Row, new: bool
) -> tuple[ScalingState, UpdateState, QueryState, Presented]:
    """Show a new row to the three rules; return them, and the row as the update rule sees it.

    The scaling absorbs the row. If the row ends its warm-up, the other two rules learn of the rows
    before it. A row that has arrived earlier is only presented.
    """
    if new and has_statistics(scaling):
        warming = not ready(scaling)
        scaling = absorb(scaling, x)
        if warming and ready(scaling):
            update, query = end_warm_up(scaling, update, query)
    z = present(scaling, x)
    if new and has_statistics(scaling):
        update = follow_scaling(update, z)
    if new and ready(scaling):
        query = preview(query, z)
    return scaling, update, query, z


@helper
def decide(
    update: UpdateState,
    query: QueryState,
    z: Presented,
    forecast: AnyForecast,
    coin: float,
    exact: bool,
    may_ask: bool,
    lesson: bool,
) -> tuple[AnyForecast, float]:
    """Return the forecast and the odds of asking, beginning with the forecast of a glance.

    A glance is enough where the coin lies above even the odds of the least certain forecast that
    it leaves possible, unless the exact forecast is wanted. A lesson always wants it.
    """
    odds = 0.0
    if may_ask:
        odds = ask_probability(query, z, forecast)
    if not forecast.exact and (lesson or (may_ask and (exact or coin < odds))):
        forecast = predict(update, z, forecast)
        if may_ask:
            odds = ask_probability(query, z, forecast)
    return forecast, odds


@helper
def made_exact(update: UpdateState, z: Presented, forecast: AnyForecast) -> AnyForecast:
    """Return the exact forecast, beginning with that of a glance."""
    return forecast if forecast.exact else predict(update, z, forecast)


@helper
def answer(
    update: UpdateState,
    query: QueryState,
    z: Presented,
    y: float,
    forecast: AnyForecast,
    told: AnyForecast,
    odds: float,
) -> tuple[UpdateState, QueryState]:
    """Teach a label; return the two rules.

    The query rule learns from the forecast with which it asked (`told`). The update rule learns
    from the forecast of now: after other answers, an old variance would spoil its matrix.
    """
    query = count_class(query, class_of(forecast, y), class_count(forecast, update))
    query = observe(query, z, told, verdict(told, y))
    update = learn(set_odds(update, odds), z, y, forecast)
    return update, query


@helper
def is_finite(forecast: AnyForecast) -> bool:
    """Tell whether a row could be read: 0 times NaN is NaN, so a bad number always shows here."""
    return isfinite(forecast.margin) and isfinite(forecast.variance)


def run_pass(learner, numbers, X, labels, coins, log, arrived, pause, teach, lesson, told):  # type: ignore[no-untyped-def]
    """Play `Rounds`: predict, maybe ask, maybe learn, row after row; return a `Moved`.

    In a lesson every row has its label, whatever the coin. It is a new round only if the row is
    new; else its round was played when it was asked. Lessons follow each other without glances.
    """
    scaling, update, query = unpack(learner, numbers)
    if lesson:
        update = postpone(update)
    status = DONE
    n_asked = 0
    t = 0
    while t < len(coins):
        if not sound(X, t):
            status = UNSOUND
            break
        new = t >= arrived
        scaling, update, query, z = arrive(scaling, update, query, row(X, t), new)
        seen = glance(update, z)
        may_ask = ready(scaling)
        forecast, odds = decide(update, query, z, seen, coins[t], log.exact, may_ask, lesson)
        if not is_finite(forecast):
            if lesson:  # the numbers stay as they were
                return t, NOT_FINITE, n_asked
            status = NOT_FINITE
            break
        if log.kept:  # ahead of the label, which may not be there yet
            write_down(forecast, log.forecasts[t])
            write_details(update, log.details[t])
            log.probabilities[t] = odds
        n_updates = update.n_updates
        asked = lesson or coins[t] < odds
        if asked and teach and labels[t] <= UNKNOWN:
            status = LABEL_UNKNOWN if labels[t] == UNKNOWN else LABEL_NEEDED
            break
        if new or not lesson:
            query = advance(query, forecast, asked)
        if asked:
            if teach:
                asked_with = forecast
                if lesson:
                    odds = 1.0
                    if len(told) > 0:
                        asked_with, odds = recall(forecast, told[t]), told[t, told.shape[1] - 1]
                y = float(labels[t])
                update, query = answer(update, query, z, y, forecast, asked_with, odds)
            n_asked += 1
            if len(log.asked) > 0:
                log.asked[t] = True
        if log.kept:
            log.updated[t] = update.n_updates != n_updates
        t += 1
        if pause and update.n_updates != n_updates:
            status = UPDATED
            break
    pack(Learner(scaling, catch_up(update), query), numbers)
    return t, status, n_asked


def run_margins(learner, numbers, X, margins, exact):  # type: ignore[no-untyped-def]
    """Write the margin of every row; only its sign need be right unless `exact`."""
    scaling, update, _query = unpack(learner, numbers)
    for t in range(len(margins)):
        if not sound(X, t):
            return UNSOUND
        z = present(scaling, row(X, t))
        forecast = glance(update, z)
        if exact:
            forecast = made_exact(update, z, forecast)
        margins[t] = forecast.margin
    return DONE


def run_scores(learner, numbers, X, scores):  # type: ignore[no-untyped-def]
    """Write what each of many classes scores on every row."""
    scaling, update, _query = unpack(learner, numbers)
    for t in range(len(scores)):
        if not sound(X, t):
            return UNSOUND
        forecast = glance(update, present(scaling, row(X, t)))
        for k in range(len(update.scores)):
            scores[t, k] = update.scores[k] if isfinite(forecast.margin) else nan
    return DONE


def run_folded(folded, X, scores):  # type: ignore[no-untyped-def]
    """Write the products of every row with the weights of a folded scaling."""
    for start in range(0, len(scores), TILE):
        stop = min(start + TILE, len(scores))
        for t in range(start, stop):
            if not sound(X, t):
                return UNSOUND
        folded_scores(folded, X, start, scores[start:stop])
    return DONE


def run_unasked(learner, numbers, X, t, n, shown):  # type: ignore[no-untyped-def]
    """Let the query rule pass over n rounds whose rows are elsewhere, none of them asked.

    They count as rounds with the forecast of row t, which comes next and is then `shown` to the
    query rule, unless it is a new row.
    """
    scaling, update, query = unpack(learner, numbers)
    z = present(scaling, row(X, t))
    forecast = glance(update, z)
    for _ in range(n):
        query = advance(query, forecast, False)
    if shown:
        query = preview(query, z)
    pack(Learner(scaling, update, query), numbers)


# Rows at hand (`selectron.classifier.pool`): they are presented once, and forecast again and again.


def run_presented(learner, numbers, X, table, start, stop):  # type: ignore[no-untyped-def]
    """Write some rows down as the scaling presents them."""
    scaling, _update, _query = unpack(learner, numbers)
    for t in range(start, stop):
        lay_down(present(scaling, row(X, t)), table, t)


def run_forecasts(learner, numbers, table, chosen, exact, out):  # type: ignore[no-untyped-def]
    """Write down the forecasts of some presented rows."""
    _scaling, update, _query = unpack(learner, numbers)
    for i in range(len(chosen)):
        z = row(table, chosen[i])
        forecast = glance(update, z)
        if exact:
            forecast = made_exact(update, z, forecast)
        write_down(forecast, out[i])


def run_products(table, chosen, spread, out):  # type: ignore[no-untyped-def]
    """Write down the product of some rows with a vector, and their squared lengths."""
    for i in range(len(chosen)):
        x = row(table, chosen[i])
        out[i, 0] = dot(x, spread)
        out[i, 1] = square_norm(x)


def run_table_scores(learner, numbers, table, scores):  # type: ignore[no-untyped-def]
    """Write what each of many classes scores on every presented row."""
    _scaling, update, _query = unpack(learner, numbers)
    for t in range(len(scores)):
        glance(update, row(table, t))
        for k in range(len(update.scores)):
            scores[t, k] = update.scores[k]


# One row at a time. A call is shorter than what Numba spends on looking at its arguments, so
# these loops are called at their raw entry points (`entry_point`). The learner is found by one
# address, its handle. The row comes as the Python objects that hold it, and the loop itself looks
# whether it can read them: it returns NaN, and has changed nothing, if it cannot.


class DenseLayout(NamedTuple):
    """Rows come as d numbers."""

    d: int
    numbers: ArrayLayout


class SparseLayout(NamedTuple):
    """Rows come as numbers, their columns, and where they start and end."""

    d: int
    numbers: ArrayLayout
    columns: ArrayLayout
    starts: ArrayLayout


Layout: TypeAlias = DenseLayout | SparseLayout


class Subject(NamedTuple):
    """What a one-row loop works on, and how rows must lie in memory."""

    learner: Learner
    numbers: Vector
    layout: Layout
    told: Vector  # room for the forecast and the odds of a question


@Verb
def readable(layout: Layout, values: Raw, columns: Raw, starts: Raw) -> bool:
    """Tell whether the row is whole and contiguous, and its columns rise within the width."""


@Verb
def take(layout: Layout, values: Raw, columns: Raw) -> Row:
    """Return the row at hand."""


@readable.of(DenseLayout)
def dense_readable(layout: DenseLayout, values: Raw, columns: Raw, starts: Raw) -> bool:
    return fits(values, layout.numbers) and len(vector(values, layout.numbers)) == layout.d


@readable.of(SparseLayout)
def sparse_readable(layout: SparseLayout, values: Raw, columns: Raw, starts: Raw) -> bool:
    if not (fits(values, layout.numbers) and fits(columns, layout.columns)):
        return False
    if not fits(starts, layout.starts):
        return False
    indices, bounds = vector(columns, layout.columns), vector(starts, layout.starts)
    n = len(indices)
    if len(vector(values, layout.numbers)) != n:
        return False
    if len(bounds) != 2 or bounds[0] != 0 or bounds[1] != n:
        return False
    if n == 0:
        return True
    falls = 0
    for k in range(n - 1):
        falls += indices[k] >= indices[k + 1]
    return falls == 0 and indices[0] >= 0 and indices[n - 1] < layout.d


@take.of(DenseLayout)
def take_dense(layout: DenseLayout, values: Raw, columns: Raw) -> DenseRow:
    return DenseRow(vector(values, layout.numbers))


@take.of(SparseLayout)
def take_sparse(layout: SparseLayout, values: Raw, columns: Raw) -> SparseRow:
    return SparseRow(vector(values, layout.numbers), vector(columns, layout.columns))


def predict_row(handle, values, columns, starts):  # type: ignore[no-untyped-def]
    """Return the side of one row: its margin, or the number of its class."""
    learner, numbers, layout, _told = held(handle)
    if not readable(layout, values, columns, starts):
        return nan
    scaling, update, _query = unpack(learner, numbers)
    forecast = glance(update, present(scaling, take(layout, values, columns)))
    return side(forecast) if is_finite(forecast) else nan


OLD, NEW, QUESTION = range(3)  # what a row of `play_row` is: a label asked for, a new one, none


def play_row(handle, values, columns, starts, number, kind):  # type: ignore[no-untyped-def]
    """Teach the label `number` of a row, or play a round on it with the coin `number`.

    Of a question, the forecast and the odds are written to `told` of the subject. Returns the side
    of a question, and the margin of a label before it was taught.
    """
    learner, numbers, layout, told = held(handle)
    if not readable(layout, values, columns, starts):
        return nan
    scaling, update, query = unpack(learner, numbers)
    x = take(layout, values, columns)
    z = present(scaling, x)
    forecast = glance(update, z)
    if not is_finite(forecast):  # ahead of the statistics: a bad row must change nothing
        return nan
    scaling, update, query, z = arrive(scaling, update, query, x, kind != OLD)
    if kind != OLD and has_statistics(scaling):
        forecast = glance(update, z)
    forecast = made_exact(update, z, forecast)
    odds = 0.0
    if kind == QUESTION:
        if ready(scaling):
            odds = ask_probability(query, z, forecast)
        write_down(forecast, told)
        told[len(told) - 1] = odds
    if kind != OLD:
        query = advance(query, forecast, kind == NEW or number < odds)
    if kind != QUESTION:
        update, query = answer(update, query, z, number, forecast, forecast, 1.0)
    pack(Learner(scaling, update, query), numbers)
    return side(forecast) if kind == QUESTION else forecast.margin


def entry_point(loop: Kernel, states: States[Learner], handle: Handle, *rest: object) -> Kernel:
    """Return the raw entry point of a one-row loop: it takes a handle, a row, and `rest`."""
    whole = compiled(loop, (*states.kinds, DenseLayout, SparseLayout))
    if config.DISABLE_JIT:
        return lambda *args: float(whole(*args))
    row = RAW_ARRAY, RAW_ARRAY, RAW_ARRAY
    kinds = (typeof(handle), *row, *(typeof(argument) for argument in rest))
    whole.compile(kinds)  # type: ignore[attr-defined]
    entry: Kernel = whole.overloads[kinds].entry_point  # type: ignore[attr-defined]
    return entry


@cache
def compiled(loop: Kernel, kinds: tuple[type, ...], nogil: bool = False) -> Kernel:
    """Return a loop compiled for states, and whatever else it works on, of these types."""
    return kernel(loop, digest(*kinds, Dense, Csr, DenseRow, SparseRow, kernel=__name__), nogil)
