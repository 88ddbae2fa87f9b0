"""States: NamedTuples of arrays, numbers and other states, and their numbers in a vector.

Arrays of a state change in place; its numbers do not, and handing a fresh tuple back from compiled
code costs a microsecond. So a kernel reads the numbers from a vector when it begins (`unpack`) and
writes them there when it ends (`pack`): the tuple that Python holds never moves.
"""

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from selectron.arrays import Vector
from selectron.compiler.numba_internals import impl_ret_borrowed
from selectron.compiler.verbs import INLINE


def numbers_of(state: NamedTuple) -> list[float]:
    """List the numbers of a state, depth first."""
    listed: list[float] = []
    for field in state:
        if isinstance(field, tuple):
            listed.extend(numbers_of(field))  # type: ignore[arg-type]
        elif not isinstance(field, np.ndarray):
            listed.append(float(field))
    return listed


def arrays_of(state: Any) -> list[NDArray[Any]]:
    """List the arrays of a state, depth first."""
    listed: list[NDArray[Any]] = []
    for field in state:
        if isinstance(field, tuple):
            listed.extend(arrays_of(field))
        elif isinstance(field, np.ndarray):
            listed.append(field)
    return listed


def kinds_of(state: Any) -> list[type]:
    """List the type of a state and of the states within it: a rule may hold another."""
    within = [kind for field in state if isinstance(field, tuple) for kind in kinds_of(field)]
    return [type(state), *within]


def own_arrays(state: Any) -> Any:
    """Return the state with arrays of its own; an array that stands in two fields still does."""
    return _copied(state, {})


def _copied(state: Any, copies: dict[int, NDArray[Any]]) -> Any:
    fields = []
    for field in state:
        if isinstance(field, tuple):
            field = _copied(field, copies)
        elif isinstance(field, np.ndarray):
            field = copies.setdefault(id(field), np.array(field))
        fields.append(field)
    return type(state)(*fields)


def carried(then: Any, now: Any) -> Any:
    """Return a state in the larger arrays of `now`; another kind of state begins anew."""
    if type(then) is not type(now):
        return now
    fields = []
    for old, new in zip(then, now, strict=True):
        if isinstance(old, tuple):
            fields.append(carried(old, new))
        elif isinstance(old, np.ndarray):
            new[tuple(slice(length) for length in old.shape)] = old
            fields.append(new)
        else:
            fields.append(old)
    return type(now)(*fields)


def unpack(state: Any, numbers: Vector) -> Any:
    """Return the state with its numbers read from the vector."""
    return _rebuild(state, iter(numbers.tolist()))


def pack(state: Any, numbers: Vector) -> None:
    """Write the numbers of the state into the vector."""
    numbers[:] = numbers_of(state)


def _rebuild(state: Any, numbers: Any) -> Any:
    fields = []
    for field in state:
        if isinstance(field, tuple):
            fields.append(_rebuild(field, numbers))
        elif isinstance(field, np.ndarray):
            fields.append(field)
        else:
            fields.append(type(field)(next(numbers)))
    return type(state)(*fields)


@overload(unpack, strict=False, jit_options=INLINE)
def _compiled_unpack(state: Any, numbers: Any) -> Any:
    return lambda state, numbers: _emit_unpack(state, numbers)


@overload(pack, strict=False, jit_options=INLINE)
def _compiled_pack(state: Any, numbers: Any) -> Any:
    return lambda state, numbers: _emit_pack(state, numbers)


@intrinsic
def _emit_unpack(typing_context: Any, state: Any, numbers: types.Array) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        slots = _Slots(context, builder, numbers, args[1])

        def rebuild(kind: Any, value: Any) -> Any:
            for k, field in enumerate(kind.types):
                old = builder.extract_value(value, k)
                if isinstance(field, types.BaseTuple):
                    new = rebuild(field, old)
                elif isinstance(field, types.Array):
                    new = old
                else:
                    new = context.cast(builder, slots.load(), types.float64, field)
                value = builder.insert_value(value, new, k)
            return value

        return impl_ret_borrowed(context, builder, state, rebuild(state, args[0]))

    return state(state, numbers), generate


@intrinsic
def _emit_pack(typing_context: Any, state: Any, numbers: types.Array) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        slots = _Slots(context, builder, numbers, args[1])

        def store(kind: Any, value: Any) -> None:
            for k, field in enumerate(kind.types):
                item = builder.extract_value(value, k)
                if isinstance(field, types.BaseTuple):
                    store(field, item)
                elif not isinstance(field, types.Array):
                    slots.store(context.cast(builder, item, field, types.float64))

        store(state, args[0])
        return context.get_dummy_value()

    return types.void(state, numbers), generate


class _Slots:
    """Walk along the vector, one number after the other."""

    def __init__(self, context: Any, builder: Any, kind: Any, value: Any) -> None:
        self.builder = builder
        self.data = context.make_array(kind)(context, builder, value).data
        self.position = 0

    def _next(self) -> Any:
        pointer = self.builder.gep(self.data, [ir.Constant(ir.IntType(64), self.position)])
        self.position += 1
        return pointer

    def load(self) -> Any:
        return self.builder.load(self._next())

    def store(self, value: Any) -> None:
        self.builder.store(value, self._next())
