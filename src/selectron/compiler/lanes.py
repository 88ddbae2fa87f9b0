"""Loops over arrays by vectors, in LLVM's own terms.

Numba leaves scalar sums scalar, and fast-math would let the CPU choose the order of additions. So
this file writes the vectors down. An `Operand` loads and stores them, a `LaneLoop` steps through
arrays with them, and `Lanes` lets their arithmetic read like that of numbers.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from llvmlite import ir
from numba import types

from selectron.compiler.emitting import Site
from selectron.compiler.numba_internals import BaseContext, cgutils

INDEX, FLAG = ir.IntType(64), ir.IntType(32)


class Operand:
    """One array; vectors begin at any position.

    A mask leaves out the lanes past the end of the array. Without a mask all lanes count.
    """

    def __init__(self, site: Site, kind: types.Array, array: ir.Value, lanes: int) -> None:
        struct = site.context.make_array(kind)(*site, array)
        self.builder = site.builder
        self.data = struct.data
        self.length = site.builder.extract_value(struct.shape, 0)
        self.bytes = kind.dtype.bitwidth // 8
        self.vector = ir.VectorType(site.context.get_value_type(kind.dtype), lanes)
        is_float = isinstance(kind.dtype, types.Float)
        self.name = f"v{lanes}{'f' if is_float else 'i'}{kind.dtype.bitwidth}"
        self.zeros = ir.Constant(self.vector, [0.0 if is_float else 0] * lanes)

    def load(self, position: ir.Value, mask: ir.Value | None) -> ir.Value:
        """Return the entries from a position on, 0 where the mask leaves them out."""
        place = self._place(position)
        if mask is None:
            return self.builder.load(place, align=self.bytes)
        return self._read(f"llvm.masked.load.{self.name}.p0", place, mask)

    def entry(self, position: ir.Value) -> ir.Value:
        """Return one entry."""
        return self.builder.load(self.builder.gep(self.data, [position]))

    def store(self, entries: ir.Value, position: ir.Value, mask: ir.Value | None) -> None:
        """Write entries from a position on, but for those that the mask leaves out."""
        place = self._place(position)
        if mask is None:
            self.builder.store(entries, place, align=self.bytes)
        else:
            arguments = [entries, place, ir.Constant(FLAG, self.bytes), mask]
            self._call(f"llvm.masked.store.{self.name}.p0", ir.VoidType(), arguments)

    def gather(self, columns: ir.Value, mask: ir.Value | None) -> ir.Value:
        """Return the entries in these columns, 0 where the mask leaves them out.

        Columns are below 2³¹: as signed numbers of 32 bits the CPU takes them as they are.
        """
        builder, lanes = self.builder, self.vector.count
        base = spread(builder, self.data, lanes)
        places = builder.gep(base, [columns], source_etype=self.vector.element)
        if mask is None:
            mask = ir.Constant(ir.VectorType(ir.IntType(1), lanes), [1] * lanes)
        return self._read(f"llvm.masked.gather.{self.name}.v{lanes}p0", places, mask)

    def hint_rows_behind(self, position: ir.Value) -> None:
        """Emit hints about the same share of the next rows as this block is of its own row.

        Long work on one row leaves the memory idle, and no CPU foresees when it will read again.
        """
        builder = self.builder
        share = builder.mul(position, ir.Constant(INDEX, ROWS_BEHIND))
        start = builder.add(self.length, share)
        for k in range(0, ROWS_BEHIND * self.vector.count, CACHE_LINE // self.bytes):
            place = builder.gep(self.data, [builder.add(start, ir.Constant(INDEX, k))])
            emit_hint_at(builder, place, LEVEL_2)

    def _place(self, position: ir.Value) -> ir.Value:
        place = self.builder.gep(self.data, [position])
        return self.builder.bitcast(place, self.vector.as_pointer())

    def _read(self, name: str, places: ir.Value, mask: ir.Value) -> ir.Value:
        arguments = [places, ir.Constant(FLAG, self.bytes), mask, self.zeros]
        return self._call(name, self.vector, arguments)

    def _call(self, name: str, result: ir.Type, arguments: list[ir.Value]) -> ir.Value:
        kind = ir.FunctionType(result, [argument.type for argument in arguments])
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(function, arguments)


def spread(builder: ir.IRBuilder, number: ir.Value, lanes: int) -> ir.Value:
    """Return a vector with this number in every lane."""
    empty = ir.Constant(ir.VectorType(number.type, lanes), ir.Undefined)
    first = builder.insert_element(empty, number, ir.Constant(FLAG, 0))
    everywhere = ir.Constant(ir.VectorType(FLAG, lanes), [0] * lanes)
    return builder.shuffle_vector(first, first, everywhere)


def cut(builder: ir.IRBuilder, vector: ir.Value, first: int, width: int) -> ir.Value:
    """Return some lanes of a vector."""
    lanes = ir.Constant(ir.VectorType(FLAG, width), list(range(first, first + width)))
    return builder.shuffle_vector(vector, vector, lanes)


class LaneLoop:
    """Combine arrays of one length by blocks: entry i in lane i mod `lanes`, the lanes as a tree.

    There may be several such sums. LLVM splits the vectors into the registers that the CPU has;
    that does not change the order of additions.
    """

    lanes = 8
    n_sums = 1
    stride = 1  # blocks a step: more are faster from memory, slower for short rows
    nothing: float = 0.0

    def __init__(
        self, site: Site, kinds: Sequence[types.Array], arrays: Sequence[ir.Value], wide: types.Type
    ) -> None:
        self.site = site
        self.builder = site.builder
        pairs = zip(kinds, arrays, strict=True)
        self.operands = [Operand(site, kind, array, self.lanes) for kind, array in pairs]
        self.length = self.operands[0].length
        self.vector = ir.VectorType(site.context.get_value_type(wide), self.lanes)

    def blocks(self, position: ir.Value, mask: ir.Value | None) -> tuple[ir.Value, ...]:
        """Return each sum's block at a position; lanes that the mask leaves out are `nothing`."""
        raise NotImplementedError  # every loop has its own

    def combine(self, running: ir.Value, block: ir.Value) -> ir.Value:
        return self.builder.fadd(running, block)

    def widen(self, loaded: ir.Value) -> ir.Value:
        """Return a block, or one entry of it, in the precision of the sums."""
        one = not isinstance(loaded.type, ir.VectorType)
        kind = self.vector.element if one else self.vector
        return loaded if loaded.type == kind else self.builder.fpext(loaded, kind)

    def emit(self) -> list[ir.Value]:
        """Emit the loop; return the sums."""
        builder = self.builder
        start = ir.Constant(self.vector, [self.nothing] * self.lanes)
        running = [cgutils.alloca_once_value(builder, start) for _ in range(self.n_sums)]
        main = ir.Constant(INDEX, 0)
        for stride in dict.fromkeys((self.stride, 1)):
            main = self.steps(running, main, stride)
        with builder.if_then(builder.icmp_unsigned("!=", main, self.length)):
            self._take(running, main, self._rest(main))
        return [self._tree(builder.load(each)) for each in running]

    def steps(self, running: list[ir.Value], start: ir.Value, stride: int) -> ir.Value:
        """Take all whole steps of so many blocks; return where they end."""
        step = stride * self.lanes

        def take(position: ir.Value) -> None:
            for offset in range(0, step, self.lanes):
                at = self.builder.add(position, ir.Constant(INDEX, offset))
                self._take(running, at, None)

        return self.loop(start, step, take)

    def _take(self, running: list[ir.Value], position: ir.Value, mask: ir.Value | None) -> None:
        for each, block in zip(running, self.blocks(position, mask), strict=True):
            self.builder.store(self.combine(self.builder.load(each), block), each)

    def loop(self, start: ir.Value, step: int, body: Callable[[ir.Value], None]) -> ir.Value:
        """Take all whole steps, a power of two each, from `start` on; return where they end.

        LLVM shall not unroll this loop: a short row would be all remainders.
        """
        builder, module = self.builder, self.builder.module
        stop = builder.and_(self.length, ir.Constant(INDEX, -step))
        position = cgutils.alloca_once(builder, INDEX)
        builder.store(start, position)
        names = "lanes.test", "lanes.body", "lanes.end"
        test, block, end = (builder.append_basic_block(name) for name in names)
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
        return stop

    def _rest(self, position: ir.Value) -> ir.Value:
        """Return the mask of the entries that are left."""
        left = self.builder.sub(self.length, position)
        numbers = ir.Constant(ir.VectorType(INDEX, self.lanes), list(range(self.lanes)))
        return self.builder.icmp_unsigned("<", numbers, spread(self.builder, left, self.lanes))

    def _tree(self, running: ir.Value) -> ir.Value:
        builder, width = self.builder, self.lanes
        while width > 1:
            width //= 2
            halves = (cut(builder, running, first, width) for first in (0, width))
            running = self.combine(*halves)
        return builder.extract_element(running, ir.Constant(FLAG, 0))


