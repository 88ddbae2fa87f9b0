"""Ask the memory for rows before a kernel needs them.

A kernel reads each row once, in order. Many a CPU's own prefetcher stops at the end of a page of
memory and falls behind short rows. There, a hint about the entries to come makes a pass as fast as
reading. Other CPUs follow dense rows by themselves, and hints slow them down. A hint computes
nothing and may point past the end of an array.
"""

from llvmlite import ir

from selectron.compiler.numba_internals import BaseContext, cgutils

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
