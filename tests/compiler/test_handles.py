"""A handle stands for its state, and keeps it."""

import gc
import weakref
from typing import NamedTuple

import numpy as np
import pytest
from numba import config, njit, typeof

from selectron.compiler.handles import handle, held


class Inner(NamedTuple):
    count: int
    table: np.ndarray
    flag: bool


class State(NamedTuple):
    rate: float
    inner: Inner
    vector: np.ndarray
    last: float


def state():
    table = np.arange(6, dtype=np.int32).reshape(2, 3)
    return State(-0.1, Inner(-7, table, True), np.arange(4, dtype=np.float32), 1e300)


@njit(_nrt=False)
def report(handle, told):
    rate, inner, vector, last = held(handle)
    told[0], told[1], told[2], told[3] = rate, inner.count, inner.flag, last
    told[4], told[5], told[6] = inner.table.shape[0], inner.table.shape[1], len(vector)
    told[7], told[8], told[9] = inner.table[1, 0], vector[3], vector.strides[0]
    vector[0] = 5.0
    inner.table[1, 2] = 9
    return 0.0


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="there is nothing to unbox")
def test_compiled_code_finds_every_field():
    held_state = state()
    found, told = handle(held_state), np.zeros(10)
    kinds = typeof(found), typeof(told)
    report.compile(kinds)
    report.overloads[kinds].entry_point(found, told)
    assert told.tolist() == [-0.1, -7.0, 1.0, 1e300, 2.0, 3.0, 4.0, 3.0, 3.0, 4.0]
    assert (held_state.vector[0], held_state.inner.table[1, 2]) == (5.0, 9)


def test_plain_python_finds_the_state():
    held_state = state()
    assert held(handle(held_state)) is held_state


def test_the_arrays_live_as_long_as_the_handle():
    held_state = state()
    lives = weakref.ref(held_state.vector)
    found = handle(held_state)
    del held_state
    gc.collect()
    assert lives() is not None
    del found
    gc.collect()
    assert lives() is None


def test_types_tell_states_apart():
    class Other(NamedTuple):
        x: float

    kinds = [typeof(handle(s)) for s in (state(), state(), Inner(1, np.zeros(2), True), Other(1.0))]
    assert kinds[0] == kinds[1]
    assert len(set(kinds)) == 3
