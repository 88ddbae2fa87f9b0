"""Arrays that a kernel reads and writes by vectors, in LLVM's own terms.

Numba leaves scalar sums scalar, and fast-math would let the CPU choose the order of additions. So
the vectors are written down: `Operand` loads and stores them, `LaneLoop` steps through arrays with
them, and `Lanes` lets their arithmetic read like that of numbers.
"""

from typing import Any

from llvmlite import ir
from numba import types

from selectron.compiler.numba_internals import cgutils

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


class LaneLoop:
    """Combine blocks of `lanes` entries, entry i in lane i mod `lanes`; then the lanes as a tree.

    There may be several such sums. LLVM splits the vectors into whatever registers there are: the
    order does not change.
    """

    lanes = 8
    n_sums = 1
    stride = 1  # blocks a step: more are faster from memory, slower for short rows
    nothing: Any = 0.0

    def __init__(self, context: Any, builder: Any, length: Any, wide: Any) -> None:
        self.builder = builder
        self.length = length
        self.vector = ir.VectorType(context.get_value_type(wide), self.lanes)

    def blocks(self, position: Any, mask: Any) -> tuple[Any, ...]:
        """Return each sum's block at a position; lanes that the mask leaves out are `nothing`."""
        raise NotImplementedError  # every kind of operand has its own

    def combine(self, running: Any, block: Any) -> Any:
        return self.builder.fadd(running, block)

    def widen(self, loaded: Any) -> Any:
        """Return a block, or one entry of it, as the sums are."""
        one = not isinstance(loaded.type, ir.VectorType)
        kind = self.vector.element if one else self.vector
        return loaded if loaded.type == kind else self.builder.fpext(loaded, kind)

    def emit(self) -> list[Any]:
        """Emit the loop; return the sums."""
        builder, n = self.builder, self.length
        start = ir.Constant(self.vector, [self.nothing] * self.lanes)
        running = [cgutils.alloca_once_value(builder, start) for _ in range(self.n_sums)]
        main: Any = ir.Constant(INDEX, 0)
        for stride in dict.fromkeys((self.stride, 1)):
            main = self.steps(running, main, stride)
        with builder.if_then(builder.icmp_unsigned("!=", main, n)):
            self._take(running, main, self._rest(main))
        return [self._tree(builder.load(each)) for each in running]

    def steps(self, running: list[Any], start: Any, stride: int) -> Any:
        """Take all whole steps of so many blocks; return where they end."""
        step = stride * self.lanes
        stop = self.end_of_steps(step)

        def take(position: Any) -> None:
            for offset in range(0, step, self.lanes):
                at = self.builder.add(position, ir.Constant(INDEX, offset))
                self._take(running, at, None)

        self.loop(start, stop, step, take)
        return stop

    def end_of_steps(self, step: int) -> Any:
        """Return where the last whole step ends; steps are powers of two."""
        return self.builder.and_(self.length, ir.Constant(INDEX, -step))

    def _take(self, running: list[Any], position: Any, mask: Any) -> None:
        for each, block in zip(running, self.blocks(position, mask), strict=True):
            self.builder.store(self.combine(self.builder.load(each), block), each)

    def loop(self, start: Any, stop: Any, step: int, body: Any) -> None:
        """Step through the row; LLVM shall not unroll: a short row would be all remainders."""
        builder, module = self.builder, self.builder.module
        position = cgutils.alloca_once(builder, INDEX)
        builder.store(start, position)
        test, block, end = (
            builder.append_basic_block(f"lanes.{n}") for n in ("test", "body", "end")
        )
        builder.branch(test)
        builder.position_at_end(test)
        i = builder.load(position)
        builder.cbranch(builder.icmp_unsigned("<", i, stop), block, end)
        builder.position_at_end(block)
        body(i)
        builder.store(builder.add(i, ir.Constant(INDEX, step)), position)
        back = builder.branch(test)
        rolled = module.add_metadata([ir.MetaDataString(module, "llvm.loop.unroll.disable")])
        loop = module.add_metadata([rolled])
        loop.operands = (loop, rolled)  # loop metadata names itself first
        back.set_metadata("llvm.loop", loop)
        builder.position_at_end(end)

    def _rest(self, position: Any) -> Any:
        """Return the mask of the entries that are left."""
        left = self.builder.sub(self.length, position)
        numbers = ir.Constant(ir.VectorType(INDEX, self.lanes), list(range(self.lanes)))
        return self.builder.icmp_unsigned("<", numbers, spread(self.builder, left, self.lanes))

    def _tree(self, running: Any) -> Any:
        builder, width = self.builder, self.lanes
        while width > 1:
            width //= 2
            halves = (cut(builder, running, first, width) for first in (0, width))
            running = self.combine(*halves)
        return builder.extract_element(running, ir.Constant(FLAG, 0))


class OverArrays(LaneLoop):
    """A loop over arrays of one length."""

    def __init__(self, context: Any, builder: Any, kinds: Any, arrays: Any, wide: Any) -> None:
        self.operands = [
            Operand(context, builder, kind, array, self.lanes)
            for kind, array in zip(kinds, arrays, strict=True)
        ]
        super().__init__(context, builder, self.operands[0].length, wide)


def cut(builder: Any, vector: Any, first: int, width: int) -> Any:
    """Return some lanes of a vector."""
    lanes = ir.Constant(ir.VectorType(FLAG, width), list(range(first, first + width)))
    return builder.shuffle_vector(vector, vector, lanes)


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
        kind = ir.VectorType(INDEX, self.count)
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
