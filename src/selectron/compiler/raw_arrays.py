"""Arrays as Python hands them over, looked at from inside a kernel.

Numba unboxes an array by copying its fields, and does not look at its dtype. A `RawArray` stays
the pointer it was: the kernel itself sees whether it is an array that it can read, and no Python
code has to. NumPy's fields lie where its C header says, which is part of its binary interface. The
reference that a caller holds keeps the array alive while the kernel runs.
"""

from struct import calcsize, pack
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import (
    NativeValue,
    intrinsic,
    lower_builtin,
    models,
    overload,
    register_model,
    type_callable,
    unbox,
)

from selectron.arrays import Vector
from selectron.compiler.numba_internals import cgutils, populate_array
from selectron.compiler.verbs import INLINE

WORD = calcsize("P")
HEADER = object.__basicsize__  # ends with the pointer to the class
CLASS = HEADER - WORD
DATA, NDIM, SHAPE, STRIDES, DTYPE = (HEADER + k * WORD for k in (0, 1, 2, 3, 5))
BRAND = HEADER + WORD  # in a dtype: its kind, character and byte order, some flags, its number


class RawArray(types.Type):  # type: ignore[misc]
    """A Python object, by its address: an array if it `fits`."""


RAW_ARRAY = RawArray("raw array")
register_model(RawArray)(models.OpaqueModel)


@unbox(RawArray)
def _unbox_raw_array(kind: Any, raw: Any, c: Any) -> NativeValue:
    return NativeValue(raw)


class ArrayLayout(NamedTuple):
    """What an array must be to be read."""

    kind: int  # the address of its class: no subclass
    brand: int  # of its dtype: there may be several that are equal
    like: Vector  # an empty one


def array_layout(dtype: Any) -> ArrayLayout:
    like = np.empty(0, dtype)
    like.flags.writeable = False
    return ArrayLayout(id(np.ndarray), brand(dtype), like)


def brand(dtype: Any) -> int:
    """Return the word in which NumPy keeps what tells one dtype from another."""
    return _as_word(f"{dtype.kind}{dtype.char}{dtype.byteorder}".encode(), dtype.num)


def _as_word(marks: bytes, number: int) -> int:
    return int(np.frombuffer(pack("=3sxi", marks, number), np.int64)[0])


TELLING = _as_word(b"\xff" * 3, -1)  # all of the word but its flags


def fits(raw: Any, layout: ArrayLayout) -> bool:
    """Tell whether it is a plain vector of the right dtype, contiguous and aligned."""
    return bool(
        id(type(raw)) == layout.kind
        and brand(raw.dtype) == layout.brand
        and raw.ndim == 1
        and raw.flags.aligned
        and raw.flags.c_contiguous
    )


def vector(raw: Any, layout: ArrayLayout) -> Any:
    """Return a raw array that fits as the array that it is."""
    return raw


@overload(fits, strict=False, jit_options=INLINE)
def _compiled_fits(raw: Any, layout: Any) -> Any:
    size = layout.types[-1].dtype.bitwidth // 8

    def look(raw, layout):  # type: ignore[no-untyped-def]
        place = _address(raw)
        if _word(place + CLASS) != layout.kind:
            return False
        if _word(_word(place + DTYPE) + BRAND) & TELLING != layout.brand:
            return False
        if _int(place + NDIM) != 1 or _word(place + DATA) % size != 0:
            return False
        return _word(_word(place + STRIDES)) == size or _word(_word(place + SHAPE)) < 2

    return look


@type_callable(vector)
def _type_of_vector(context: Any) -> Any:
    return lambda raw, layout: layout.types[-1]


@lower_builtin(vector, RawArray, types.BaseTuple)
def _compiled_vector(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    def pointer(place: Any, offset: int) -> Any:
        start = builder.gep(place, [cgutils.intp_t(offset)])
        return builder.load(builder.bitcast(start, cgutils.voidptr_t.as_pointer()))

    kind = signature.return_type
    array = context.make_array(kind)(context, builder)
    data = builder.bitcast(pointer(args[0], DATA), array.data.type)
    shape = builder.bitcast(pointer(args[0], SHAPE), cgutils.intp_t.as_pointer())
    size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    populate_array(array, data, [builder.load(shape)], [cgutils.intp_t(size)], size, None)
    return array._getvalue()


@intrinsic
def _address(typing_context: Any, raw: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ptrtoint(args[0], cgutils.intp_t)

    return types.intp(raw), generate


@intrinsic
def _word(typing_context: Any, place: Any) -> Any:
    return types.intp(types.intp), _load


@intrinsic
def _int(typing_context: Any, place: Any) -> Any:
    return types.intc(types.intp), _load


def _load(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    pointer = context.get_value_type(signature.return_type).as_pointer()
    return builder.load(builder.inttoptr(args[0], pointer))
