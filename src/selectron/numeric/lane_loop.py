"""The loop that goes through arrays by vectors, as code that a kernel is made of."""

from typing import Any

from llvmlite import ir
from numba.core import cgutils

from selectron.numeric.operands import FLAG, INDEX, Operand, spread


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
