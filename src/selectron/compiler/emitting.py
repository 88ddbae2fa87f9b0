"""Plain functions whose compiled form is written in LLVM's own terms.

Numba compiles most bodies from their Python code. Some functions need instructions that Python has
no words for: vectors, hints to the memory, the words of a state. Such a function has a plain body
for Python, and `compiled_form_of` gives it a second one that emits LLVM code into the kernel.
"""

from collections.abc import Callable
from inspect import signature
from typing import NamedTuple, TypeAlias

from llvmlite import ir
from numba import types
from numba.extending import lower_builtin, type_callable

from selectron.compiler.numba_internals import BaseContext, Signature, cgutils, populate_array


class Site(NamedTuple):
    """The place in a kernel where code is emitted."""

    context: BaseContext
    builder: ir.IRBuilder


Emission: TypeAlias = tuple[types.Type, Callable[..., ir.Value]]  # the result's type; its code
Emit: TypeAlias = Callable[..., Emission]


def compiled_form_of(plain: Callable[..., object]) -> Callable[[Emit], Emit]:
    """Register what emits the code of a plain function.

    It is given the types of the arguments. It returns the type of the result, and a function that
    emits the code at a site from the values of the arguments.
    """

    def register(emit: Emit) -> Emit:
        @type_callable(plain)
        def choose_type(context: object) -> Callable[..., types.Type]:
            def result_of(*kinds: types.Type) -> types.Type:
                return emit(*kinds)[0]

            result_of.__signature__ = signature(emit)  # type: ignore[attr-defined]
            return result_of

        @lower_builtin(plain, types.VarArg(types.Any))
        def generate(
            context: BaseContext, builder: ir.IRBuilder, call: Signature, values: list[ir.Value]
        ) -> ir.Value:
            return emit(*call.args)[1](Site(context, builder), *values)

        return emit

    return register


def array_at(
    site: Site, kind: types.Array, data: ir.Value, shape: list[ir.Value], strides: list[ir.Value]
) -> ir.Value:
    """Emit an array whose entries lie at an address; the array does not own them."""
    array = site.context.make_array(kind)(*site)
    size = site.context.get_abi_sizeof(site.context.get_data_type(kind.dtype))
    data = site.builder.bitcast(data, array.data.type)
    populate_array(array, data, shape, strides, size, None)
    return array._getvalue()


class Cursor:
    """Step through numbers that lie one behind the other in memory."""

    def __init__(self, site: Site, start: ir.Value) -> None:
        self.builder = site.builder
        self.start = start
        self.position = 0

    def load(self) -> ir.Value:
        return self.builder.load(self._next())

    def store(self, value: ir.Value) -> None:
        self.builder.store(value, self._next())

    def _next(self) -> ir.Value:
        place = self.builder.gep(self.start, [cgutils.intp_t(self.position)])
        self.position += 1
        return place
