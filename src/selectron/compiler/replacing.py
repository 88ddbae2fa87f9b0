"""`state._replace(n=...)` in compiled code, as in plain Python.

Numba knows the fields of a NamedTuple but not this method. A new value takes the type of the field
it replaces, so that a state never changes its type.
"""

from inspect import Parameter, Signature
from typing import Any

from numba import types
from numba.extending import lower_builtin

from selectron.compiler.numba_internals import (
    AbstractTemplate,
    AttributeTemplate,
    impl_ret_borrowed,
    infer_getattr,
    signature,
)

NAME = "NamedTuple._replace"
KEPT = types.Omitted(None)


class Replacement(AbstractTemplate):  # type: ignore[misc]
    """The call: every field may be given, by its name."""

    key = NAME

    def generic(self, args: Any, kws: dict[str, Any]) -> Any:
        state = self.this
        if args or not set(kws) <= set(state.fields):
            return None
        fields = zip(state.fields, state.types, strict=True)
        kinds = [kind if name in kws else KEPT for name, kind in fields]
        parameters = [
            Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=None) for name in state.fields
        ]
        call = signature(state, *kinds, recvr=state)
        return call.replace(pysig=Signature(parameters))


class _Replaceable(AttributeTemplate):  # type: ignore[misc]
    def resolve__replace(self, state: Any) -> Any:
        return types.BoundFunction(Replacement, state)


@infer_getattr
class _OfSeveralTypes(_Replaceable):
    key = types.NamedTuple


@infer_getattr
class _OfOneType(_Replaceable):
    key = types.NamedUniTuple


@lower_builtin(NAME, types.NamedTuple, types.VarArg(types.Any))
@lower_builtin(NAME, types.NamedUniTuple, types.VarArg(types.Any))
def _replaced(context: Any, builder: Any, call: Any, args: Any) -> Any:
    state, *values = args
    for k, (kind, value) in enumerate(zip(call.args[1:], values, strict=True)):
        if kind != KEPT:
            state = builder.insert_value(state, value, k)
    return impl_ret_borrowed(context, builder, call.return_type, state)
