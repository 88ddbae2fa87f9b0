"""States: NamedTuples of arrays, numbers and other states, and their numbers in a vector.

The arrays of a state change in place. Its numbers cannot, and a fresh tuple from compiled code
costs a microsecond. So a kernel reads the numbers from a vector when it begins (`unpack`) and
writes them back when it ends (`pack`). The tuple that Python holds stays the same.
"""

from collections.abc import Callable
from threading import RLock
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
from llvmlite import ir
from numba import types

from selectron.arrays import Array, Vector
from selectron.compiler.emitting import Cursor, Emission, Site, compiled_form_of
from selectron.compiler.numba_internals import impl_ret_borrowed

State: TypeAlias = tuple[Any, ...]
Same = TypeVar("Same", bound=State)
Leaf: TypeAlias = Any  # an array or a number
Node: TypeAlias = State | Leaf
Change: TypeAlias = Callable[[Leaf], Leaf]


PIECE = 1 << 15  # numbers that are searched at once


class Snapshot(NamedTuple):
    """What a refused batch must not have changed."""

    arrays: list[Array]  # each whole, or flat and without the zeros at its end
    numbers: Vector


class States(Generic[Same]):
    """The states of a learner at work.

    The tuple holds the arrays, which change in place; its numbers are those of the beginning. The
    numbers as they are now stand in a vector.
    """

    def __init__(self, tree: Same) -> None:
        self.adopt(tree)
        self.busy = RLock()  # held while the states change other than within one loop

    def adopt(self, tree: Same) -> None:
        """Go on with this tuple and its numbers."""
        self.tree = tree
        found = nodes(tree)
        self.arrays = [node for node in found if isinstance(node, np.ndarray)]
        self.n_bytes = sum([array.nbytes for array in self.arrays])
        self.kinds = kinds_among(found)
        self.numbers = np.array(numbers_among(found))

    @property
    def now(self) -> Same:
        """The states with their numbers as they are now."""
        return unpack(self.tree, self.numbers)

    def snapshot(self) -> Snapshot:
        """Copy what a batch can change."""
        return Snapshot([array.copy() for array in self.arrays], self.numbers.copy())

    def restore(self, snapshot: Snapshot) -> None:
        """Put back what `snapshot` copied."""
        with self.busy:
            for now, before in zip(self.arrays, snapshot.arrays, strict=True):
                if before.shape == now.shape:
                    now[...] = before
                else:  # `used_part`
                    flat = now.reshape(-1)
                    flat[: len(before)] = before
                    flat[len(before) : _used(flat)] = 0
            self.numbers[:] = snapshot.numbers

    def __getstate__(self) -> tuple[Same, Vector]:
        return self.tree, self.numbers

    def __setstate__(self, pickled: tuple[Same, Vector]) -> None:
        """Take the states from a pickle; arrays mapped from a file are copied, to be changed."""
        tree, numbers = pickled
        self.__init__(own_arrays(tree))  # type: ignore[misc]
        self.numbers[:] = numbers


def used_part(array: Array) -> Array:
    """Return an array as a vector without the zeros at its end, whose room is free."""
    flat = array.reshape(-1)
    return flat[: _used(flat)]


def _used(array: Array) -> int:
    """Return where the zeros at the end of an array begin, in pieces from the end."""
    end = len(array)
    while end > 0:
        start = max(0, end - PIECE)
        found = np.flatnonzero(array[start:end])
        if len(found):
            return start + int(found[-1]) + 1
        end = start
    return 0


def nodes(state: State) -> list[Node]:
    """List a state and all within it, depth first: states, of other rules too, arrays, numbers."""
    found: list[Node] = []
    waiting: list[Node] = [state]
    while waiting:
        node = waiting.pop()
        found.append(node)
        if isinstance(node, tuple):
            waiting.extend(reversed(node))
    return found


def kinds_among(found: list[Node]) -> tuple[type, ...]:
    """List the types of the states among nodes, but for the first one, which holds them all."""
    return tuple([type(node) for node in found[1:] if isinstance(node, tuple)])


