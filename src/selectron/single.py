"""The body of the loop for one row at a time: thin kernels that cost well under a microsecond.

They are called at their raw entry points, which do not look at the types of their arguments. The
row comes as the Python objects that it is, and the kernel answers NaN if it cannot read them.
"""

from functools import cache
from math import isfinite, nan
from typing import Any, NamedTuple

from numba import config, njit, typeof

from selectron.arrays import Vector
from selectron.compiler.handles import Handle, held
from selectron.compiler.numbers import pack, unpack
from selectron.compiler.raw_arrays import THING, Mould, fits, vector
from selectron.compiler.verbs import KERNEL, Verb, digest, shelved
from selectron.forecasts import class_count, class_of, side, verdict, write_down
from selectron.loop import Kernel, Learner, kinds_of, quietly
from selectron.numeric.rows import DenseRow, SparseRow
from selectron.protocol import (
    absorb_row,
    advance,
    ask_probability,
    count_class,
    follow_scaling,
    glance,
    has_statistics,
    learn,
    observe,
    predict,
    present,
    preview,
    ready,
)


class DenseLayout(NamedTuple):
    """Rows come as d numbers; the columns are not looked at."""

    d: int
    numbers: Mould


class SparseLayout(NamedTuple):
    """Rows come as numbers and their columns."""

    d: int
    numbers: Mould
    columns: Mould


class Subject(NamedTuple):
    """What a kernel works on, and how its rows must lie in memory."""

    learner: Learner
    numbers: Vector
    layout: Any


@Verb
def readable(layout: Any, values: Any, columns: Any) -> bool:
    """Tell whether the row is whole and contiguous, and its columns rise within the width."""


@Verb
def take(layout: Any, values: Any, columns: Any) -> Any:
    """Return the row at hand."""


@readable.of(DenseLayout)
def dense_readable(layout: DenseLayout, values: Any, columns: Any) -> bool:
    return fits(values, layout.numbers) and len(vector(values, layout.numbers)) == layout.d


@readable.of(SparseLayout)
def sparse_readable(layout: SparseLayout, values: Any, columns: Any) -> bool:
    if not (fits(values, layout.numbers) and fits(columns, layout.columns)):
        return False
    indices = vector(columns, layout.columns)
    n = len(indices)
    if len(vector(values, layout.numbers)) != n:
        return False
    if n == 0:
        return True
    falls = 0
    for k in range(n - 1):
        falls += indices[k] >= indices[k + 1]
    return falls == 0 and indices[0] >= 0 and indices[n - 1] < layout.d


@take.of(DenseLayout)
def take_dense(layout: DenseLayout, values: Any, columns: Any) -> DenseRow:
    return DenseRow(vector(values, layout.numbers))


@take.of(SparseLayout)
def take_sparse(layout: SparseLayout, values: Any, columns: Any) -> SparseRow:
    return SparseRow(vector(values, layout.numbers), vector(columns, layout.columns))


def entry_point(kernel: Any, handle: Handle, *rest: Any) -> Any:
    """Return the raw entry point of a kernel for a handle, any two things, and some more."""
    if config.DISABLE_JIT:
        return lambda *args: float(kernel(*args))
    kinds = (typeof(handle), THING, THING, *(typeof(argument) for argument in rest))
    kernel.compile(kinds)
    return kernel.overloads[kinds].entry_point


def row_digest(learner: Learner) -> str:
    """Hash all code that a kernel for one row is made of."""
    layouts = DenseLayout, SparseLayout
    return digest(*kinds_of(learner)[1:], *layouts, DenseRow, SparseRow, kernel=__name__)


@cache
def compiled_predict(bodies: str) -> Kernel:
    """Compile the side of one row: margin or class; NaN for a row that cannot be read."""

    @njit(**KERNEL)
    @shelved(bodies)
    def predict_row(handle, values, columns):  # type: ignore[no-untyped-def]
        _ = bodies
        learner, numbers, layout = held(handle)
        if not readable(layout, values, columns):
            return nan
        scaling, update, _query = unpack(learner, numbers)
        forecast = glance(update, present(scaling, take(layout, values, columns)))
        sound = isfinite(forecast.margin) and isfinite(forecast.variance)
        return side(forecast) if sound else nan

    return quietly(predict_row)


@cache
def compiled_learn(bodies: str) -> Kernel:
    """Compile one lesson; returns the margin before it, NaN if nothing was learnt."""

    @njit(**KERNEL)
    @shelved(bodies)
    def learn_row(handle, values, columns, y, fresh):  # type: ignore[no-untyped-def]
        _ = bodies
        learner, numbers, layout = held(handle)
        if not readable(layout, values, columns):
            return nan
        scaling, update, query = unpack(learner, numbers)
        given = take(layout, values, columns)
        z = present(scaling, given)
        forecast = glance(update, z)
        # Look before the statistics of the scaling are touched: a bad row must change nothing.
        if not (isfinite(forecast.margin) and isfinite(forecast.variance)):
            return nan
        if fresh and has_statistics(scaling):
            scaling, update, query = absorb_row(scaling, update, query, given)
            z = present(scaling, given)
            update = follow_scaling(update, z)
            forecast = glance(update, z)
        forecast = predict(update, z, forecast)
        if fresh and ready(scaling):
            query = preview(query, z)
        if fresh:
            query = advance(query, forecast, True)
        query = count_class(query, class_of(forecast, y), class_count(forecast, update))
        query = observe(query, z, forecast, verdict(forecast, y))
        update = learn(update, z, y, forecast)
        pack(Learner(scaling, update, query), numbers)
        return forecast.margin

    return quietly(learn_row)


@cache
def compiled_ask(bodies: str) -> Kernel:
    """Compile one round without its label; writes the forecast and the odds, returns the side."""

    @njit(**KERNEL)
    @shelved(bodies)
    def ask_row(handle, values, columns, coin, told):  # type: ignore[no-untyped-def]
        _ = bodies
        learner, numbers, layout = held(handle)
        if not readable(layout, values, columns):
            return nan
        scaling, update, query = unpack(learner, numbers)
        given = take(layout, values, columns)
        z = present(scaling, given)
        forecast = glance(update, z)
        if not (isfinite(forecast.margin) and isfinite(forecast.variance)):
            return nan
        if has_statistics(scaling):
            scaling, update, query = absorb_row(scaling, update, query, given)
            z = present(scaling, given)
            update = follow_scaling(update, z)
            forecast = glance(update, z)
        forecast = predict(update, z, forecast)
        if ready(scaling):
            query = preview(query, z)
        probability = ask_probability(query, z, forecast) if ready(scaling) else 0.0
        query = advance(query, forecast, coin < probability)
        write_down(forecast, told)
        told[len(told) - 1] = probability
        pack(Learner(scaling, update, query), numbers)
        return side(forecast)

    return quietly(ask_row)
