"""Multiply weights by exponentials, eight at a time.

Winnow's step is all exponentials. The compiler would take them one by one, because it cannot know
that the arrays do not overlap. So this file writes the vectors down (`compiler/lanes.py`). Every
lane does what the plain loop does to one entry, in the same order. The loop also sums the weights.
"""

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import overload

from selectron.arrays import Vector
from selectron.compiler.emitting import Emission, Site, compiled_form_of
from selectron.compiler.lanes import LaneLoop, Lanes
from selectron.compiler.numba_internals import cgutils
from selectron.compiler.verbs import INLINE
from selectron.numeric.elementary import (
    LN2_HIGH,
    LN2_LOW,
    LOG2_E,
    MODEST,
    ROUNDER,
    even_tail,
    odd_tail,
    opposite_exponentials,
)
from selectron.numeric.sums import lane_sum

LEAST_WEIGHT = 1e-290  # above the slow subnormal numbers; a weight of exactly 0 could never return


def tilt_entries(
    values: Vector, rate: float, positive: Vector, negative: Vector, difference: Vector
) -> float:
    """Multiply positive[i] by exp(rate x_i), negative[i] by its inverse; note their difference.

    Weights do not fall below LEAST_WEIGHT. `negative` may be empty: then there is one side only.
    Return the sum of all weights.
    """
    for i in np.flatnonzero(values):
        up, down = opposite_exponentials(rate * np.float64(values[i]))
        positive[i] = max(positive[i] * up, LEAST_WEIGHT)
        if len(negative) > 0:
            negative[i] = max(negative[i] * down, LEAST_WEIGHT)
            difference[i] = positive[i] - negative[i]
    return lane_sum(positive) + lane_sum(negative)


@overload(tilt_entries, strict=False, jit_options=INLINE)
def _compiled_tilt_entries(*kinds: types.Type) -> Callable[..., float]:
    def tilt(values, rate, positive, negative, difference):  # type: ignore[no-untyped-def]
        if len(negative) == 0:
            return _tilt_one_side(values, rate, positive)
        return _tilt_both_sides(values, rate, positive, negative, difference)

    return tilt


def _tilt_one_side(values: Vector, rate: float, *weights: Vector) -> float:
    """Do what `tilt_entries` does where there is one side only."""


def _tilt_both_sides(values: Vector, rate: float, *weights: Vector) -> float:
    """Do what `tilt_entries` does where there are two sides."""


@compiled_form_of(_tilt_one_side)
def _emit_one_side(values: types.Array, rate: types.Float, positive: types.Array) -> Emission:
    return _tilted(_OneSide, (values, positive))


@compiled_form_of(_tilt_both_sides)
def _emit_both_sides(
    values: types.Array, rate: types.Float, up: types.Array, down: types.Array, gap: types.Array
) -> Emission:
    return _tilted(_BothSides, (values, up, down, gap))


def _tilted(kind: "type[_OneSide]", kinds: tuple[types.Array, ...]) -> Emission:
    wide = kinds[1].dtype

    def generate(site: Site, x: ir.Value, rate: ir.Value, *weights: ir.Value) -> ir.Value:
        loop = kind(site, kinds, (x, *weights), wide)
        loop.rate = rate
        return reduce(site.builder.fadd, loop.emit())

    return wide, generate


class _OneSide(LaneLoop):
    """Multiply the weights; leave blocks of rows alone that are all zeros."""

    rate: ir.Value

    def blocks(self, position: ir.Value, mask: ir.Value | None) -> tuple[ir.Value, ...]:
        values, *weights = self.operands
        values.hint_rows_behind(position)
        x = Lanes(self.builder, self.widen(values.load(position, mask)))
        now = [weight.load(position, mask) for weight in weights[: self.n_sums]]
        after = [cgutils.alloca_once_value(self.builder, each) for each in now]
        with self.builder.if_then(x.any_nonzero()):
            factors = lane_exponentials(x * self.rate)
            tilted = [
                (Lanes(self.builder, each) * factor).at_least(LEAST_WEIGHT)
                for each, factor in zip(now, factors, strict=False)
            ]
            for weight, lanes in zip(weights, [*tilted, *self.noted(*tilted)], strict=True):
                weight.store(lanes.value, position, mask)
            for each, lanes in zip(after, tilted, strict=True):
                self.builder.store(lanes.value, each)
        return tuple(self._within(self.builder.load(each), mask) for each in after)

    def noted(self, *tilted: Lanes) -> list[Lanes]:
        """Return what else is written down."""
        return []

    def _within(self, lanes: ir.Value, mask: ir.Value | None) -> ir.Value:
        zeros = self.operands[1].zeros
        return lanes if mask is None else self.builder.select(mask, lanes, zeros)


class _BothSides(_OneSide):
    """Multiply the weights of both sides, and note their difference."""

    n_sums = 2

    def noted(self, *tilted: Lanes) -> list[Lanes]:
        up, down = tilted
        return [up - down]


def lane_exponentials(x: Lanes) -> tuple[Lanes, Lanes]:
    """Do what `opposite_exponentials` does, in every lane."""
    inside = x.at_most(MODEST).at_least(-MODEST)
    shifted = inside * LOG2_E + ROUNDER
    k = shifted - ROUNDER
    r = (inside - k * LN2_HIGH) - k * LN2_LOW
    square: Any = r * r  # the same bodies serve numbers and lanes
    fourth = square * square
    even, odd = square * even_tail(square, fourth), r * square * odd_tail(square, fourth)
    up, down = 1.0 + (r + (even + odd)), 1.0 + ((even - odd) - r)
    return up.raised(shifted), down.lowered(shifted)
