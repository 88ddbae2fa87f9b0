"""Several doubles at once, written like numbers, for kernels that emit their own code."""

from typing import Any

from llvmlite import ir

from selectron.numeric.operands import spread

_BITS = ir.IntType(64)


class Lanes:
    """A vector of doubles; a number on the other side of an operator stands for all lanes."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder = builder
        self.value = value
        self.count = value.type.count

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
        flags = ir.IntType(self.count)
        mask = self.builder.bitcast(differs, flags)
        return self.builder.icmp_unsigned("!=", mask, ir.Constant(flags, 0))

    def raised(self, rounded: "Lanes") -> "Lanes":
        """Return the product with 2ᵏ where the last bits of `rounded` are k."""
        return self._shifted(self.builder.add, rounded)

    def lowered(self, rounded: "Lanes") -> "Lanes":
        """Return the quotient by 2ᵏ."""
        return self._shifted(self.builder.sub, rounded)

    def _shifted(self, operation: Any, rounded: "Lanes") -> "Lanes":
        kind = ir.VectorType(_BITS, self.count)
        own, exponent = (self.builder.bitcast(each.value, kind) for each in (self, rounded))
        exponent = self.builder.shl(exponent, ir.Constant(kind, [52] * self.count))
        return Lanes(self.builder, self.builder.bitcast(operation(own, exponent), self.value.type))

    def _with(self, operation: Any, left: Any, right: Any) -> "Lanes":
        return Lanes(self.builder, operation(self._spread(left), self._spread(right)))

    def _unless(self, comparison: str, bound: float) -> "Lanes":
        beyond = self.builder.fcmp_ordered(comparison, self.value, self._spread(bound))
        return Lanes(self.builder, self.builder.select(beyond, self._spread(bound), self.value))

    def _spread(self, number: Any) -> Any:
        if isinstance(number, Lanes):
            return number.value
        if isinstance(number, float):
            return ir.Constant(self.value.type, [number] * self.count)
        return spread(self.builder, number, self.count)
