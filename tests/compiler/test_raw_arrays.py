"""What compiled code sees of a Python object is what Python sees."""

import pickle
from struct import pack

import numpy as np
import pytest
from numba import config, njit, typeof

from selectron.compiler.handles import handle, held
from selectron.compiler.raw_arrays import RAW_ARRAY, array_layout, fits, vector

NUMBERS = np.arange(6.0)


class Own(np.ndarray):
    pass


THINGS = {
    "a vector": NUMBERS,
    "one that may not be written to": np.frombuffer(NUMBERS.tobytes()),
    "one with a dtype of its own": pickle.loads(pickle.dumps(NUMBERS)),
    "one with metadata": NUMBERS.astype(np.dtype(float, metadata={"unit": "m"})),
    "a part": NUMBERS[2:5],
    "every second entry": NUMBERS[::2],
    "backwards": NUMBERS[::-1],
    "one of every fourth": NUMBERS[:4:4],
    "none": NUMBERS[:0],
    "a column": np.asfortranarray(NUMBERS.reshape(2, 3))[:, 1],
    "a row of columns": np.asfortranarray(NUMBERS.reshape(2, 3))[1],
    "spread out": np.broadcast_to(np.float64(1.0), 6),
    "a table": NUMBERS.reshape(1, 6),
    "a table of columns": np.asfortranarray(NUMBERS.reshape(2, 3)),
    "no dimension": np.array(1.0),
    "not aligned": np.frombuffer(pack("=b6d", 1, *NUMBERS), np.uint8)[1:].view(float),
    "other byte order": NUMBERS.astype(np.dtype(float).newbyteorder()),
    "a subclass": NUMBERS.view(Own),
    "a matrix": np.ones(6).view(np.matrix),
    "a record": np.zeros(6, [("x", float)]),
    "a NumPy number": np.float64(1.0),
    "a list": [1.0, 2.0],
    "nothing": None,
    "a number": 3,
    "text": "row",
    "a class": np.ndarray,
} | {f"{name} numbers": np.ones(6, name) for name in ("f2", "f4", "i4", "i8", "u8", "c8", "M8[s]")}
ASKED_FOR = [np.dtype(name) for name in ("f4", "f8", "i4")]

jit = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="the twins are compiled")


@njit(_nrt=False)
def look(handle, thing):
    return fits(thing, held(handle))


@njit(_nrt=False)
def total(handle, thing):
    entries = vector(thing, held(handle))
    found = 0.0
    for k in range(len(entries)):
        found = 2.0 * found + entries[k]
    return found


def entry(kernel, wanted):
    kinds = typeof(wanted), RAW_ARRAY
    kernel.compile(kinds)
    return kernel.overloads[kinds].entry_point


@jit
@pytest.mark.parametrize("dtype", ASKED_FOR, ids=str)
def test_the_kernel_sees_what_python_sees(dtype):
    wanted = handle(array_layout(dtype))
    sees = entry(look, wanted)
    seen = {name: sees(wanted, thing) for name, thing in THINGS.items()}
    assert seen == {name: fits(thing, array_layout(dtype)) for name, thing in THINGS.items()}
    assert any(seen.values())


def test_what_fits():
    plain = array_layout(np.dtype(float))
    found = [name for name, thing in THINGS.items() if fits(thing, plain)]
    assert found == [
        "a vector",
        "one that may not be written to",
        "one with a dtype of its own",
        "one with metadata",
        "a part",
        "one of every fourth",
        "none",
        "a column",
    ]


@jit
@pytest.mark.parametrize("dtype", ASKED_FOR, ids=str)
def test_a_vector_is_read_where_it_lies(dtype):
    wanted = handle(array_layout(dtype))
    reads = entry(total, wanted)
    numbers = np.random.default_rng(0).integers(-9, 9, 50).astype(dtype)
    for x in (numbers, numbers[7:20], numbers[:1], numbers[:0], numbers[40:]):
        assert reads(wanted, x) == sum(2.0 ** (len(x) - 1 - k) * float(v) for k, v in enumerate(x))
