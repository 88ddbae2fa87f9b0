"""A state that compiled code finds by one address.

Numba unboxes a state anew at every call: each tuple, number and array of it. A handle has the same
fields as words in a row, which Python writes once. A kernel that is given the handle reads the
words. The handle keeps the state alive, and with it the arrays that the words point to.
"""

import numpy as np
from llvmlite import ir
from numba import typeof, types
from numba.extending import NativeValue, models, register_model, typeof_impl, unbox

from selectron.compiler.emitting import Cursor, Emission, Site, array_at, compiled_form_of
from selectron.compiler.numba_internals import UnboxContext, cgutils
from selectron.compiler.raw_arrays import DATA
from selectron.compiler.states import Leaf, State, nodes


class Handle(np.ndarray[tuple[int], np.dtype[np.int64]]):
    """The words of a state.

    Arrays of the state change in place, so a kernel sees them as they are. The numbers among the
    words stay as they were when the handle was made.
    """

    holds: State


def handle(state: State) -> Handle:
    """Return the handle of a state."""
    leaves = [node for node in nodes(state) if not isinstance(node, tuple)]
    words = np.array([word for leaf in leaves for word in _words(leaf)], np.int64)
    made = words.view(Handle)
    made.holds = state
    return made


def held(handle: Handle) -> State:
    """Return the state of a handle."""
    return handle.holds


def _words(leaf: Leaf) -> list[int]:
    """Return the words of an array (address, shape and strides) or of a number (its bits)."""
    if isinstance(leaf, np.ndarray):
        return [leaf.ctypes.data, *leaf.shape, *leaf.strides]
    return [int(np.float64(leaf).view(np.int64) if isinstance(leaf, float) else leaf)]


class HandleType(types.Type):  # type: ignore[misc]
    """The type of a handle, which tells the type of its state."""

    def __init__(self, state: types.BaseTuple) -> None:
        self.state = state
        super().__init__(f"handle of {state}")

    @property
    def key(self) -> types.BaseTuple:
        return self.state


register_model(HandleType)(models.OpaqueModel)


@typeof_impl.register(Handle)
def _type_of_handle(value: Handle, context: object) -> HandleType:
    return HandleType(typeof(value.holds))


@unbox(HandleType)
def _unbox_handle(kind: HandleType, value: ir.Value, c: UnboxContext) -> NativeValue:
    data = c.builder.gep(value, [cgutils.intp_t(DATA)])
    pointer = c.builder.bitcast(data, cgutils.voidptr_t.as_pointer())
    return NativeValue(c.builder.load(pointer))


@compiled_form_of(held)
def _emit_held(handle: HandleType) -> Emission:
    def generate(site: Site, start: ir.Value) -> ir.Value:
        words = Cursor(site, site.builder.bitcast(start, cgutils.intp_t.as_pointer()))
        return _rebuilt(site, words, handle.state)

    return handle.state, generate


def _rebuilt(site: Site, words: Cursor, kind: types.Type) -> ir.Value:
    """Emit a field of this type from the next words."""
    context, builder = site
    if isinstance(kind, types.BaseTuple):
        fields = [_rebuilt(site, words, field) for field in kind.types]
        return context.make_tuple(builder, kind, fields)
    word = words.load()
    if isinstance(kind, types.Array):
        shape, strides = ([words.load() for _ in range(kind.ndim)] for _ in range(2))
        return array_at(site, kind, builder.inttoptr(word, cgutils.voidptr_t), shape, strides)
    if kind is types.float64:
        return builder.bitcast(word, context.get_value_type(kind))
    return context.cast(builder, word, types.intp, kind)
