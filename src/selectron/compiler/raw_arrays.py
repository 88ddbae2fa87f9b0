"""Arrays as Python hands them over, looked at from inside a kernel.

Numba unboxes an array by copying its fields, and does not look at its dtype. A `RawArray` stays
the pointer that it was. The kernel itself sees whether the pointer leads to an array that it can
read, so no Python code has to. NumPy's fields lie where its C header says, which is part of its
binary interface. The caller holds a reference, so the array lives while the kernel runs.
"""

from collections.abc import Callable
from struct import calcsize, pack
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import (
    NativeValue,
    lower_builtin,
    models,
    overload,
    register_model,
    type_callable,
    unbox,
)

from selectron.arrays import Array, DType, Vector
from selectron.compiler.emitting import Emission, Site, array_at, compiled_form_of
from selectron.compiler.numba_internals import BaseContext, Signature, UnboxContext, cgutils
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
def _unbox_raw_array(kind: RawArray, raw: ir.Value, c: UnboxContext) -> NativeValue:
    return NativeValue(raw)


class ArrayLayout(NamedTuple):
    """What an array must be so that a kernel can read it."""

    kind: int  # the address of its class: no subclass
    brand: int  # of its dtype: several dtypes may be equal
    like: Vector  # an empty array of this kind


def array_layout(dtype: DType) -> ArrayLayout:
    like = np.empty(0, dtype)
    like.flags.writeable = False
    return ArrayLayout(id(np.ndarray), brand(dtype), like)


def brand(dtype: DType) -> int:
    """Return the word in which NumPy keeps what tells one dtype from another."""
    return _as_word(f"{dtype.kind}{dtype.char}{dtype.byteorder}".encode(), dtype.num)


def _as_word(marks: bytes, number: int) -> int:
    return int(np.frombuffer(pack("=3sxi", marks, number), np.int64)[0])


TELLING = _as_word(b"\xff" * 3, -1)  # all of the word but its flags


def fits(raw: Array, layout: ArrayLayout) -> bool:
    """Tell whether an object is a plain vector of the right dtype, contiguous and aligned."""
    return bool(
        id(type(raw)) == layout.kind
        and brand(raw.dtype) == layout.brand
        and raw.ndim == 1
        and raw.flags.aligned
        and raw.flags.c_contiguous
    )


def vector(raw: Array, layout: ArrayLayout) -> Array:
    """Return a raw array that fits as the array that it is."""
    return raw


@overload(fits, strict=False, jit_options=INLINE)
def _compiled_fits(raw: RawArray, layout: types.BaseTuple) -> Callable[..., bool]:
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


# An inlined body may not return an array that it was not given, so `vector` is lowered directly.
@type_callable(vector)
def _type_of_vector(context: object) -> Callable[..., types.Array]:
    return lambda raw, layout: layout.types[-1]


@lower_builtin(vector, RawArray, types.BaseTuple)
def _emit_vector(
    context: BaseContext, builder: ir.IRBuilder, call: Signature, args: list[ir.Value]
) -> ir.Value:
    def pointer(offset: int) -> ir.Value:
        start = builder.gep(args[0], [cgutils.intp_t(offset)])
        return builder.load(builder.bitcast(start, cgutils.voidptr_t.as_pointer()))

    length = builder.load(builder.bitcast(pointer(SHAPE), cgutils.intp_t.as_pointer()))
    stride = cgutils.intp_t(call.return_type.dtype.bitwidth // 8)
    return array_at(Site(context, builder), call.return_type, pointer(DATA), [length], [stride])


def _address(raw: object) -> int:
    """Return the address of an object."""


def _word(place: int) -> int:
    """Return the word at an address."""


def _int(place: int) -> int:
    """Return the C int at an address."""


@compiled_form_of(_address)
def _emit_address(raw: RawArray) -> Emission:
    return types.intp, lambda site, place: site.builder.ptrtoint(place, cgutils.intp_t)


@compiled_form_of(_word)
def _emit_word(place: types.Integer) -> Emission:
    return _loaded(types.intp)


@compiled_form_of(_int)
def _emit_int(place: types.Integer) -> Emission:
    return _loaded(types.intc)


def _loaded(kind: types.Integer) -> Emission:
    def generate(site: Site, place: ir.Value) -> ir.Value:
        pointer = site.context.get_value_type(kind).as_pointer()
        return site.builder.load(site.builder.inttoptr(place, pointer))

    return kind, generate
