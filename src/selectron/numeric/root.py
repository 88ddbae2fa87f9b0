"""A square root without side effects.

Numba calls the C library's sqrt, which may set errno: the compiler then computes it in every round,
also where nobody looks at it. The instruction itself is exact on every IEEE machine.
"""

from math import sqrt
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload

from selectron.dispatch import INLINE


def root(x: float) -> float:
    """Return √x for x >= 0."""
    return sqrt(x)


@overload(root, strict=False, jit_options=INLINE)
def _compiled_root(x: Any) -> Any:
    return lambda x: _emit_root(x)


@intrinsic
def _emit_root(typing_context: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wide = context.cast(builder, args[0], x, types.float64)
        instruction = builder.module.declare_intrinsic("llvm.sqrt", [ir.DoubleType()])
        return builder.call(instruction, [wide])

    return types.float64(x), generate
