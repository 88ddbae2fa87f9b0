"""Multiply weights by exponentials, eight at a time.

Winnow's step is all exponentials and divisions, and the compiler would take them one by one: it
cannot know that the arrays do not overlap. So the vectors are written down, as in `lanes`; every
lane does what the plain loop does to one entry, in the same order.
"""

from typing import Any

import numpy as np
from numba.core import types
from numba.extending import intrinsic, overload

from selectron.dispatch import INLINE, helper
from selectron.numeric.arrays import Vector
from selectron.numeric.elementary import (
    LN2_HIGH,
    LN2_LOW,
    LOG2_E,
    MODEST,
    ROUNDER,
    ROUNDER_BITS,
    modest_exponential,
    taylor_tail,
)
from selectron.numeric.vectors import LANES, Lanes, block, keep

LEAST_WEIGHT = 1e-290  # above the slow subnormal numbers; a weight of exactly 0 could never return


def tilt_entries(
    values: Vector, rate: float, positive: Vector, negative: Vector, difference: Vector
) -> None:
    """Multiply positive[i] by exp(rate x_i), divide negative[i] by it; note their difference.

    Weights do not fall below LEAST_WEIGHT. `negative` may be empty: then there is one side only.
    """
    _tilt_plainly(values, rate, positive, negative, difference, 0)


@overload(tilt_entries, strict=False, jit_options=INLINE)
def _compiled_tilt_entries(
    values: Any, rate: Any, positive: Any, negative: Any, difference: Any
) -> Any:
    def tilt(values, rate, positive, negative, difference):  # type: ignore[no-untyped-def]
        main = len(values) - len(values) % LANES
        if len(negative) == 0:
            for start in range(0, main, LANES):
                _emit_one_side(values, rate, positive, start)
        else:
            for start in range(0, main, LANES):
                _emit_both_sides(values, rate, positive, negative, difference, start)
        _tilt_plainly(values, rate, positive, negative, difference, main)

    return tilt


@helper
def _tilt_plainly(
    values: Vector,
    rate: float,
    positive: Vector,
    negative: Vector,
    difference: Vector,
    start: int,
) -> None:
    for i in range(start, len(values)):
        if values[i] != 0.0:
            factor = modest_exponential(rate * np.float64(values[i]))
            up = max(positive[i] * factor, LEAST_WEIGHT)
            positive[i] = up
            if len(negative) > 0:
                down = max(negative[i] / factor, LEAST_WEIGHT)
                negative[i] = down
                difference[i] = up - down


def lane_exponential(x: Lanes) -> Lanes:
    """Do what `modest_exponential` does, in every lane."""
    inside = x.at_most(MODEST).at_least(-MODEST)
    shifted = inside * LOG2_E + ROUNDER
    k = shifted - ROUNDER
    r = (inside - k * LN2_HIGH) - k * LN2_LOW
    series: Any = r  # the same body serves numbers and lanes
    return (1.0 + (r + r * r * taylor_tail(series))) * shifted.as_power_of_two(1023 - ROUNDER_BITS)


@intrinsic
def _emit_one_side(typing_context: Any, values: Any, rate: Any, positive: Any, start: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        x = block(context, builder, values, args[0], args[3])
        with builder.if_then(x.any_nonzero()):
            factor = lane_exponential(x * args[1])
            up = block(context, builder, positive, args[2], args[3]) * factor
            keep(context, builder, positive, args[2], args[3], up.at_least(LEAST_WEIGHT))
        return context.get_dummy_value()

    return types.void(values, rate, positive, start), generate


@intrinsic
def _emit_both_sides(
    typing_context: Any,
    values: Any,
    rate: Any,
    positive: Any,
    negative: Any,
    difference: Any,
    start: Any,
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = args[5]
        x = block(context, builder, values, args[0], at)
        with builder.if_then(x.any_nonzero()):
            factor = lane_exponential(x * args[1])
            up = block(context, builder, positive, args[2], at) * factor
            down = block(context, builder, negative, args[3], at) / factor
            up, down = up.at_least(LEAST_WEIGHT), down.at_least(LEAST_WEIGHT)
            keep(context, builder, positive, args[2], at, up)
            keep(context, builder, negative, args[3], at, down)
            keep(context, builder, difference, args[4], at, up - down)
        return context.get_dummy_value()

    return types.void(values, rate, positive, negative, difference, start), generate