Arithmetic: TypeAlias = Callable[[ir.Value, ir.Value], ir.Value]
Entries: TypeAlias = "Lanes | ir.Value | float"


class Lanes:
    """A vector of doubles; a number on the other side of an operator stands for all lanes."""

    def __init__(self, builder: ir.IRBuilder, value: ir.Value) -> None:
        self.builder = builder
        self.value = value
        self.count = value.type.count

    def __add__(self, other: "Entries") -> "Lanes":
        return self._with(self.builder.fadd, self, other)

    def __radd__(self, other: float) -> "Lanes":
        return self._with(self.builder.fadd, other, self)

    def __sub__(self, other: "Entries") -> "Lanes":
        return self._with(self.builder.fsub, self, other)

    def __mul__(self, other: "Entries") -> "Lanes":
        return self._with(self.builder.fmul, self, other)

    def at_most(self, bound: float) -> "Lanes":
        """Return the bound where a lane is above it."""
        return self._unless(">", bound)

    def at_least(self, bound: float) -> "Lanes":
        """Return the bound where a lane is below it."""
        return self._unless("<", bound)

    def any_nonzero(self) -> ir.Value:
        """Tell whether a lane is not 0; NaN is not 0 either."""
        differs = self.builder.fcmp_unordered("!=", self.value, self._spread(0.0))
        flags = ir.IntType(self.count)
        mask = self.builder.bitcast(differs, flags)
        return self.builder.icmp_unsigned("!=", mask, ir.Constant(flags, 0))

    def raised(self, rounded: "Lanes") -> "Lanes":
        """Return the product with 2ᵏ where the last bits of `rounded` are k."""
        return self._shifted(self.builder.add, rounded)

    def lowered(self, rounded: "Lanes") -> "Lanes":
        """Return the quotient by 2ᵏ where the last bits of `rounded` are k."""
        return self._shifted(self.builder.sub, rounded)

    def _shifted(self, operation: Arithmetic, rounded: "Lanes") -> "Lanes":
        kind = ir.VectorType(INDEX, self.count)
        own, exponent = (self.builder.bitcast(each.value, kind) for each in (self, rounded))
        exponent = self.builder.shl(exponent, ir.Constant(kind, [52] * self.count))
        return Lanes(self.builder, self.builder.bitcast(operation(own, exponent), self.value.type))

    def _with(self, operation: Arithmetic, left: "Entries", right: "Entries") -> "Lanes":
        return Lanes(self.builder, operation(self._spread(left), self._spread(right)))

    def _unless(self, comparison: str, bound: float) -> "Lanes":
        beyond = self.builder.fcmp_ordered(comparison, self.value, self._spread(bound))
        return Lanes(self.builder, self.builder.select(beyond, self._spread(bound), self.value))

    def _spread(self, number: "Entries") -> ir.Value:
        if isinstance(number, Lanes):
            return number.value
        if isinstance(number, float):
            return ir.Constant(self.value.type, [number] * self.count)
        return spread(self.builder, number, self.count)


