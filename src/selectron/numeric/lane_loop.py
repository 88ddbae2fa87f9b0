"""The loop that goes through arrays by vectors, as code that a kernel is made of."""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

INDEX, FLAG = ir.IntType(64), ir.IntType(32)


class LaneLoop:
    """Combine blocks of `lanes` entries, entry i in lane i mod `lanes`; then the lanes as a tree.

    LLVM splits the vectors into whatever registers there are: the order does not change.
    """

    lanes = 8
    stride = 1  # blocks a step: more are faster from memory, slower for short rows
    nothing: Any = 0.0

    def __init__(self, context: Any, builder: Any, length: Any, wide: Any) -> None:
        self.builder = builder
        self.length = length
        self.vector = ir.VectorType(context.get_value_type(wide), self.lanes)

    def block(self, position: Any, mask: Any) -> Any:
        """Return the block at a position; lanes that the mask leaves out are `nothing`."""
        raise NotImplementedError  # every kind of operand has its own

    def combine(self, running: Any, block: Any) -> Any:
        return self.builder.fadd(running, block)

    def widen(self, loaded: Any) -> Any:
        return loaded if loaded.type == self.vector else self.builder.fpext(loaded, self.vector)

    def emit(self) -> Any:
        builder, n = self.builder, self.length
        start = ir.Constant(self.vector, [self.nothing] * self.lanes)
        running = cgutils.alloca_once_value(builder, start)
        main: Any = ir.Constant(INDEX, 0)
        for stride in dict.fromkeys((self.stride, 1)):
            main = self._steps(running, main, stride)
        with builder.if_then(builder.icmp_unsigned("!=", main, n)):
            self._take(running, main, self._rest(main))
        return self._tree(builder.load(running))

    def _steps(self, running: Any, start: Any, stride: int) -> Any:
        """Take all whole steps of so many blocks; return where they end."""
        step = stride * self.lanes
        stop = self.builder.and_(self.length, ir.Constant(INDEX, -step))

        def take(position: Any) -> None:
            for offset in range(0, step, self.lanes):
                at = self.builder.add(position, ir.Constant(INDEX, offset))
                self._take(running, at, None)

        self._loop(start, stop, step, take)
        return stop

    def _take(self, running: Any, position: Any, mask: Any) -> None:
        block = self.block(position, mask)
        self.builder.store(self.combine(self.builder.load(running), block), running)

    def _loop(self, start: Any, stop: Any, step: int, body: Any) -> None:
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
            halves = [
                builder.shuffle_vector(
                    running,
                    running,
                    ir.Constant(ir.VectorType(FLAG, width), list(range(first, first + width))),
                )
                for first in (0, width)
            ]
            running = self.combine(*halves)
        return builder.extract_element(running, ir.Constant(FLAG, 0))


class Operand:
    """An array of a kernel, read by vectors."""

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
        place = self.builder.gep(self.data, [position])
        place = self.builder.bitcast(place, self.vector.as_pointer())
        if mask is None:
            return self.builder.load(place, align=self.bytes)
        return self._call(f"llvm.masked.load.{self.name}.p0", place, mask)

    def gather(self, columns: Any, mask: Any) -> Any:
        """Return the entries in these columns, 0 where the mask leaves them out."""
        builder, lanes = self.builder, self.vector.count
        wide = ir.VectorType(INDEX, lanes)
        offsets = builder.mul(builder.zext(columns, wide), ir.Constant(wide, [self.bytes] * lanes))
        base = spread(builder, builder.ptrtoint(self.data, INDEX), lanes)
        pointers = ir.VectorType(self.vector.element.as_pointer(), lanes)
        places = builder.inttoptr(builder.add(base, offsets), pointers)
        if mask is None:
            mask = ir.Constant(ir.VectorType(ir.IntType(1), lanes), [1] * lanes)
        return self._call(f"llvm.masked.gather.{self.name}.v{lanes}p0", places, mask)

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
