"""`_replace` of a state gives the same in compiled code and in plain Python."""

from typing import NamedTuple

import numpy as np
import pytest
from numba import TypingError, njit

from selectron.compiler.states import nodes, numbers_among, pack
from selectron.compiler.verbs import KERNEL, helper


class Inner(NamedTuple):
    length: float


class State(NamedTuple):
    weights: np.ndarray
    inner: Inner
    norm: float
    n_updates: int
    late: bool


STATE = State(np.arange(3.0), Inner(2.0), 0.5, 7, False)
OPTIONS = KERNEL | {"cache": False}


@helper
def advanced(state, n):
    """Give whole numbers to a float: in a loop a state must not change its type."""
    inner = state.inner._replace(length=state.n_updates)
    return state._replace(inner=inner, n_updates=state.n_updates + n, late=n > 1)


@njit(**OPTIONS)
def move(state, n, numbers):
    for _ in range(2):
        state = advanced(state, n)
        state.weights[0] += 1.0
    pack(state, numbers)


@njit(**OPTIONS)
def misspelt(state, numbers):
    pack(state._replace(weight=1.0), numbers)


@pytest.mark.parametrize("n", [3, True])
def test_what_is_replaced_and_what_is_kept(n):
    before, numbers = STATE.weights[0], np.zeros(4)
    move(STATE, n, numbers)
    after = STATE._replace(inner=Inner(7.0 + n), n_updates=7 + 2 * n, late=n > 1)
    assert numbers.tolist() == numbers_among(nodes(after))
    assert STATE.weights[0] == before + 2.0


def test_an_unknown_field_is_refused():
    with pytest.raises((TypingError, ValueError, TypeError), match="weight"):
        misspelt(STATE, np.zeros(4))
