"""The body of the loop for one row at a time: thin kernels that cost well under a microsecond.

They are called at their raw entry points, which do not look at the types of their arguments: the
caller makes sure that the row is contiguous and of the right type and length.
"""

from functools import cache
from math import isfinite, nan
from typing import Any, NamedTuple

from numba import config, njit, typeof

from selectron.dispatch import Verb, shelved
from selectron.forecasts import class_count, class_of, side, verdict, write_down
from selectron.loop import Kernel, Learner, quietly
from selectron.numeric.arrays import Indices, Vector
from selectron.numeric.rows import DenseRow, SparseRow
from selectron.numeric.scalars import pack, unpack
from selectron.protocol import (
    absorb,
    advance,
    ask_probability,
    follow,
    glance,
    has_statistics,
    learn,
    meet,
    observe,
    predict,
    present,
    ready,
)


class DenseLayout(NamedTuple):
    """Rows come as d numbers; the indices are not looked at."""

    d: int


class SparseLayout(NamedTuple):
    """Rows come as numbers and their columns."""

    d: int


@Verb
def readable(layout: Any, values: Vector, indices: Indices) -> bool:
    """Tell whether the row is whole and contiguous, and its columns rise within the width."""


@Verb
def take(layout: Any, values: Vector, indices: Indices) -> Any:
    """Return the row at hand."""


@readable.of(DenseLayout)
def dense_readable(layout: DenseLayout, values: Vector, indices: Indices) -> bool:
    return len(values) == layout.d and values.strides[0] == values.itemsize


@readable.of(SparseLayout)
def sparse_readable(layout: SparseLayout, values: Vector, indices: Indices) -> bool:
    n = len(indices)
    if len(values) != n or (
        n > 0 and (values.strides[0] != values.itemsize or indices.strides[0] != indices.itemsize)
    ):
        return False
    if n == 0:
        return True
    falls = 0
    for k in range(n - 1):
        falls += indices[k] >= indices[k + 1]
    return falls == 0 and indices[0] >= 0 and indices[n - 1] < layout.d


@take.of(DenseLayout)
def take_dense(layout: DenseLayout, values: Vector, indices: Indices) -> DenseRow:
    return DenseRow(values)


@take.of(SparseLayout)
def take_sparse(layout: SparseLayout, values: Vector, indices: Indices) -> SparseRow:
    return SparseRow(values, indices)


def entry_point(kernel: Any, *args: Any) -> Any:
    """Return the raw entry point of a kernel for arguments of exactly these types."""
    if config.DISABLE_JIT:
        return lambda *args: float(kernel(*args))
    kinds = tuple(typeof(argument) for argument in args)
    kernel.compile(kinds)
    return kernel.overloads[kinds].entry_point


@cache
def compiled_predict(bodies: str) -> Kernel:
    """Compile the side of one row: margin or class; NaN for a row that cannot be read."""

    @njit(cache=True, error_model="numpy", _nrt=False)
    @shelved(bodies)
    def predict_row(learner, numbers, layout, values, indices):  # type: ignore[no-untyped-def]
        _ = bodies
        if not readable(layout, values, indices):
            return nan
        scaling, update, _query = unpack(learner, numbers)
        forecast = glance(update, present(scaling, take(layout, values, indices)))
        sound = isfinite(forecast.margin) and isfinite(forecast.variance)
        return side(forecast) if sound else nan

    return quietly(predict_row)


@cache
def compiled_learn(bodies: str) -> Kernel:
    """Compile one lesson; returns the margin before it, NaN if nothing was learnt."""

    @njit(cache=True, error_model="numpy", _nrt=False)
    @shelved(bodies)
    def learn_row(learner, numbers, layout, values, indices, y, fresh):  # type: ignore[no-untyped-def]
        _ = bodies
        if not readable(layout, values, indices):
            return nan
        scaling, update, query = unpack(learner, numbers)
        given = take(layout, values, indices)
        z = present(scaling, given)
        forecast = glance(update, z)
        # Look before the statistics of the scaling are touched: a bad row must change nothing.
        if not (isfinite(forecast.margin) and isfinite(forecast.variance)):
            return nan
        if fresh and has_statistics(scaling):
            scaling = absorb(scaling, given)
            z = present(scaling, given)
            update = follow(update, z)
            forecast = glance(update, z)
        forecast = predict(update, z, forecast)
        if fresh:
            query = advance(query, forecast, True)
        query = meet(query, class_of(forecast, y), class_count(forecast, update))
        query = observe(query, z, forecast, verdict(forecast, y))
        update = learn(update, z, y, forecast)
        pack(Learner(scaling, update, query), numbers)
        return forecast.margin

    return quietly(learn_row)


@cache
def compiled_ask(bodies: str) -> Kernel:
    """Compile one round without its label; writes the forecast and the odds, returns the side."""

    @njit(cache=True, error_model="numpy", _nrt=False)
    @shelved(bodies)
    def ask_row(learner, numbers, layout, values, indices, coin, told):  # type: ignore[no-untyped-def]
        _ = bodies
        if not readable(layout, values, indices):
            return nan
        scaling, update, query = unpack(learner, numbers)
        given = take(layout, values, indices)
        z = present(scaling, given)
        forecast = glance(update, z)
        if not (isfinite(forecast.margin) and isfinite(forecast.variance)):
            return nan
        if has_statistics(scaling):
            scaling = absorb(scaling, given)
            z = present(scaling, given)
            update = follow(update, z)
            forecast = glance(update, z)
        forecast = predict(update, z, forecast)
        probability = ask_probability(query, z, forecast) if ready(scaling) else 0.0
        query = advance(query, forecast, coin < probability)
        write_down(forecast, told)
        told[len(told) - 1] = probability
        pack(Learner(scaling, update, query), numbers)
        return side(forecast)

    return quietly(ask_row)
