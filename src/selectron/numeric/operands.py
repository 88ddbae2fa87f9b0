"""Arrays of a kernel, read and written by vectors."""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

INDEX, FLAG = ir.IntType(64), ir.IntType(32)


class Operand:
    """One array; vectors begin at any position."""

    def __init__(self, context: Any, builder: Any, kind: Any, array: Any, lanes: int) -> None:
        struct = context.make_array(kind)(context, builder, array)
        self.builder = builder
        self.data = struct.data
        self.length = builder.extract_value(struct.shape, 0)
        self.bytes = kind.dtype.bitwidth // 8
        self.vector = ir.VectorType(context.get_value_type(kind.dtype), lanes)
        is_float = isinstance(kind.dtype, types.Float)
        self.name = f"v{lanes}{'f' if is_float else 'i'}{kind.dtype.bitwidth}"
        self.zeros = ir.Constant(self.vector, [0.0 if is_float else 0] * lanes)

    def load(self, position: Any, mask: Any) -> Any:
        """Return the entries from a position on, 0 where the mask leaves them out."""
        place = self._place(position)
        if mask is None:
            return self.builder.load(place, align=self.bytes)
        return self._call(f"llvm.masked.load.{self.name}.p0", place, mask)

    def entry(self, position: Any) -> Any:
        """Return one entry."""
        return self.builder.load(self.builder.gep(self.data, [position]))

    def store(self, entries: Any, position: Any, mask: Any) -> None:
        """Put entries back from a position on, but for those that the mask leaves out."""
        place = self._place(position)
        if mask is None:
            self.builder.store(entries, place, align=self.bytes)
            return
        kind = ir.FunctionType(ir.VoidType(), [self.vector, place.type, FLAG, mask.type])
        name = f"llvm.masked.store.{self.name}.p0"
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        align = ir.Constant(FLAG, self.bytes)
        self.builder.call(function, [entries, place, align, mask])

    def gather(self, columns: Any, mask: Any) -> Any:
        """Return the entries in these columns, 0 where the mask leaves them out.

        Columns are below 2³¹: as signed numbers of 32 bits the CPU takes them as they are.
        """
        builder, lanes = self.builder, self.vector.count
        base = spread(builder, self.data, lanes)
        places = builder.gep(base, [columns], source_etype=self.vector.element)
        if mask is None:
            mask = ir.Constant(ir.VectorType(ir.IntType(1), lanes), [1] * lanes)
        return self._call(f"llvm.masked.gather.{self.name}.v{lanes}p0", places, mask)

    def _place(self, position: Any) -> Any:
        place = self.builder.gep(self.data, [position])
        return self.builder.bitcast(place, self.vector.as_pointer())

    def _call(self, name: str, places: Any, mask: Any) -> Any:
        kind = ir.FunctionType(self.vector, [places.type, FLAG, mask.type, self.vector])
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        align = ir.Constant(FLAG, self.bytes)
        return self.builder.call(function, [places, align, mask, self.zeros])


def spread(builder: Any, number: Any, lanes: int) -> Any:
    """Return a vector with this number in every lane."""
    empty = ir.Constant(ir.VectorType(number.type, lanes), ir.Undefined)
    first = builder.insert_element(empty, number, ir.Constant(FLAG, 0))
    everywhere = ir.Constant(ir.VectorType(FLAG, lanes), [0] * lanes)
    return builder.shuffle_vector(first, first, everywhere)
