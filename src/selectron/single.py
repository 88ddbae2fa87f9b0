"""The body of the loop for one row at a time: thin kernels that cost well under a microsecond.

They are called at their raw entry points, which do not look at the types of their arguments: the
caller makes sure that x is a contiguous row of the right type and length.
"""

from functools import cache
from math import isfinite, nan
from typing import Any

from numba import config, njit, typeof

from selectron.dispatch import Verb
from selectron.loop import Kernel, Learner, quietly
from selectron.numeric.arrays import Vector
from selectron.numeric.rows import Csr, Dense, DenseRow, Rows, SparseRow, sound
from selectron.numeric.scalars import pack, unpack
from selectron.protocol import (
    absorb,
    advance,
    ask_probability,
    glance,
    learn,
    observe,
    predict,
    present,
    ready,
)


@Verb
def take(room: Rows, x: Vector) -> Any:
    """Return the row at hand: x itself if it is dense, what lies in the room if it is sparse."""


@take.of(Dense)
def take_dense(room: Dense, x: Vector) -> DenseRow:
    return DenseRow(x)


@take.of(Csr)
def take_sparse(room: Csr, x: Vector) -> SparseRow:
    n = room.starts[1]
    return SparseRow(room.values[:n], room.indices[:n])


def entry_point(kernel: Any, *args: Any) -> Any:
    """Return the raw entry point of a kernel for arguments of exactly these types."""
    if config.DISABLE_JIT:
        return lambda *args: float(kernel(*args))
    kinds = tuple(typeof(argument) for argument in args)
    kernel.compile(kinds)
    return kernel.overloads[kinds].entry_point


@cache
def compiled_predict(bodies: str) -> Kernel:
    """Compile the sign of one margin; NaN for a row that cannot be read."""

    @njit(cache=True, error_model="numpy", _nrt=False)
    def predict_row(learner, numbers, room, x):  # type: ignore[no-untyped-def]
        _ = bodies
        if not sound(room, 0):
            return nan
        scaling, update, _query = unpack(learner, numbers)
        return glance(update, present(scaling, take(room, x))).margin

    return quietly(predict_row)


@cache
def compiled_learn(bodies: str) -> Kernel:
    """Compile one lesson; returns the margin before it, NaN if nothing was learnt."""

    @njit(cache=True, error_model="numpy", _nrt=False)
    def learn_row(learner, numbers, room, x, y, fresh):  # type: ignore[no-untyped-def]
        _ = bodies
        if not sound(room, 0):
            return nan
        scaling, update, query = unpack(learner, numbers)
        given = take(room, x)
        # Look before the statistics of the scaling are touched: a bad row must change nothing.
        margin = glance(update, present(scaling, given)).margin
        if not isfinite(margin):
            return nan
        if fresh:
            scaling = absorb(scaling, given)
        z = present(scaling, given)
        forecast = predict(update, z, glance(update, z))
        if fresh:
            query = advance(query, forecast, True)
        query = observe(query, z, forecast, y)
        update = learn(update, z, y, forecast)
        pack(Learner(scaling, update, query), numbers)
        return forecast.margin

    return quietly(learn_row)


@cache
def compiled_ask(bodies: str) -> Kernel:
    """Compile one round without its label; writes the forecast and the odds, returns the margin."""

    @njit(cache=True, error_model="numpy", _nrt=False)
    def ask_row(learner, numbers, room, x, coin, told):  # type: ignore[no-untyped-def]
        _ = bodies
        if not sound(room, 0):
            return nan
        scaling, update, query = unpack(learner, numbers)
        given = take(room, x)
        if not isfinite(glance(update, present(scaling, given)).margin):
            return nan
        scaling = absorb(scaling, given)
        z = present(scaling, given)
        forecast = predict(update, z, glance(update, z))
        probability = ask_probability(query, z, forecast) if ready(scaling) else 0.0
        query = advance(query, forecast, coin < probability)
        told[0], told[1] = forecast.margin, forecast.unit
        told[2], told[3] = forecast.norm, forecast.variance
        told[4] = probability
        pack(Learner(scaling, update, query), numbers)
        return forecast.margin

    return quietly(ask_row)