DISTANCE = 1024  # entries: four to eight kilobytes
ROWS_BEHIND = 4
CACHE_LINE = 64  # bytes

# The cache that a hint brings a line to. Few lines can be on their way to level 1 at a time, so
# lines from memory are better brought to level 2, which is near enough.
LEVEL_1, LEVEL_2 = 3, 2

_READ, _DATA = 0, 1

ZEN = "znver"  # LLVM's name for AMD's Zen


def is_zen(context: BaseContext) -> bool:
    """Tell whether code is made for AMD's Zen.

    Zen reads dense rows at full speed on its own: on Zen 4, hints make that 0.7 times as fast. And
    Zen gathers slowly. Numba keeps kernels by the name of the CPU, so a kernel that was made for
    another CPU is never used.
    """
    _, cpu, _ = context.codegen().magic_tuple()
    return bool(cpu.startswith(ZEN))


def emit_hint(builder: ir.IRBuilder, data: ir.Value, position: ir.Value) -> None:
    """Emit the hint that the entry DISTANCE places behind this one will be read soon."""
    far = builder.add(position, ir.Constant(position.type, DISTANCE))
    emit_hint_at(builder, builder.gep(data, [far]), LEVEL_2)


def emit_hint_at(builder: ir.IRBuilder, place: ir.Value, level: int) -> None:
    """Emit the hint that this place of memory will be read soon, and shall be in this cache."""
    flag, place = ir.IntType(32), builder.bitcast(place, cgutils.voidptr_t)
    kind = ir.FunctionType(ir.VoidType(), [place.type, flag, flag, flag])
    hint = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    builder.call(hint, [place, *(ir.Constant(flag, n) for n in (_READ, level, _DATA))])
