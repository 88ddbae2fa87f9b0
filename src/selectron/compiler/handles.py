"""A state that compiled code finds by one address.

Numba unboxes a state anew at every call: every tuple, number and array of it. A handle is the same
fields as words in a row, written once; a kernel that is given the handle reads the words. The
handle holds the state, so the arrays are there as long as it is.
"""

from typing import Any

import numpy as np
from numba import typeof, types
from numba.extending import (
    NativeValue,
    intrinsic,
    models,
    overload,
    register_model,
    typeof_impl,
    unbox,
)

from selectron.compiler.numba_internals import cgutils, populate_array
from selectron.compiler.raw_arrays import DATA
from selectron.compiler.verbs import INLINE


class Handle(np.ndarray[Any, Any]):
    """The words of a state whose arrays change in place; its numbers are those of then."""

    holds: Any


def handle(state: Any) -> Handle:
    words = np.array(_words(state), np.int64).view(Handle)
    words.holds = state
    return words


def held(handle: Handle) -> Any:
    """Return the state."""
    return handle.holds


def _words(field: Any) -> list[int]:
    if isinstance(field, tuple):
        return [word for part in field for word in _words(part)]
    if isinstance(field, np.ndarray):
        return [field.ctypes.data, *field.shape, *field.strides]
    return [int(np.float64(field).view(np.int64) if isinstance(field, float) else field)]


class HandleType(types.Type):  # type: ignore[misc]
    def __init__(self, state: Any) -> None:
        self.state = state
        super().__init__(f"handle of {state}")

    @property
    def key(self) -> Any:
        return self.state


register_model(HandleType)(models.OpaqueModel)


@typeof_impl.register(Handle)
def _type_of_handle(value: Handle, context: Any) -> HandleType:
    return HandleType(typeof(value.holds))


@unbox(HandleType)
def _unbox_handle(kind: Any, value: Any, c: Any) -> NativeValue:
    data = c.builder.gep(value, [cgutils.intp_t(DATA)])
    pointer = c.builder.bitcast(data, cgutils.voidptr_t.as_pointer())
    return NativeValue(c.builder.load(pointer))


@overload(held, strict=False, jit_options=INLINE)
def _compiled_held(handle: Any) -> Any:
    return lambda handle: _emit_held(handle)


@intrinsic
def _emit_held(typing_context: Any, handle: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _Words(context, builder, args[0]).rebuild(handle.state)

    return handle.state(handle), generate


class _Words:
    """Walk along the words, one field after the other."""

    def __init__(self, context: Any, builder: Any, start: Any) -> None:
        self.context = context
        self.builder = builder
        self.start = builder.bitcast(start, cgutils.intp_t.as_pointer())
        self.position = 0

    def rebuild(self, kind: Any) -> Any:
        if isinstance(kind, types.BaseTuple):
            return self.context.make_tuple(
                self.builder, kind, [self.rebuild(field) for field in kind.types]
            )
        return self._array(kind) if isinstance(kind, types.Array) else self._number(kind)

    def _array(self, kind: Any) -> Any:
        array = self.context.make_array(kind)(self.context, self.builder)
        data = self.builder.inttoptr(self._next(), array.data.type)
        shape = [self._next() for _ in range(kind.ndim)]
        strides = [self._next() for _ in range(kind.ndim)]
        size = self.context.get_abi_sizeof(self.context.get_data_type(kind.dtype))
        populate_array(array, data, shape, strides, size, None)
        return array._getvalue()

    def _number(self, kind: Any) -> Any:
        word = self._next()
        if kind is types.float64:
            return self.builder.bitcast(word, self.context.get_value_type(kind))
        return self.context.cast(self.builder, word, types.intp, kind)

    def _next(self) -> Any:
        place = self.builder.gep(self.start, [cgutils.intp_t(self.position)])
        self.position += 1
        return self.builder.load(place)