def numbers_among(found: list[Node]) -> list[float]:
    """List the numbers among nodes."""
    return [float(node) for node in found if not isinstance(node, tuple | np.ndarray)]


def number_fields(state: Any, place: str = "") -> list[tuple[str, type]]:
    """List the name and the type of every number of a state, depth first."""
    listed: list[tuple[str, type]] = []
    for name, field in zip(state._fields, state, strict=True):
        if isinstance(field, tuple):
            listed.extend(number_fields(field, f"{place}{name}."))
        elif not isinstance(field, np.ndarray):
            listed.append((f"{place}{name}", type(field)))
    return listed


def _changed(state: Same, array: Change, number: Change) -> Same:
    """Return a state with each array and each number changed, depth first."""
    fields = []
    for field in state:
        if isinstance(field, tuple):
            fields.append(_changed(field, array, number))
        else:
            fields.append(array(field) if isinstance(field, np.ndarray) else number(field))
    return type(state)(*fields)


def _unchanged(leaf: Leaf) -> Leaf:
    return leaf


def own_arrays(state: Same) -> Same:
    """Return the state with copies of its arrays; an array in two fields is copied once."""
    copies: dict[int, Array] = {}
    return _changed(state, lambda array: copies.setdefault(id(array), np.array(array)), _unchanged)


def carried(then: State, now: Same) -> Same:
    """Return the state of `then` in the larger arrays of `now`.

    Where the two are of different types, the state of `now` begins anew.
    """
    if type(then) is not type(now):
        return now
    fields = []
    for old, new in zip(then, now, strict=True):
        if isinstance(old, np.ndarray):
            new[tuple(slice(length) for length in old.shape)] = old
            fields.append(new)
        else:
            fields.append(carried(old, new) if isinstance(old, tuple) else old)
    return type(now)(*fields)


def unpack(state: Same, numbers: Vector) -> Same:
    """Return the state with its numbers read from the vector."""
    given = iter(numbers.tolist())
    return _changed(state, _unchanged, lambda number: type(number)(next(given)))


def pack(state: State, numbers: Vector) -> None:
    """Write the numbers of the state into the vector."""
    numbers[:] = numbers_among(nodes(state))


@compiled_form_of(unpack)
def _emit_unpack(state: types.BaseTuple, numbers: types.Array) -> Emission:
    def generate(site: Site, old: ir.Value, vector: ir.Value) -> ir.Value:
        slots = _slots(site, numbers, vector)

        def read(kind: types.Type, number: ir.Value) -> ir.Value:
            return site.context.cast(site.builder, slots.load(), types.float64, kind)

        return impl_ret_borrowed(*site, state, _each_number(site, state, old, read))

    return state, generate


@compiled_form_of(pack)
def _emit_pack(state: types.BaseTuple, numbers: types.Array) -> Emission:
    def generate(site: Site, value: ir.Value, vector: ir.Value) -> ir.Value:
        slots = _slots(site, numbers, vector)

        def write(kind: types.Type, number: ir.Value) -> ir.Value:
            slots.store(site.context.cast(site.builder, number, kind, types.float64))
            return number

        _each_number(site, state, value, write)
        return site.context.get_dummy_value()

    return types.void, generate


def _slots(site: Site, kind: types.Array, vector: ir.Value) -> Cursor:
    return Cursor(site, site.context.make_array(kind)(*site, vector).data)


def _each_number(
    site: Site, kind: types.BaseTuple, state: ir.Value, change: Callable[..., ir.Value]
) -> ir.Value:
    """Emit a state with each of its numbers changed, depth first."""
    for k, field in enumerate(kind.types):
        if not isinstance(field, types.Array):
            old = site.builder.extract_value(state, k)
            within = isinstance(field, types.BaseTuple)
            new = _each_number(site, field, old, change) if within else change(field, old)
            state = site.builder.insert_value(state, new, k)
    return state
