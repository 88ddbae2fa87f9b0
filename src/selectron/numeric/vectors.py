"""Eight doubles at once, written like numbers: arithmetic for kernels that emit their own code."""

from typing import Any

from llvmlite import ir

from selectron.numeric.lane_loop import Operand, spread

LANES = 8
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_BITS = ir.VectorType(ir.IntType(64), LANES)


class Lanes:
    """A vector of doubles; a number on the other side of an operator stands for all lanes."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder = builder
        self.value = value

    def __add__(self, other: Any) -> "Lanes":
        return self._with(self.builder.fadd, self, other)

    def __radd__(self, other: Any) -> "Lanes":
        return self._with(self.builder.fadd, other, self)

    def __sub__(self, other: Any) -> "Lanes":
        return self._with(self.builder.fsub, self, other)

    def __mul__(self, other: Any) -> "Lanes":
        return self._with(self.builder.fmul, self, other)

    def __rmul__(self, other: Any) -> "Lanes":
        return self._with(self.builder.fmul, other, self)

    def __truediv__(self, other: Any) -> "Lanes":
        return self._with(self.builder.fdiv, self, other)

    def at_most(self, bound: float) -> "Lanes":
        """Return the bound where a lane is above it."""
        return self._unless(">", bound)

    def at_least(self, bound: float) -> "Lanes":
        return self._unless("<", bound)

    def any_nonzero(self) -> Any:
        """Tell whether a lane is not 0; NaN is not."""
        differs = self.builder.fcmp_unordered("!=", self.value, self._spread(0.0))
        mask = self.builder.bitcast(differs, ir.IntType(LANES))
        return self.builder.icmp_unsigned("!=", mask, ir.Constant(ir.IntType(LANES), 0))

    def as_power_of_two(self, offset: int) -> "Lanes":
        """Return 2ᵏ where the bits of a lane plus the offset are k plus the exponent's bias."""
        bits = self.builder.bitcast(self.value, _BITS)
        biased = self.builder.add(bits, ir.Constant(_BITS, [offset] * LANES))
        shifted = self.builder.shl(biased, ir.Constant(_BITS, [52] * LANES))
        return Lanes(self.builder, self.builder.bitcast(shifted, _VECTOR))

    def _with(self, operation: Any, left: Any, right: Any) -> "Lanes":
        return Lanes(self.builder, operation(self._spread(left), self._spread(right)))

    def _unless(self, comparison: str, bound: float) -> "Lanes":
        beyond = self.builder.fcmp_ordered(comparison, self.value, self._spread(bound))
        return Lanes(self.builder, self.builder.select(beyond, self._spread(bound), self.value))

    def _spread(self, number: Any) -> Any:
        if isinstance(number, Lanes):
            return number.value
        if isinstance(number, float):
            return ir.Constant(_VECTOR, [number] * LANES)
        return spread(self.builder, number, LANES)


def block(context: Any, builder: Any, kind: Any, array: Any, start: Any) -> Lanes:
    """Load eight entries of an array from `start` on, as doubles."""
    loaded = Operand(context, builder, kind, array, LANES).load(start, None)
    return Lanes(builder, loaded if loaded.type == _VECTOR else builder.fpext(loaded, _VECTOR))


def keep(context: Any, builder: Any, kind: Any, array: Any, start: Any, lanes: Lanes) -> None:
    """Store eight doubles into an array from `start` on."""
    struct = context.make_array(kind)(context, builder, array)
    place = builder.bitcast(builder.gep(struct.data, [start]), _VECTOR.as_pointer())
    builder.store(lanes.value, place, align=8)
