"""Call rows from memory before they are needed.

The loop reads each row once, in order. Many a CPU's own prefetcher stops at the end of a page of
memory and falls behind short rows; a hint about the entries to come makes a pass as fast as
reading. Others follow dense rows by themselves, and hints are only in their way. A hint computes
nothing and may point past the end of an array.
"""

from typing import Any

from llvmlite import ir

from selectron.compiler.numba_internals import cgutils

DISTANCE = 1024  # entries: four to eight kilobytes
ROWS_BEHIND = 4
CACHE_LINE = 64  # bytes

# Where a hint brings a line to. Few lines can be on their way to level 1 at a time: those from
# memory are better called to level 2, which is near enough.
LEVEL_1, LEVEL_2 = 3, 2

_READ, _DATA = 0, 1

ZEN = "znver"  # as LLVM names AMD's


def is_zen(context: Any) -> bool:
    """Tell whether code is made for AMD's Zen.

    It reads dense rows at full speed on its own (on Zen 4, hints make that 0.7 times as fast), and
    gathers slowly. Numba keeps kernels by the name of the CPU: one made for another is not used.
    """
    _, cpu, _ = context.codegen().magic_tuple()
    return bool(cpu.startswith(ZEN))


def emit_hint(builder: Any, data: Any, position: Any) -> None:
    """Emit the hint that what lies DISTANCE entries behind this one will be read soon."""
    far = builder.add(position, ir.Constant(position.type, DISTANCE))
    emit_hint_at(builder, builder.gep(data, [far]), LEVEL_2)


def emit_hints_behind(builder: Any, row: Any, position: Any) -> None:
    """Emit hints about the same share of the next rows as this block is of its own.

    For long work on one row: memory would be idle meanwhile, and no CPU foresees that it is soon
    to be read again.
    """
    step = CACHE_LINE // row.bytes
    share = builder.mul(position, ir.Constant(position.type, ROWS_BEHIND))
    start = builder.add(row.length, share)
    for k in range(0, ROWS_BEHIND * row.vector.count, step):
        place = builder.gep(row.data, [builder.add(start, ir.Constant(position.type, k))])
        emit_hint_at(builder, place, LEVEL_2)


def emit_hint_at(builder: Any, place: Any, level: int) -> None:
    """Emit the hint that this place of memory will be read soon, and shall be in this cache."""
    flag, place = ir.IntType(32), builder.bitcast(place, cgutils.voidptr_t)
    kind = ir.FunctionType(ir.VoidType(), [place.type, flag, flag, flag])
    hint = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    builder.call(hint, [place, *(ir.Constant(flag, n) for n in (_READ, level, _DATA))])
