"""`state._replace(n=...)` in compiled code, as in plain Python.

Numba knows the fields of a NamedTuple but not this method. Here a new value takes the type of the
field that it replaces, so that a state never changes its type.
"""

from inspect import Parameter
from inspect import Signature as PythonSignature

from llvmlite import ir
from numba import types
from numba.extending import lower_builtin

from selectron.compiler.numba_internals import (
    AbstractTemplate,
    AttributeTemplate,
    BaseContext,
    Signature,
    impl_ret_borrowed,
    infer_getattr,
    signature,
)

NAME = "NamedTuple._replace"
KEPT = types.Omitted(None)


class Replacement(AbstractTemplate):  # type: ignore[misc]
    """Type the call: a field is given by its name, or kept."""

    key = NAME

    def generic(self, args: tuple[types.Type, ...], kws: dict[str, types.Type]) -> Signature | None:
        state = self.this
        if args or not set(kws) <= set(state.fields):
            return None
        fields = zip(state.fields, state.types, strict=True)
        kinds = [kind if name in kws else KEPT for name, kind in fields]
        parameters = [
            Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=None) for name in state.fields
        ]
        call = signature(state, *kinds, recvr=state)
        return call.replace(pysig=PythonSignature(parameters))


@infer_getattr
class _Replaceable(AttributeTemplate):  # type: ignore[misc]
    key = types.BaseNamedTuple

    def resolve__replace(self, state: types.BaseNamedTuple) -> types.BoundFunction:
        return types.BoundFunction(Replacement, state)


@lower_builtin(NAME, types.BaseNamedTuple, types.VarArg(types.Any))
def _replaced(
    context: BaseContext, builder: ir.IRBuilder, call: Signature, args: list[ir.Value]
) -> ir.Value:
    state, *values = args
    for k, (kind, value) in enumerate(zip(call.args[1:], values, strict=True)):
        if kind != KEPT:
            state = builder.insert_value(state, value, k)
    return impl_ret_borrowed(context, builder, call.return_type, state)
